#pragma once

#include "jitgemm/device_pointer.hpp"

#include <cstddef>
#include <memory>

namespace jitgemm {

/// Device memory owned by a context's device; freed with the object.
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    DeviceBuffer(DeviceBuffer&&) noexcept;
    DeviceBuffer& operator=(DeviceBuffer&&) noexcept;
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer();

    [[nodiscard]] DevicePointer data() const { return data_; }
    [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
    void copy_from_host(const void* source, std::size_t bytes, std::size_t offset = 0);
    void copy_to_host(void* destination, std::size_t bytes, std::size_t offset = 0) const;

private:
    friend class Context;
    struct Owner;
    DeviceBuffer(std::shared_ptr<Owner> owner, DevicePointer data, std::size_t bytes);
    std::shared_ptr<Owner> owner_;
    DevicePointer data_;
    std::size_t bytes_ = 0;
};

}  // namespace jitgemm
