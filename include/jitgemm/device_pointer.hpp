#pragma once

#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// A device address; converts from any pointer and from CUdeviceptr.
struct DevicePointer {
    std::uint64_t address = 0;
    constexpr DevicePointer() = default;
    constexpr DevicePointer(std::nullptr_t) {}
    constexpr DevicePointer(std::uint64_t value) : address(value) {}
    DevicePointer(const void* pointer) : address(reinterpret_cast<std::uintptr_t>(pointer)) {}
    constexpr explicit operator bool() const { return address != 0; }
    friend constexpr bool operator==(DevicePointer, DevicePointer) = default;
};

/// CUstream or cudaStream_t; null is the legacy default stream.
using Stream = void*;

}  // namespace jitgemm
