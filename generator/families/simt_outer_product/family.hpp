#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/simt_tiling.hpp"
#include "generator/families/simt_outer_product/config.hpp"

namespace jitgemm {

/// The description of simt_outer_product for SimtFamily.
struct SimtOuterProduct {
    using Config = SimtOuterProductConfig;
    static constexpr std::string_view kName = "simt_outer_product";
    static constexpr std::string_view kSummary =
        "f32, f16 and bf16 on FP32 cores, to learn from: K in chunks through shared memory";
    static constexpr std::string_view kTemplateFile = "ladder/simt_outer_product.cu";

    /// block
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    [[nodiscard]] static SimtTiling tiling(const Config& config);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem);
};

}  // namespace jitgemm
