#pragma once

#include "jitgemm/error.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A field of GemmSpec: all that its text, JSON, hash, options and checks need. The table of them is the only list of
/// fields there is.
struct GemmSpecField {
    std::string_view key;     ///< in the text form: "align-a"
    std::string_view option;  ///< of the command line, and with underscores in JSON: "a-type", "lda"
    std::string_view help;    ///< of the option
    int format;               ///< first format of the text that has it: 1 or 2
    std::string (*print)(const GemmSpec&);
    /// Takes names in capitals and other libraries' words for types. Throws WordError for a word that is no value of
    /// it.
    void (*read)(GemmSpec&, std::string_view word);
    std::int64_t (*value)(const GemmSpec&);  ///< a number that differs where the field does
    bool (*is_known)(const GemmSpec&);       ///< whether an enumeration has that number; null where any number goes
    bool is_number;                          ///< in JSON; else its text
    bool is_of_c;                            ///< without C it says nothing: null in JSON
};

/// Says what is wrong with one word, or what would be right; who knows where it stands adds that.
class WordError : public Error {
public:
    using Error::Error;
};

/// In the order of the text form: all of format 1, then those of format 2.
[[nodiscard]] std::span<const GemmSpecField> gemm_spec_fields();
/// Reads a word that stands there under that name: WordErrors say "lda is '5x': expected a whole number".
void read_field(GemmSpec& spec, const GemmSpecField& field, std::string_view name, std::string_view word);
/// Whether the field is what a spec has unless told otherwise.
[[nodiscard]] bool is_usual(const GemmSpecField& field, const GemmSpec& spec);
/// Those of format 2 that are not as usual, each with a space before it: " constant-b=yes broadcast-c=yes".
[[nodiscard]] std::string second_format_text(const GemmSpec& spec);
/// A field of earlier versions that no kernel served. Texts may still name it with a word that says nothing.
struct FormerField {
    std::string_view key;
    std::string_view neutral;
    std::string_view other_neutral;
};
[[nodiscard]] std::span<const FormerField> former_fields();
/// False where the key is none of these. Throws WordError for a word that says something.
bool read_former_field(std::string_view key, std::string_view word);

}  // namespace jitgemm
