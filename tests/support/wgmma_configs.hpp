#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/kernel_config.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

/// \file Configs of wgmma_warp_specialized from their parameters, and the rules that they break.

namespace jitgemm::testing {

inline WgmmaWarpSpecializedConfig wgmma_config(std::string_view parameters) {
    return with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(parameters)))
        .as<WgmmaWarpSpecializedConfig>();
}

inline std::string wgmma_violations(const GemmSpec& spec, std::string_view parameters,
                                    std::string_view arch = "sm_90a") {
    return fmt::format(
        "{}",
        fmt::join(WgmmaWarpSpecialized::violations(problem_of(spec), wgmma_config(parameters), find_arch(arch)), "; "));
}

/// A tn problem.
inline GemmSpec square(std::int64_t size) { return spec_of(GemmLayout::tn, size, size, size); }

}  // namespace jitgemm::testing
