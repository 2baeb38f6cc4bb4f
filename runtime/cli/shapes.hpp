#pragma once

#include "runtime/cli/problem_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// What a shape file may hold at most: a mistaken name (a device, a disk image) must not fill the memory.
inline constexpr std::size_t kMostShapes = 1'000'000;

/// The problems of a shape file, one per line or a range of them (shape_ranges.hpp), `#` starts a comment; the options
/// (types of C, D and the accumulator, beta ...) apply to each. A pipe is read to its end. Throws UsageError for what
/// is no text, too much or cannot be read, and naming file and line of lines that are no sound problem.
[[nodiscard]] std::vector<ProblemRequest> read_shapes(const std::string& path, const ProblemOptions& options);

/// The same of a text; `name` is what complaints call it.
[[nodiscard]] std::vector<ProblemRequest> parse_shapes(std::string_view text, const std::string& name,
                                                       const ProblemOptions& options);

/// A problem, or the same for each m from its own to `last_m`.
struct ProblemSet {
    ProblemRequest first;
    std::int64_t last_m = 0;
};

/// As read_shapes, but a range of m that counts by one (m=1:8192) stays whole.
[[nodiscard]] std::vector<ProblemSet> read_shape_sets(const std::string& path, const ProblemOptions& options);

}  // namespace jitgemm::cli
