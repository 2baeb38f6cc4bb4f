#pragma once

#include "generator/families/shared/family_struct.hpp"
#include "generator/families/wmma_multistage/config.hpp"
#include "generator/families/wmma_multistage/cost_constants.hpp"

namespace jitgemm {

/// The family's row of the table, typed. struct Family (generator/families/family.hpp) describes each function.
struct WmmaMultistage {
    using Config = WmmaMultistageConfig;
    using Costs = WmmaCosts;
    static constexpr std::string_view kName = "wmma_multistage";
    static constexpr std::string_view kSummary =
        "f16 and bf16 on wmma fragments: padding, cp.async, stages, double buffering and zig-zag, each optional";
    static constexpr std::string_view kTemplateFile = "wmma_multistage/wmma_multistage.cu";
    static constexpr MathUnit kMathUnit = MathUnit::tensor_cores;
    static constexpr FamilyServes kServes{.batches = true};
    static constexpr std::array kRemovedOptions{kHilbertRasterization};

    /// Reasons why no config can serve the problem; empty if one may.
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    /// The well-known tiles and smaller ones, so that every problem finds one. The rules are not yet applied.
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    /// All rules a config breaks for the problem, each with its numbers.
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    /// None: the family exists to show the cost of a missing ingredient.
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem& problem, const Config& config);
    [[nodiscard]] static SumOrder sum_order(DataType, const Config& config) {
        return {.instruction = MathInstruction::mma, .instruction_k = config.mma.k};
    }
    /// The accesses are those that the ISA specifies: copies into the pipeline, and the epilogue's loads. The hardware
    /// chooses the addresses of wmma.load and wmma.store.
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    /// mma_multistage's model for the same tiles and pipeline. It is only meant to order this family's own configs.
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    /// Sets the values that follow from others: the K of a warp tile, and the raster group of a rasterization `given`
    /// by name.
    static void settle(Config& config, const ParameterMap& given);
    /// GEMM_* values, params.cuh, wmma_atom.cuh and cp_async.inl of a kernel.
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    /// One kernel, no workspace.
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem& problem, const Config& config);
    /// Block and warp that compute an element of D. Only the hardware knows the lane.
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
