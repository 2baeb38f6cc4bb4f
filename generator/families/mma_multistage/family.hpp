#pragma once

#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/mma_multistage/cost_constants.hpp"
#include "generator/families/shared/family_struct.hpp"

namespace jitgemm {

/// The family's row of the table, typed. struct Family (generator/families/family.hpp) describes each function.
struct MmaMultistage {
    using Config = MmaMultistageConfig;
    using Costs = MmaCosts;
    static constexpr std::string_view kName = "mma_multistage";
    static constexpr std::string_view kSummary =
        "f16, bf16, s8, f32 as tf32, and (sm_89) e4m3, e5m2 on mma.sync: cp.async pipeline, swizzled shared memory";
    static constexpr std::string_view kTemplateFile = "mma_multistage/mma_multistage.cu";
    static constexpr MathUnit kMathUnit = MathUnit::tensor_cores;
    static constexpr FamilyServes kServes{
        .pairs = true, .block_scales = true, .batches = true, .groups = true, .symmetric = true};
    static constexpr std::array kRemovedOptions{kHilbertRasterization, RemovedOption{"stream_k", "streamk"},
                                                RemovedOption{"store", "store-", "reg"},
                                                RemovedOption{"double_buffer", "db"}};

    [[nodiscard]] static bool selected_by_default(const Problem& problem);
    /// Reasons why no config can serve the problem: types, architecture, extents.
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    /// Configs worth considering for the problem. The rules are not yet applied. There are none for 8-bit operands,
    /// nor for groups, that wgmma serves.
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    [[nodiscard]] static std::vector<CandidateGroup<Config>> groups(const Problem& problem, const GpuModel& gpu);
    static void add_candidates(std::vector<Config>& list, const Problem& problem, const Config& tile,
                               const GpuModel& gpu, double limit_us);
    /// Every rule the config breaks for the problem on the architecture, each with its numbers.
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    /// Reasons why the heuristic should not propose the config, though a user may ask for it: mainloop accesses with
    /// bank conflicts, each with its wavefronts. Empty if there is none.
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem& problem, const Config& config);
    [[nodiscard]] static SumOrder sum_order(DataType, const Config& config) {
        return {.instruction = MathInstruction::mma, .instruction_k = config.mma.k, .in_k_order = config.split_k <= 1};
    }
    /// The parts of the kernel, each choice with its reason. The config breaks no rule for the problem.
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    /// Predicted time from waves, tensor-core rate, shared-memory and L2 traffic, DRAM bytes and fixed costs.
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static double compile_ms(const Config& config);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    /// Sets the values that follow from others: the K of a warp tile, and the raster group of a rasterization `given`
    /// by name.
    static void settle(Config& config, const ParameterMap& given);
    /// GEMM_* values, params.cuh and mma_atom.cuh of a kernel.
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    /// The packing of A and of B if the config asks for it, the main kernel, and with split-K the reduction.
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    /// Packed operands, then split_k partials of m rows of f32 or s32, each row rounded up to 4 elements.
    /// The generated workspace.cuh lays them out.
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem& problem, const Config& config);
    /// Block, warp, lane and accumulator register that compute an element of D; with split-K, those of the first split.
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
