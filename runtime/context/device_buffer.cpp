#include "jitgemm/device_buffer.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "runtime/context/context_state.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace jitgemm {

/// Keeps the device, and through it the CUDA context, as long as memory of it is held.
struct DeviceBuffer::Owner {
    std::shared_ptr<Device> device;
    unsigned generation = process_generation();  ///< of the process that made it
};

namespace {

void check_range(std::size_t bytes, std::size_t offset, std::size_t size) {
    if (offset <= size && bytes <= size - offset) return;
    throw Error(fmt::format("copy of {} bytes at offset {} leaves the buffer of {} bytes", bytes, offset, size));
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::shared_ptr<Owner> owner, DevicePointer data, std::size_t bytes)
    : owner_(std::move(owner)), data_(data), bytes_(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : owner_(std::move(other.owner_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

DeviceBuffer::~DeviceBuffer() {
    if (owner_ == nullptr) return;
    if (owner_->generation == process_generation())
        owner_->device->free(data_);
    else
        static_cast<void>(new (std::nothrow)
                              std::shared_ptr<Owner>(std::move(owner_)));  // a fork can't give its parent's device back
}

void DeviceBuffer::copy_from_host(const void* source, std::size_t bytes, std::size_t offset) {
    check_range(bytes, offset, bytes_);
    if (bytes != 0) owner_->device->copy_to_device(data_.address + offset, source, bytes);
}

void DeviceBuffer::copy_to_host(void* destination, std::size_t bytes, std::size_t offset) const {
    check_range(bytes, offset, bytes_);
    if (bytes != 0) owner_->device->copy_to_host(destination, data_.address + offset, bytes);
}

DeviceBuffer Context::allocate(std::size_t bytes) {
    auto owner = std::make_shared<DeviceBuffer::Owner>(DeviceBuffer::Owner{.device = state_of(*this).device});
    return {std::move(owner), state_of(*this).device->allocate(bytes), bytes};
}

}  // namespace jitgemm
