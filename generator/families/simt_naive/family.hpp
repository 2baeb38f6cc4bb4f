#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/simt_tiling.hpp"
#include "generator/families/simt_naive/config.hpp"

namespace jitgemm {

/// The description of simt_naive for SimtFamily.
struct SimtNaive {
    using Config = SimtNaiveConfig;
    static constexpr std::string_view kName = "simt_naive";
    static constexpr std::string_view kSummary =
        "f32, f16 and bf16 on FP32 cores, to learn from: one thread per element of D";
    static constexpr std::string_view kTemplateFile = "ladder/simt_naive.cu";

    /// block, coalesced
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    [[nodiscard]] static SimtTiling tiling(const Config& config);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem);
};

}  // namespace jitgemm
