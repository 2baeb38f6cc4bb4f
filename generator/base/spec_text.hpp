#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The text of a spec without a comment at its end ("# ...") and the blanks before it.
[[nodiscard]] std::string_view spec_words(std::string_view text);

/// The words of a text. Blanks between quotes belong to a word. Throws WordError for a quote that does not end.
[[nodiscard]] std::vector<std::string_view> split_spec_words(std::string_view text);

/// Whether a text is keys after their format ("gemm-v1 m=..."). Else it is a shape line.
[[nodiscard]] bool names_format(std::string_view text);

/// A field that a text says: "lda=72", or a word of a shape line.
struct SaidField {
    std::string_view key, value;
    std::string_view place;  ///< of a word without a key in a shape line: "type", "layout", "m"; else empty
};

/// The fields that a text in either form says, in its order. No comment ends it. Throws WordError for a word that says
/// no field.
[[nodiscard]] std::vector<SaidField> said_fields(std::string_view text);

/// Reads a problem in either form: a shape line, or keys after their format. The command line, shape files, C and
/// Python use the same forms. A comment may end it. Throws SpecError with the offending word, or with every rule that
/// the problem breaks.
[[nodiscard]] GemmSpec parse_spec_text(std::string_view text);

/// The text of a spec with a range in m's place, "gemm-v1 m=1:8192 n=...", as shape files take it. Fields that the spec
/// leaves open stay open: they follow from each m.
[[nodiscard]] std::string range_text(GemmSpec spec, std::int64_t first_m, std::int64_t last_m);

}  // namespace jitgemm
