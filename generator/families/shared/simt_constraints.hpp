#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/shared/simt_tiling.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Reasons why no config of a SIMT family can serve the problem: types, architecture.
[[nodiscard]] std::vector<std::string> simt_unsupported(std::string_view family, const GemmSpec& spec,
                                                        const Arch& arch);

/// Every rule the tiling breaks for a problem that the family supports, each with its numbers.
[[nodiscard]] std::vector<std::string> simt_violations(const Problem& problem, const SimtTiling& tiling,
                                                       const Arch& arch);

}  // namespace jitgemm
