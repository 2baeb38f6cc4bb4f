#pragma once

#include "generator/families/mma_sliced_k/config.hpp"
#include "generator/families/mma_sliced_k/cost_constants.hpp"
#include "generator/families/shared/family_struct.hpp"

namespace jitgemm {

/// The family's row of the table, typed; struct Family (generator/families/family.hpp) says what each function is for.
struct MmaSlicedK {
    using Config = MmaSlicedKConfig;
    using Costs = SlicedKCosts;
    static constexpr std::string_view kName = "mma_sliced_k";
    static constexpr std::string_view kSummary =
        "f16 and bf16 for a few rows or columns on mma.sync: warps slice K, each with a TMA ring of its own (sm_90)";
    static constexpr std::string_view kTemplateFile = "mma_sliced_k/mma_sliced_k.cu";
    static constexpr MathUnit kMathUnit = MathUnit::tensor_cores;

    [[nodiscard]] static bool selected_by_default(const Problem& problem);
    /// Types, architecture, operands that TMA can't address, more than 32 rows and columns.
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem&, const Config&) { return {}; }
    [[nodiscard]] static SumOrder sum_order(DataType operands, const Config& config);
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static double compile_ms(const Config& config);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem&, const Config&) { return 0; }
    /// The block is that of a GPU which holds all tiles at once; on a smaller GPU it is this modulo the grid. All warps
    /// have a part of the sum, in the same lane and register.
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
