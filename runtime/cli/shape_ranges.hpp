#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// The plain lines that a line of a shape file stands for: one whose sizes are ranges is a problem for each
/// combination, m slowest, k fastest.
///
///     bf16 tn m=1:128:*2 n=4096 k=4096     # m = 1, 2, 4 ... 128
///     bf16 tn 4096 1024:4096:1024 4096     # n = 1024, 2048, 3072, 4096
///
/// FIRST:LAST counts by one, :STEP (or :+STEP) by so many, :*FACTOR multiplies; LAST is in it where a step meets it.
/// Sizes that are named may come in any order. A line without ranges or names stays as it is. Throws SpecError with
/// what is wrong, also where the line stands for more than `most` problems.
[[nodiscard]] std::vector<std::string> expand_shape_line(std::string_view line, std::size_t most);

}  // namespace jitgemm::cli
