#pragma once

#include "jitgemm/device_pointer.hpp"

#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// Whether a launch may begin while the one before it in its stream ends (CUDA C++ Programming Guide, "Programmatic Dependent Launch and
/// Synchronization"). Kernels that may wait for it before they touch memory, but for operands that the spec calls constant, so that all are
/// right behind and before any launch.
enum class DependentLaunch : std::uint8_t {
    automatic,  ///< where the kernel was made for it: it was expected to be faster so
    off,        ///< it begins when the launch before has ended
    on,         ///< as automatic, but SpecError from a kernel that was not made for it
};

/// Operands of one launch. Pointers are device addresses; `c` is read only when the spec has C and beta is not 0.
struct GemmArguments {
    DevicePointer a{};
    DevicePointer b{};
    DevicePointer c{};
    DevicePointer d{};
    float alpha = 1.0F;
    float beta = 0.0F;
    /// Optional; else the context's own for that stream. Aligned to 16 bytes even where this kernel needs none: tuning
    /// may bring one that does. All its bytes lie apart from A, B, C and D. What a launch leaves in it is undefined.
    DevicePointer workspace{};
    std::size_t workspace_bytes = 0;
    DependentLaunch dependent_launch = DependentLaunch::automatic;
    /// C is one row that is added to each row of D, as a bias is (one column, where D is column-major): n (m) elements. Where the spec says
    /// so, each launch does, and the kernel is chosen for it; any other spec with C takes it as well, and its ldc counts for nothing.
    bool broadcast_c = false;
};

}  // namespace jitgemm
