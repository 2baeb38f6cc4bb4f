#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// \file The parts of the family's row in the table, as struct Family describes each.
[[nodiscard]] std::vector<std::string> simt_hierarchical_unsupported(const GemmSpec& spec, const Arch& arch);
[[nodiscard]] std::vector<std::string> simt_hierarchical_violations(const GemmSpec& spec, const KernelConfig& config,
                                                                    const Arch& arch);
[[nodiscard]] std::vector<std::string> simt_hierarchical_objections(const GemmSpec& spec, const KernelConfig& config);
[[nodiscard]] std::vector<KernelConfig> simt_hierarchical_candidates(const GemmSpec& spec, const GpuModel& gpu);
[[nodiscard]] CostEstimate simt_hierarchical_cost(const GemmSpec& spec, const KernelConfig& config,
                                                  const GpuModel& gpu);
[[nodiscard]] KernelAnatomy simt_hierarchical_anatomy(const GemmSpec& spec, const KernelConfig& config);
[[nodiscard]] std::string simt_hierarchical_config_name(const GemmSignature& signature, const KernelConfig& config);
[[nodiscard]] KernelConfig parse_simt_hierarchical_config_name(std::string_view name);
[[nodiscard]] ParameterMap simt_hierarchical_parameters(const KernelConfig& config);
[[nodiscard]] KernelConfig simt_hierarchical_with_parameters(const KernelConfig& config,
                                                             const ParameterMap& parameters);
[[nodiscard]] RenderInput simt_hierarchical_render_input(const GemmSignature& signature, const KernelConfig& config);
[[nodiscard]] std::vector<KernelEntry> simt_hierarchical_entries(const GemmSignature& signature,
                                                                 const KernelConfig& config);
[[nodiscard]] std::int64_t simt_hierarchical_workspace_bytes(const GemmSpec& spec, const KernelConfig& config);
[[nodiscard]] ElementOwner simt_hierarchical_owner(const GemmSpec& spec, const KernelConfig& config, std::int64_t row,
                                                   std::int64_t column);

}  // namespace jitgemm
