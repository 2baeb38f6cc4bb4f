#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/simt_tiling.hpp"
#include "generator/families/simt_tile2d/config.hpp"

namespace jitgemm {

/// The description of simt_tile2d for SimtFamily.
struct SimtTile2d {
    using Config = SimtTile2dConfig;
    static constexpr std::string_view kName = "simt_tile2d";
    static constexpr std::string_view kSummary =
        "f32, f16 and bf16 on FP32 cores, to learn from: 2-D loop tiling, any matrix from any grid";
    static constexpr std::string_view kTemplateFile = "ladder/simt_tile2d.cu";

    /// block, tile, grid
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    [[nodiscard]] static SimtTiling tiling(const Config& config);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem);
};

}  // namespace jitgemm
