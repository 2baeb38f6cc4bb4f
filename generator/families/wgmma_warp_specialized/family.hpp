#pragma once

#include "generator/families/shared/family_struct.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

namespace jitgemm {

/// The family's row of the table, typed; struct Family (generator/families/family.hpp) says what each function is for.
struct WgmmaWarpSpecialized {
    using Config = WgmmaWarpSpecializedConfig;
    using Costs = WgmmaCosts;
    static constexpr std::string_view kName = "wgmma_warp_specialized";
    static constexpr std::string_view kNameInKernels = "wgmma";
    static constexpr std::string_view kSummary =
        "f16 and bf16 on wgmma: TMA, a producer warp and consumer warpgroups, persistent blocks (sm_90a)";
    static constexpr std::string_view kTemplateFile = "wgmma/wgmma_warp_specialized.cu";
    static constexpr MathUnit kMathUnit = MathUnit::tensor_cores;
    static constexpr MathInstruction kMathInstruction = MathInstruction::wgmma;
    static constexpr std::array kRemovedOptions{kHilbertRasterization, RemovedOption{"store", "", "reg"},
                                                RemovedOption{"swizzle", "swizzle"}};

    [[nodiscard]] static bool selected_by_default(const Problem& problem);
    /// Why the family can't serve the problem whatever the config: types, architecture, operands too large for TMA.
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem& problem, const Config& config);
    /// A from registers: timed, but what it costs (4 to 32 %) has no term.
    [[nodiscard]] static bool is_untimed(const Config& config) { return config.a_source != OperandSource::shared; }
    [[nodiscard]] static SumOrder sum_order(DataType operands, const Config& config);
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    /// What follows from the others: the K of a warpgroup tile, the raster group of a rasterization `given` by name.
    static void settle(Config& config, const ParameterMap& given);
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    /// The packing of A and of B where TMA can't address them, and the main kernel.
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    /// The packed operands; behind them for each block of stream-K the f32 (or f16) sums of a block tile; and a counter
    /// for each 16 rows that a warp has of them.
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem& problem, const Config& config);
    [[nodiscard]] static std::int64_t counter_bytes(const Problem& problem, const Config& config);
    /// The block is that of a GPU which holds all tiles at once; on a smaller one it is this modulo the grid. With
    /// stream-K it is the one that stores the element.
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
