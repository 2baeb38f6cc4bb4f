#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/simt_tiling.hpp"
#include "generator/families/simt_tile2d_shared/config.hpp"

namespace jitgemm {

/// The description of simt_tile2d_shared for SimtFamily.
struct SimtTile2dShared {
    using Config = SimtTile2dSharedConfig;
    static constexpr std::string_view kName = "simt_tile2d_shared";
    static constexpr std::string_view kSummary =
        "f32, f16 and bf16 on FP32 cores, to learn from: inner products of whole panels in shared memory";
    static constexpr std::string_view kTemplateFile = "ladder/simt_tile2d_shared.cu";

    /// block, panel_k, grid
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    [[nodiscard]] static SimtTiling tiling(const Config& config);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem);
};

}  // namespace jitgemm
