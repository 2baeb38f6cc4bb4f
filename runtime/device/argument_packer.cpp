#include "runtime/device/argument_packer.hpp"

namespace jitgemm {

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const Problem& problem)
    : plan_(arguments, kernel_operands(problem.row_major())), problem_(problem), id_(new_problem_id()) {}

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const Problem& problem,
                               const OperandList& operands)
    : plan_(ArgumentPlan::of_one_problem(arguments, operands)), problem_(problem), id_(new_problem_id()) {}

PackedArguments pack_arguments(std::span<const KernelArgument> arguments, const Problem& problem,
                               const KernelOperands& operands, Device& device) {
    PackedArguments packed;
    ArgumentPacker(arguments, problem).pack(operands, device, packed);
    return packed;
}

}  // namespace jitgemm
