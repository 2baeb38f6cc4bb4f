#pragma once

#include "jitgemm/error.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The words for values, each in the order of its enumeration.
inline constexpr std::array<std::string_view, 4> kLayoutNames{"tn", "nn", "nt", "tt"};
inline constexpr std::array<std::string_view, 2> kOrderNames{"t", "n"};
inline constexpr std::array<std::string_view, 6> kMathNames{"ieee", "f16x3", "bf16x3", "tf32", "bf16x6", "tf32x3"};
inline constexpr std::array<std::string_view, 4> kPreparedNames{"none", "a", "b", "ab"};

/// A field of GemmSpec, with everything that its text, JSON, hash, options and checks need. This table is the only list
/// of the fields.
struct GemmSpecField {
    std::string_view key;     ///< in the text form: "align-a"
    std::string_view option;  ///< of the command line, and with underscores in JSON: "a-type", "lda"
    std::string_view help;    ///< of the option
    int format;               ///< first format of the text that has it, from 1 on
    std::string (*print)(const GemmSpec&);
    /// Takes names in capitals and other libraries' words for types. Throws WordError for any other word.
    void (*read)(GemmSpec&, std::string_view word);
    std::int64_t (*value)(const GemmSpec&);  ///< a number that differs where the field does
    bool (*is_known)(
        const GemmSpec&);  ///< whether an enumeration has a value of this number; null if every number is valid
    bool is_number;        ///< whether JSON holds a number; else it holds text
    bool is_of_c;          ///< whether the field only means something with C; without C it is null in JSON
};

/// An error about one word, without its place in the text. A caller that knows the place adds it.
class WordError : public Error {
public:
    using Error::Error;
};

/// The fields in the order of the text form: first all of format 1, then those of later formats.
[[nodiscard]] std::span<const GemmSpecField> gemm_spec_fields();
/// Reads a word of a text into the field. `name` is the field's name in messages: "lda is '5x': expected a whole
/// number".
void read_field(GemmSpec& spec, const GemmSpecField& field, std::string_view name, std::string_view word);
/// Whether the field has its default value.
[[nodiscard]] bool is_usual(const GemmSpecField& field, const GemmSpec& spec);
/// The fields of later formats that differ from their defaults, each after a space: " constant-b=yes broadcast-c=yes".
[[nodiscard]] std::string later_formats_text(const GemmSpec& spec);
/// The least format whose fields say all of the spec.
[[nodiscard]] int format_of(const GemmSpec& spec);
/// Whether a key gives the layout of an epilogue's operand, as "ld-up", "align-up" and "batch-stride-up" do.
[[nodiscard]] bool is_layout_key(std::string_view key);
/// Reads a word of that key. The spec has its epilogue.
void read_layout(GemmSpec& spec, std::string_view key, std::string_view word);
/// A field of earlier versions that no kernel served. Texts of earlier formats may still name it with its neutral word.
struct FormerField {
    std::string_view key;
    std::string_view neutral;
    std::string_view other_neutral;
    int before_format;  ///< from this format on, the key has a meaning
};
[[nodiscard]] std::span<const FormerField> former_fields();
/// False if the key is not one of these. Throws WordError for a word other than the neutral one.
bool read_former_field(std::string_view key, std::string_view word, int format);

}  // namespace jitgemm
