#pragma once

#include "jitgemm/device_pointer.hpp"

#include <cstddef>

namespace jitgemm {

/// Operands of one launch. Pointers are device addresses; `c` is read only when the spec has C and beta is not 0.
struct GemmArguments {
    DevicePointer a{};
    DevicePointer b{};
    DevicePointer c{};
    DevicePointer d{};
    float alpha = 1.0F;
    float beta = 0.0F;
    DevicePointer workspace{};  ///< optional; else the context's own for that stream
    std::size_t workspace_bytes = 0;
};

}  // namespace jitgemm
