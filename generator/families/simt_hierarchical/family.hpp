#pragma once

#include "generator/families/shared/family_struct.hpp"
#include "generator/families/simt_hierarchical/config.hpp"
#include "generator/families/simt_hierarchical/cost_constants.hpp"

namespace jitgemm {

/// The family's row of the table, typed. struct Family (generator/families/family.hpp) describes each function.
struct SimtHierarchical {
    using Config = SimtHierarchicalConfig;
    using Costs = HierarchicalCosts;
    static constexpr std::string_view kName = "simt_hierarchical";
    static constexpr std::string_view kSummary =
        "f32 on FP32 cores (f16 and bf16 too): block, warp and thread tiles, rank-1 updates, cp.async pipeline";
    static constexpr std::string_view kTemplateFile = "simt_hierarchical/simt_hierarchical.cu";
    static constexpr MathUnit kMathUnit = MathUnit::fp32_cores;
    static constexpr FamilyServes kServes{.batches = true, .groups = true, .symmetric = true};
    static constexpr std::array kRemovedOptions{kHilbertRasterization};

    [[nodiscard]] static bool selected_by_default(const Problem& problem);
    /// \file The parts of the family's row in the table, as struct Family describes each.
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem& problem, const Config& config);
    [[nodiscard]] static SumOrder sum_order(DataType, const Config& config) {
        return {.in_k_order = config.split_k <= 1 && config.blocks_per_wave <= 0};
    }
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static double compile_ms(const Config& config);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    /// Sets the values that follow from others: the K of a warp tile, and the raster group of a rasterization `given`
    /// by name.
    static void settle(Config& config, const ParameterMap& given);
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem& problem, const Config& config);
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
