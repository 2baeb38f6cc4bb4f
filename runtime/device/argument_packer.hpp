#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/operand.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/argument_plan.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitgemm {

/// An ArgumentPlan and the one problem that it is used for.
class ArgumentPacker {
public:
    /// `row_major` is resolved and row-major in D. Throws ConfigError for more than kMaxArgumentBytes.
    ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major);
    /// `operands`: the spec's, and any further ones.
    ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major, const OperandList& operands);

    void pack(const KernelOperands& operands, Device& device, PackedArguments& packed) const {
        plan_.pack({row_major_, id_}, operands, device, packed);
    }
    [[nodiscard]] std::size_t bytes() const { return plan_.bytes(); }

private:
    ArgumentPlan plan_;
    GemmSpec row_major_;
    std::uint64_t id_;
};

/// The same at once, for who launches once.
[[nodiscard]] PackedArguments pack_arguments(std::span<const KernelArgument> arguments, const GemmSpec& row_major,
                                             const KernelOperands& operands, Device& device);

}  // namespace jitgemm
