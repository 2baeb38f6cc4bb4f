#include "runtime/device/argument_packer.hpp"

namespace jitgemm {

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major)
    : plan_(arguments, gemm_operands(row_major, false)), row_major_(row_major), id_(new_problem_id()) {}

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major,
                               const OperandList& operands)
    : plan_(ArgumentPlan::of_one_problem(arguments, operands)), row_major_(row_major), id_(new_problem_id()) {}

PackedArguments pack_arguments(std::span<const KernelArgument> arguments, const GemmSpec& row_major,
                               const KernelOperands& operands, Device& device) {
    PackedArguments packed;
    ArgumentPacker(arguments, row_major).pack(operands, device, packed);
    return packed;
}

}  // namespace jitgemm
