#pragma once

#include "jitgemm/device_pointer.hpp"

#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// Whether a kernel may start before the previous kernel of its stream has ended (CUDA C++ Programming Guide,
/// "Programmatic Dependent Launch and Synchronization"). The kernel then waits for the previous one before it accesses
/// memory, except for operands that the spec calls constant. So the results are right after and before every other
/// kernel.
enum class DependentLaunch : std::uint8_t {
    automatic,  ///< yes, if the kernel was generated with dependent_launch=1
    off,        ///< no: it starts when the previous kernel has ended
    on,         ///< yes; SpecError if the kernel was generated with dependent_launch=0
};

/// Operands of one launch. Pointers are device addresses. C is read only if the spec has a C and beta is not 0.
struct GemmArguments {
    DevicePointer a{};
    DevicePointer b{};
    DevicePointer c{};
    DevicePointer d{};
    float alpha = 1.0F;
    float beta = 0.0F;
    /// Optional. Without it the context's own workspace for the stream serves. It must be aligned to 16 bytes, even if
    /// this kernel needs none: tuning may replace the kernel. It must not overlap A, B, C or D. Its contents after a
    /// launch are undefined.
    DevicePointer workspace{};
    std::size_t workspace_bytes = 0;
    DependentLaunch dependent_launch = DependentLaunch::automatic;
    /// Treat C as a bias: one row of n elements, added to every row of D (one column of m elements if D is
    /// column-major). If the spec has broadcast_c, every launch does this, and the kernel is chosen for it. Every other
    /// spec with a C allows it, too; ldc is ignored.
    bool broadcast_c = false;
};

}  // namespace jitgemm
