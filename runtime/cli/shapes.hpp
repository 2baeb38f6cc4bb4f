#pragma once

#include "runtime/cli/problem_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// Most problems of a shape file. A mistaken name (a device, a disk image) must not fill the memory.
inline constexpr std::size_t kMostShapes = 1'000'000;

/// The problems of a shape file. Each line is one problem or a range of them (shape_ranges.hpp), and `#` starts a
/// comment. The options (types of C, D and the accumulator, beta ...) apply to each problem. A pipe is read to its end.
/// Throws UsageError if the file is no text, too large or unreadable, and with file and line for every unsound problem.
[[nodiscard]] std::vector<ProblemRequest> read_shapes(const std::string& path, const ProblemOptions& options);

/// The same for a text. `name` is its name in messages.
[[nodiscard]] std::vector<ProblemRequest> parse_shapes(std::string_view text, const std::string& name,
                                                       const ProblemOptions& options);

/// A problem, or the same for each m from its own to `last_m`.
struct ProblemSet {
    ProblemRequest first;
    std::int64_t last_m = 0;
    bool is_range = false;  ///< also of a single m
};

/// As read_shapes, but a range of m that counts by one (m=1:8192) stays whole.
[[nodiscard]] std::vector<ProblemSet> read_shape_sets(const std::string& path, const ProblemOptions& options);

}  // namespace jitgemm::cli
