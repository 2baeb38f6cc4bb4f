#pragma once

#include <cstdint>
#include <string>

namespace jitgemm::testing {

/// The problem that random epilogues are made for: small, with whole blocks.
inline constexpr int kEpilogueRows = 2;
inline constexpr int kEpilogueColumns = 32;
inline constexpr int kEpilogueBlock = 4;  ///< columns of q's blocks

/// A text without an error. Operands: bias[n], row[m], up[m,n], s[0], q[m,n/4], the scalar `scale`, alpha and beta, and
/// with pairs gate[m,h] and wide[h]. Numbers are multiples of 1/8. One in five has pairs, one in five a reduction that
/// is read back.
[[nodiscard]] std::string random_epilogue(std::uint64_t seed);

/// A text with some characters or words deleted, doubled, exchanged or replaced.
[[nodiscard]] std::string mutated_epilogue(std::string text, std::uint64_t seed);

/// The same meaning in another spelling: other blanks and line ends, comments, other names of local values.
[[nodiscard]] std::string respelled_epilogue(const std::string& text, std::uint64_t seed);

}  // namespace jitgemm::testing
