#pragma once

#include "generator/families/shared/family_struct.hpp"
#include "generator/families/shared/reductions.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

namespace jitgemm {

/// The family's row of the table, typed. struct Family (generator/families/family.hpp) describes each function.
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
    static constexpr FamilyServes kServes{.pairs = true,
                                          .block_scales = true,
                                          .blocks_of_d = true,
                                          .batches = true,
                                          .groups = true,
                                          .gathered_rows = true,
                                          .symmetric = true};
    static constexpr std::array kRemovedOptions{kHilbertRasterization, RemovedOption{"store", "", "reg"},
                                                RemovedOption{"swizzle", "swizzle"}};

    [[nodiscard]] static bool selected_by_default(const Problem& problem);
    /// Reasons why no config can serve the problem: types, architecture, operands too large for TMA.
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    [[nodiscard]] static std::vector<CandidateGroup<Config>> groups(const Problem& problem, const GpuModel& gpu);
    static void add_candidates(std::vector<Config>& list, const Problem& problem, const Config& tile,
                               const GpuModel& gpu, double limit_us);
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem& problem, const Config& config);
    /// True if A comes from registers: this was timed, but its cost (4 to 32 %) has no term in the model.
    [[nodiscard]] static bool is_untimed(const Config& config) { return config.a_source != OperandSource::shared; }
    [[nodiscard]] static SumOrder sum_order(DataType operands, const Config& config);
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static double compile_ms(const Config& config);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    /// Sets the values that follow from others: the K of a warpgroup tile, and the raster group of a rasterization
    /// `given` by name.
    static void settle(Config& config, const ParameterMap& given);
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    /// The packing of A and of B if TMA cannot address them, and the main kernel.
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static PartTile part_tile(const GemmSignature& signature, const Config& config);
    /// The packed operands, then the f32 (or f16) sums of a block tile for each block of stream-K, then a counter for
    /// each 16 rows of a warp's sums.
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem& problem, const Config& config);
    [[nodiscard]] static std::int64_t counter_bytes(const Problem& problem, const Config& config);
    /// The block is that of a GPU which holds all tiles at once; on a smaller GPU it is this modulo the grid. With
    /// stream-K it is the block that stores the element.
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
