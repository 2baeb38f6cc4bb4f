#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/kernel_config.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/sum_order.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A kernel family: everything the rest of the generator knows of it. Pure functions.
struct Family {
    std::string_view name;
    std::string_view name_in_kernels;  ///< what their names begin with: the family's, or a short form of it
    std::string_view summary;          ///< one line for --help and docs
    MathUnit math_unit = MathUnit::tensor_cores;
    MathInstruction math_instruction = MathInstruction::mma;  ///< of that unit
    /// Whether the heuristic may choose it for the problem unasked; unset: never, it is there to learn from.
    bool (*selected_by_default)(const Problem&) = nullptr;

    /// Reasons this family cannot serve the problem whatever the config; empty when it can.
    std::vector<std::string> (*unsupported)(const Problem&, const Arch&);
    /// Every config worth considering for the problem, unordered, constraints not yet applied.
    std::vector<KernelConfig> (*candidates)(const Problem&, const GpuModel&);
    /// All violated rules, each with its numbers.
    std::vector<std::string> (*violations)(const Problem&, const KernelConfig&, const Arch&);
    /// Why a config that breaks no rule is none to propose unasked (bank conflicts); each with its numbers.
    std::vector<std::string> (*discouraged)(const Problem&, const KernelConfig&);
    /// Whether no timing of such kernels went into cost(), so that what it says of them is a guess: the choice passes
    /// them over, unless nothing else has what is asked for, and leaves them to the tuner.
    bool (*is_untimed)(const KernelConfig&);
    SumOrder (*sum_order)(DataType operands, const KernelConfig&);
    KernelAnatomy (*anatomy)(const Problem&, const KernelConfig&);
    /// Predicted times of a config without violations; of others there may be nothing to compute.
    CostEstimate (*cost)(const Problem&, const KernelConfig&, const GpuModel&);
    /// What cost() takes from measurements of the most similar GPU, for who fits it to others; unset: nothing.
    CostConstants (*cost_constants)(const GpuModel&) = nullptr;
    /// cost() with other constants; unset where these are.
    CostByConstants (*cost_by_constants)(const Problem&, const KernelConfig&, const GpuModel&) = nullptr;

    /// The config's part of the kernel name: what differs from the family's published defaults.
    std::string (*config_name)(const KernelConfig&);
    KernelConfig (*parse_config_name)(std::string_view);
    std::vector<std::string_view> (*parameter_names)();
    ParameterMap (*parameters)(const KernelConfig&);
    std::string (*parameters_text)(const KernelConfig&);
    KernelConfig (*with_parameters)(const KernelConfig&, const ParameterMap&);

    std::string_view template_file;
    RenderInput (*render_input)(const GemmSignature&, const KernelConfig&);
    std::vector<KernelEntry> (*entries)(const GemmSignature&, const KernelConfig&);
    /// Bytes of workspace a launch needs; 0 for most kernels.
    std::int64_t (*workspace_bytes)(const Problem&, const KernelConfig&);
    /// And of counters, which are zeros when a kernel begins and zeros again when it ends.
    std::int64_t (*counter_bytes)(const Problem&, const KernelConfig&);
    /// Bytes of shared memory that a block asks for and does not use, so that it has its SM to itself; 0 for most
    /// kernels.
    std::int64_t (*pad_bytes)(const GemmSignature&, const KernelConfig&);
    ElementOwner (*owner)(const Problem&, const KernelConfig&, std::int64_t row, std::int64_t column);
};

[[nodiscard]] std::span<const Family> family_table();
/// Throws ConfigError naming the known families and the nearest one.
[[nodiscard]] const Family& find_family(std::string_view name);
[[nodiscard]] const Family& family_of(const KernelConfig& config);

/// What a caller's workspace holds: first what the kernel overwrites, then its counters.
struct WorkspaceLayout {
    std::size_t bytes = 0;     ///< in all
    std::size_t counters = 0;  ///< of these at the end
};
[[nodiscard]] WorkspaceLayout workspace_layout(const Problem& problem, const KernelConfig& config);

}  // namespace jitgemm
