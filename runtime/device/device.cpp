#include "runtime/device/device.hpp"

namespace jitgemm {

void Device::copy_rows_to_device(DevicePointer destination, const void* source, const MemoryRows& rows) {
    if (rows.are_one_run()) return copy_to_device(destination, source, rows.count * rows.bytes);
    for (std::size_t i = 0; i < rows.count; ++i)
        copy_to_device(destination.address + i * rows.pitch, static_cast<const std::byte*>(source) + i * rows.pitch,
                       rows.bytes);
}

void Device::copy_rows_to_host(void* destination, DevicePointer source, const MemoryRows& rows) {
    if (rows.are_one_run()) return copy_to_host(destination, source, rows.count * rows.bytes);
    for (std::size_t i = 0; i < rows.count; ++i)
        copy_to_host(static_cast<std::byte*>(destination) + i * rows.pitch, source.address + i * rows.pitch,
                     rows.bytes);
}

}  // namespace jitgemm
