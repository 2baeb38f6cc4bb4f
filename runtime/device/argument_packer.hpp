#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "runtime/device/argument_plan.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitgemm {

/// An ArgumentPlan and the one problem that it is used for.
class ArgumentPacker {
public:
    /// Throws ConfigError for more than kMaxArgumentBytes.
    ArgumentPacker(std::span<const KernelArgument> arguments, const Problem& problem);
    /// `operands` holds the operands of Problem::row_major, and any further ones.
    ArgumentPacker(std::span<const KernelArgument> arguments, const Problem& problem, const OperandList& operands);

    void pack(const KernelOperands& operands, Device& device, PackedArguments& packed) const {
        plan_.pack({problem_, id_}, operands, device, packed);
    }
    [[nodiscard]] std::size_t bytes() const { return plan_.bytes(); }

private:
    ArgumentPlan plan_;
    Problem problem_;
    std::uint64_t id_;
};

/// Makes a packer and packs once.
[[nodiscard]] PackedArguments pack_arguments(std::span<const KernelArgument> arguments, const Problem& problem,
                                             const KernelOperands& operands, Device& device);

}  // namespace jitgemm
