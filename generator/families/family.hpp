#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/kernel_config.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/candidate_group.hpp"
#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/reductions.hpp"
#include "generator/families/shared/sum_order.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A kernel family: everything that the rest of the generator knows about it. All functions are pure.
struct Family {
    std::string_view name;
    std::string_view name_in_kernels;  ///< how its kernels' names begin: the family's name, or a short form of it
    std::string_view summary;          ///< one line for --help and docs
    MathUnit math_unit = MathUnit::tensor_cores;
    MathInstruction math_instruction = MathInstruction::mma;  ///< the instruction of this unit
    /// Whether the heuristic may choose the family for the problem by itself. Unset: never, because the family is there
    /// to learn from.
    bool (*selected_by_default)(const Problem&) = nullptr;

    /// Reasons why no config of this family can serve the problem; empty if one may.
    std::vector<std::string> (*unsupported)(const Problem&, const Arch&);
    /// Every config worth considering for the problem, in no order. The rules are not yet applied.
    std::vector<KernelConfig> (*candidates)(const Problem&, const GpuModel&);
    /// The same configs in groups, for a search that needs only the fastest ones.
    std::vector<CandidateGroup<KernelConfig>> (*groups)(const Problem&, const GpuModel&);
    /// The configs of a group with this tile. Those whose cost() is above the limit may be missing.
    std::vector<KernelConfig> (*candidates_of)(const Problem&, const KernelConfig& tile, const GpuModel&,
                                               double limit_us);
    /// All violated rules, each with its numbers.
    std::vector<std::string> (*violations)(const Problem&, const KernelConfig&, const Arch&);
    /// Reasons not to propose a config that breaks no rule (bank conflicts), each with its numbers.
    std::vector<std::string> (*discouraged)(const Problem&, const KernelConfig&);
    /// Whether cost() was never fitted to kernels of this kind, so that its result is a guess. The heuristic passes
    /// these configs over unless no other config fits the request. The tuner tries them.
    bool (*is_untimed)(const KernelConfig&);
    SumOrder (*sum_order)(DataType operands, const KernelConfig&);
    KernelAnatomy (*anatomy)(const Problem&, const KernelConfig&);
    /// The predicted times of a config that breaks no rule.
    CostEstimate (*cost)(const Problem&, const KernelConfig&, const GpuModel&);
    /// The constants of cost() for the most similar GPU that was measured. A caller may fit them to another GPU. Unset:
    /// there are none.
    CostConstants (*cost_constants)(const GpuModel&) = nullptr;
    /// cost() with other constants. Unset if cost_constants is.
    CostByConstants (*cost_by_constants)(const Problem&, const KernelConfig&, const GpuModel&) = nullptr;

    /// The predicted time of the first compile in a process, in ms on one core.
    double (*compile_ms)(const KernelConfig&);

    /// The config's part of the kernel name: the parameters that differ from the family's published defaults.
    std::string (*config_name)(const KernelConfig&);
    KernelConfig (*parse_config_name)(std::string_view);
    std::vector<std::string_view> (*parameter_names)();
    ParameterMap (*parameters)(const KernelConfig&);
    std::string (*parameters_text)(const KernelConfig&);
    KernelConfig (*with_parameters)(const KernelConfig&, const ParameterMap&);

    std::string_view template_file;
    RenderInput (*render_input)(const GemmSignature&, const KernelConfig&);
    std::vector<KernelEntry> (*entries)(const GemmSignature&, const KernelConfig&);
    PartTile (*part_tile)(const GemmSignature&, const KernelConfig&);
    /// Bytes of workspace that a launch needs beside those for the parts of reductions; 0 for most kernels.
    std::int64_t (*workspace_bytes)(const Problem&, const KernelConfig&);
    /// Bytes of counters, which are zeros when a kernel begins and when it ends.
    std::int64_t (*counter_bytes)(const Problem&, const KernelConfig&);
    ElementOwner (*owner)(const Problem&, const KernelConfig&, std::int64_t row, std::int64_t column);
};

[[nodiscard]] std::span<const Family> family_table();
/// Throws ConfigError with the known families and the nearest one.
[[nodiscard]] const Family& find_family(std::string_view name);
[[nodiscard]] const Family& family_of(const KernelConfig& config);

/// The parts of a caller's workspace: first the memory that the kernel overwrites, then its counters.
struct WorkspaceLayout {
    std::size_t bytes = 0;            ///< in all
    std::size_t counters = 0;         ///< bytes at the end that are counters
    std::size_t reduction_parts = 0;  ///< bytes before the parts of reductions, if there are any
};
[[nodiscard]] WorkspaceLayout workspace_layout(const Problem& problem, const KernelConfig& config);

}  // namespace jitgemm
