#pragma once

#include "generator/base/kernel_source.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/device/device.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// The argument struct of an entry as the kernel sees it: fields in order, each at its natural alignment, host byte
/// order.
struct PackedArguments {
    std::array<std::byte, 256> bytes{};
    std::size_t size = 0;  ///< padding at the end included, as sizeof has it
    [[nodiscard]] std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

/// Values for every role. `spec` is resolved and row-major in D; pointers already traded if D was column-major.
/// alpha = 0 passes k = 0, so that neither A nor B is read (BLAS).
[[nodiscard]] PackedArguments pack_arguments(std::span<const KernelArgument> layout, const GemmSpec& spec,
                                             const GemmArguments& arguments);

/// sizeof the struct pack_arguments fills.
[[nodiscard]] std::size_t argument_struct_bytes(std::span<const KernelArgument> layout);

/// Every launch rule the arguments break: null or misaligned pointers, beta without C, D overlapping an input that is
/// read (it may be exactly C when types and leading dimensions agree), workspace too small. Empty when sound. `spec` is
/// resolved, of either D order. M or N of zero reads and writes nothing, so any pointer will do.
[[nodiscard]] std::vector<std::string> launch_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                                       std::size_t workspace_bytes);

/// Alignment a caller's workspace must have, bytes.
inline constexpr std::size_t kWorkspaceAlignment = 16;

}  // namespace jitgemm
