#pragma once

#include "runtime/cli/problem_options.hpp"

#include <string>
#include <vector>

namespace jitgemm::cli {

/// The problems of a shape file, one a line, `#` starts a comment; the options (types of C, D and the accumulator, beta
/// ...) apply to each. Throws UsageError naming file and line of every line that is no sound problem.
[[nodiscard]] std::vector<ProblemRequest> read_shapes(const std::string& path, const ProblemOptions& options);

}  // namespace jitgemm::cli
