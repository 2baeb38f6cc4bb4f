#pragma once

#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/simt_anatomy.hpp"
#include "generator/families/shared/simt_constraints.hpp"
#include "generator/families/shared/simt_cost.hpp"
#include "generator/families/shared/simt_render.hpp"
#include "generator/families/shared/sum_order.hpp"

#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// The row of a plain SIMT family in the table, typed. What it is called, its parameters, its tiling and its candidates
/// are all that such families differ in; a `Description` says them:
///
///     struct SimtNaive {
///         using Config = SimtNaiveConfig;
///         static constexpr std::string_view kName, kSummary, kTemplateFile;
///         static std::span<const ConfigParameter<Config>> parameter_table();
///         static SimtTiling tiling(const Config&);
///         static std::vector<Config> candidates(const Problem&);
///         static RenderInput render_input(const GemmSignature&, const Config&);  // if its template has own constants
///         static std::vector<std::string> unsupported(const Problem&);  // if it serves less than its siblings
///         static SumOrder sum_order(const Config&);                     // if it is not one fma after the other
///     };
template <typename Description>
struct SimtFamily {
    using Config = typename Description::Config;
    static constexpr std::string_view kName = Description::kName;
    static constexpr std::string_view kSummary = Description::kSummary;
    static constexpr std::string_view kTemplateFile = Description::kTemplateFile;
    static constexpr MathUnit kMathUnit = MathUnit::fp32_cores;

    static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch) {
        std::vector<std::string> reasons = simt_unsupported(kName, problem.row_major(), arch);
        if constexpr (requires { &Description::unsupported; })
            for (std::string& reason : Description::unsupported(problem)) reasons.push_back(std::move(reason));
        return reasons;
    }
    static std::vector<Config> candidates(const Problem& problem, const GpuModel&) {
        return Description::candidates(problem);
    }
    static std::vector<std::string> violations(const Problem& problem, const Config& config, const Arch& arch) {
        std::vector<std::string> reasons = unsupported(problem, arch);
        return reasons.empty() ? simt_violations(problem, Description::tiling(config), arch) : reasons;
    }
    static SumOrder sum_order(DataType, const Config& config) {
        if constexpr (requires { &Description::sum_order; }) return Description::sum_order(config);
        return {};
    }
    static std::vector<std::string> discouraged(const Problem&, const Config&) { return {}; }
    static KernelAnatomy anatomy(const Problem& problem, const Config& config) {
        return simt_anatomy(problem, Description::tiling(config));
    }
    static CostEstimate cost(const Problem& problem, const Config& config, const GpuModel& gpu) {
        return simt_cost(problem, Description::tiling(config), gpu);
    }

    static std::span<const ConfigParameter<Config>> parameter_table() { return Description::parameter_table(); }

    static RenderInput render_input(const GemmSignature& signature, const Config& config) {
        if constexpr (requires { &Description::render_input; }) return Description::render_input(signature, config);
        return simt_render_input(signature, Description::tiling(config));
    }
    static std::vector<KernelEntry> entries(const GemmSignature& signature, const Config& config) {
        return simt_entries(signature, Description::tiling(config));
    }
    static std::int64_t workspace_bytes(const Problem&, const Config&) { return 0; }
    static ElementOwner owner(const Problem& problem, const Config& config, std::int64_t row, std::int64_t column) {
        return simt_owner(problem, Description::tiling(config), row, column);
    }
};

}  // namespace jitgemm
