#pragma once

#include "generator/base/operand.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace jitgemm {

/// Whether C is one row that is added to all of D's: the spec or the launch says so.
[[nodiscard]] inline bool broadcasts_c(const GemmSpec& spec, const GemmArguments& arguments) {
    return spec.broadcast_c || arguments.broadcast_c;
}

/// Every launch rule the arguments break: null or misaligned pointers, beta without C, D overlapping an input that is
/// read (it may be exactly C when types and leading dimensions agree), workspace too small. Empty when sound. `spec` is
/// resolved, of either D order. M or N of zero reads and writes nothing, so any pointer will do.
[[nodiscard]] std::vector<std::string> launch_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                                       std::size_t workspace_bytes);
/// The same with gemm_operands(spec) given: a kernel lists them once for all its launches.
[[nodiscard]] std::vector<std::string> launch_problems(const OperandList& operands, const GemmSpec& spec,
                                                       const GemmArguments& arguments, std::size_t workspace_bytes);
/// The rules for these operands alone: null and misaligned pointers, and forbidden overlaps.
[[nodiscard]] std::vector<std::string> operand_problems(const OperandList& operands, const GemmSpec& spec,
                                                        const GemmArguments& arguments);

/// Alignment a caller's workspace must have, bytes.
inline constexpr std::size_t kWorkspaceAlignment = 16;

}  // namespace jitgemm
