#pragma once

#include "generator/families/family.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/simt_anatomy.hpp"
#include "generator/families/shared/simt_constraints.hpp"
#include "generator/families/shared/simt_cost.hpp"
#include "generator/families/shared/simt_render.hpp"

namespace jitgemm {

/// The functions of a Family row for a plain SIMT family. What it is called, its parameters, its tiling and its candidates are
/// all that such families differ in; a `Description` says them:
///
///     struct SimtNaive {
///         using Config = SimtNaiveConfig;
///         static constexpr std::string_view kName, kSummary, kTemplateFile;
///         static std::span<const ConfigParameter<Config>> parameters();
///         static SimtTiling tiling(const Config&);
///         static std::vector<Config> candidates(const GemmSpec&);
///     };
template <typename Description>
struct SimtFamily {
    using Config = typename Description::Config;

    static const Config& config_of(const KernelConfig& config) { return std::get<Config>(config.family); }
    static SimtTiling tiling(const KernelConfig& config) { return Description::tiling(config_of(config)); }

    static std::vector<std::string> unsupported(const GemmSpec& spec, const Arch& arch) {
        return simt_unsupported(Description::kName, spec, arch);
    }
    static std::vector<KernelConfig> candidates(const GemmSpec& spec, const GpuModel&) {
        std::vector<KernelConfig> configs;
        for (const Config& config : Description::candidates(spec)) configs.push_back({config});
        return configs;
    }
    static std::vector<std::string> violations(const GemmSpec& spec, const KernelConfig& config, const Arch& arch) {
        std::vector<std::string> reasons = unsupported(spec, arch);
        return reasons.empty() ? simt_violations(spec, tiling(config), arch) : reasons;
    }
    static std::vector<std::string> objections(const GemmSpec&, const KernelConfig&) { return {}; }
    static KernelAnatomy anatomy(const GemmSpec& spec, const KernelConfig& config) {
        return simt_anatomy(spec, tiling(config));
    }
    static CostEstimate cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu) {
        return simt_cost(spec, tiling(config), gpu);
    }

    static std::string config_name(const GemmSignature&, const KernelConfig& config) {
        return config_name_by_table(Description::parameters(), config_of(config));
    }
    static KernelConfig parse_config_name(std::string_view name) {
        return {parse_config_name_by_table(Description::parameters(), name)};
    }
    static ParameterMap parameters(const KernelConfig& config) {
        return parameters_by_table(Description::parameters(), config_of(config));
    }
    static KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& parameters) {
        return {with_parameters_by_table(Description::kName, Description::parameters(), config_of(config), parameters)};
    }

    static RenderInput render_input(const GemmSignature& signature, const KernelConfig& config) {
        return simt_render_input(signature, tiling(config));
    }
    static std::vector<KernelEntry> entries(const GemmSignature& signature, const KernelConfig& config) {
        return simt_entries(signature, tiling(config));
    }
    static std::int64_t workspace_bytes(const GemmSpec&, const KernelConfig&) { return 0; }
    static ElementOwner owner(const GemmSpec& spec, const KernelConfig& config, std::int64_t row, std::int64_t column) {
        return simt_owner(spec, tiling(config), row, column);
    }
};

/// The family's row in the table.
template <typename Description>
[[nodiscard]] constexpr Family simt_family() {
    using Functions = SimtFamily<Description>;
    return {.name = Description::kName,
            .summary = Description::kSummary,
            .math_unit = MathUnit::fp32_cores,
            .unsupported = Functions::unsupported,
            .candidates = Functions::candidates,
            .violations = Functions::violations,
            .objections = Functions::objections,
            .anatomy = Functions::anatomy,
            .cost = Functions::cost,
            .config_name = Functions::config_name,
            .parse_config_name = Functions::parse_config_name,
            .parameters = Functions::parameters,
            .with_parameters = Functions::with_parameters,
            .template_file = Description::kTemplateFile,
            .render_input = Functions::render_input,
            .entries = Functions::entries,
            .workspace_bytes = Functions::workspace_bytes,
            .owner = Functions::owner};
}

}  // namespace jitgemm
