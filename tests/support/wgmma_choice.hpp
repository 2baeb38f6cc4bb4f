#pragma once

#include "generator/families/family.hpp"
#include "generator/heuristics.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

/// \file Whether wgmma_warp_specialized is chosen, and all rules that its configs break, those of every family too.

namespace jitgemm::testing {

[[nodiscard]] inline bool uses_wgmma(const GemmSpec& spec, std::string_view gpu = "h200") {
    return family_of(choose_config(problem_of(spec), find_gpu(gpu))).name == "wgmma_warp_specialized";
}

[[nodiscard]] inline std::string broken_rules(const GemmSpec& spec, std::string_view parameters) {
    const KernelConfig config{wgmma_config(parameters)};
    return fmt::format("{}",
                       fmt::join(family_of(config).violations(problem_of(spec), config, find_arch("sm_90a")), "; "));
}

}  // namespace jitgemm::testing
