#pragma once

#include "generator/families/shared/family_struct.hpp"
#include "generator/families/simt_long_k/config.hpp"
#include "generator/families/simt_long_k/cost_constants.hpp"

namespace jitgemm {

/// The family's row of the table, typed. struct Family (generator/families/family.hpp) describes each function.
struct SimtLongK {
    using Config = SimtLongKConfig;
    using Costs = LongKCosts;
    static constexpr std::string_view kName = "simt_long_k";
    static constexpr std::string_view kSummary =
        "f32 on FP32 cores for a small result of a long K: blocks, warps and lanes share out K";
    static constexpr std::string_view kTemplateFile = "simt_long_k/simt_long_k.cu";
    static constexpr MathUnit kMathUnit = MathUnit::fp32_cores;
    static constexpr FamilyServes kServes{.symmetric = true};

    /// f32 with at most 64 rows and columns of D and thousands of products for each.
    [[nodiscard]] static bool selected_by_default(const Problem& problem);
    [[nodiscard]] static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch);
    [[nodiscard]] static std::vector<Config> candidates(const Problem& problem, const GpuModel& gpu);
    [[nodiscard]] static std::vector<CandidateGroup<Config>> groups(const Problem& problem, const GpuModel& gpu);
    static void add_candidates(std::vector<Config>& list, const Problem& problem, const Config& tile,
                               const GpuModel& gpu, double limit_us);
    [[nodiscard]] static std::vector<std::string> violations(const Problem& problem, const Config& config,
                                                             const Arch& arch);
    [[nodiscard]] static std::vector<std::string> discouraged(const Problem& problem, const Config& config);
    [[nodiscard]] static SumOrder sum_order(DataType, const Config&) { return {.in_k_order = false}; }
    [[nodiscard]] static KernelAnatomy anatomy(const Problem& problem, const Config& config);
    [[nodiscard]] static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu,
                                           const Costs& costs);
    [[nodiscard]] static double compile_ms(const Config& config);
    [[nodiscard]] static std::span<const ConfigParameter<Config>> parameter_table();
    [[nodiscard]] static RenderInput render_input(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config);
    [[nodiscard]] static std::int64_t workspace_bytes(const Problem& problem, const Config& config);
    [[nodiscard]] static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row,
                                            std::int64_t column);
};

}  // namespace jitgemm
