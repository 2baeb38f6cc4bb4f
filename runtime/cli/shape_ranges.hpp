#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
/// FIRST:LAST counts by one, :STEP (or :+STEP) by STEP, :*FACTOR multiplies; LAST is in it where a step meets it.
/// Sizes that are named may come in any order. Of keys behind their format ("gemm-v2 m=1:8 n=64 ...") m alone may be a
/// range. A line without ranges or names stays as it is. Throws SpecError with
/// what is wrong, also where the line stands for more than `most` problems.
[[nodiscard]] std::vector<std::string> expand_shape_line(std::string_view line, std::size_t most);

/// A plain line, or one that stands for each m from its own to `last_m`.
struct ShapeSet {
    std::string line;
    std::optional<std::int64_t> last_m;
};

/// The same, but a range of m that counts by one (m=1:8192) stays whole.
[[nodiscard]] std::vector<ShapeSet> expand_shape_sets(std::string_view line, std::size_t most);

}  // namespace jitgemm::cli
