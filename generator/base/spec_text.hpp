#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <string_view>

namespace jitgemm {

/// The text of a spec without a comment that ends it ("# ...") and the blanks before it.
[[nodiscard]] std::string_view spec_words(std::string_view text);

/// Whether a text is keys behind their format ("gemm-v1 m=..."), else it is a shape line.
[[nodiscard]] bool names_format(std::string_view text);

/// Reads a problem in either form, the same on the command line, in files of shapes, in C and in Python: a shape line,
/// or keys behind their format. A comment may end it. Throws SpecError naming the offending word, or every rule that
/// the problem breaks.
[[nodiscard]] GemmSpec parse_spec_text(std::string_view text);

}  // namespace jitgemm
