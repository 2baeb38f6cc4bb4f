#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// \file The parts of the family's row in the table, as struct Family describes each.

/// f32 with at most 64 rows and columns of D and thousands of products for each.
[[nodiscard]] bool simt_long_k_volunteers(const GemmSpec& spec);
[[nodiscard]] std::vector<std::string> simt_long_k_unsupported(const GemmSpec& spec, const Arch& arch);
[[nodiscard]] std::vector<std::string> simt_long_k_violations(const GemmSpec& spec, const KernelConfig& config,
                                                              const Arch& arch);
[[nodiscard]] std::vector<std::string> simt_long_k_objections(const GemmSpec& spec, const KernelConfig& config);
[[nodiscard]] std::vector<KernelConfig> simt_long_k_candidates(const GemmSpec& spec, const GpuModel& gpu);
[[nodiscard]] CostEstimate simt_long_k_cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu);
[[nodiscard]] KernelAnatomy simt_long_k_anatomy(const GemmSpec& spec, const KernelConfig& config);
[[nodiscard]] std::string simt_long_k_config_name(const GemmSignature& signature, const KernelConfig& config);
[[nodiscard]] KernelConfig parse_simt_long_k_config_name(std::string_view name);
[[nodiscard]] ParameterMap simt_long_k_parameters(const KernelConfig& config);
[[nodiscard]] KernelConfig simt_long_k_with_parameters(const KernelConfig& config, const ParameterMap& parameters);
[[nodiscard]] RenderInput simt_long_k_render_input(const GemmSignature& signature, const KernelConfig& config);
[[nodiscard]] std::vector<KernelEntry> simt_long_k_entries(const GemmSignature& signature, const KernelConfig& config);
[[nodiscard]] std::int64_t simt_long_k_workspace_bytes(const GemmSpec& spec, const KernelConfig& config);
[[nodiscard]] ElementOwner simt_long_k_owner(const GemmSpec& spec, const KernelConfig& config, std::int64_t row,
                                             std::int64_t column);

}  // namespace jitgemm
