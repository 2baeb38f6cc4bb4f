#pragma once

#include "generator/epilogue/graph.hpp"

#include <string>

namespace jitgemm {

/// The one text of a meaning: declarations of operands in the order of their first use, values that are used twice as
/// t0, t1, …, and outputs in the order of the text. Two texts that differ in blanks, comments, names of local values
/// and the place of declarations have the same. Reading it gives the same meaning again, but for transposed pairs.
[[nodiscard]] std::string canonical_text(const EpilogueParts& parts);

/// Eight hexadecimal digits of XXH3 of a text.
[[nodiscard]] std::string hash_digits(const std::string& text);

}  // namespace jitgemm
