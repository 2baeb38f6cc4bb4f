#pragma once

#include "jitgemm/device_pointer.hpp"
#include "runtime/cuda/cuda_context.hpp"
#include "runtime/device/device.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace jitgemm {

/// A CUDA device through one context of it.
class CudaDevice final : public Device {
public:
    explicit CudaDevice(std::shared_ptr<const CudaContext> context);

    [[nodiscard]] const CudaContext& context() const { return *context_; }

    [[nodiscard]] const GpuModel& model() const override { return model_; }
    [[nodiscard]] std::string name() const override { return model_.name; }
    [[nodiscard]] int ordinal() const override { return context_->device(); }
    [[nodiscard]] int newest_cuda_major() const override { return api_.version / 10; }
    [[nodiscard]] std::size_t total_memory() const override;
    [[nodiscard]] std::size_t free_memory() override;

    [[nodiscard]] DevicePointer allocate(std::size_t bytes) override;
    [[nodiscard]] DevicePointer allocate_zeroed(std::size_t bytes) override;
    void free(DevicePointer pointer) noexcept override;
    void copy_to_device(DevicePointer destination, const void* source, std::size_t bytes) override;
    void copy_to_host(void* destination, DevicePointer source, std::size_t bytes) override;
    void copy_rows_to_device(DevicePointer destination, const void* source, const MemoryRows& rows) override;
    void copy_rows_to_host(void* destination, DevicePointer source, const MemoryRows& rows) override;
    void fill_bytes(DevicePointer destination, std::uint8_t value, std::size_t bytes) override;

    [[nodiscard]] Function load(std::string_view binary, const KernelEntry& entry) override;
    [[nodiscard]] int blocks_per_sm(const Function& function, const LaunchShape& shape) override;
    [[nodiscard]] int resident_clusters(const Function& function, const LaunchShape& shape) override;
    [[nodiscard]] EncodedTensorMap encode_tensor_map(const TiledTensorMap& map) override;
    void zero(DevicePointer destination, std::size_t bytes, Stream stream) override;
    void launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                Stream stream) override;
    void synchronize(Stream stream) override;

    [[nodiscard]] StreamIdentity identify(Stream stream) override;
    void keep_with_capture(Stream stream, std::shared_ptr<const void> object) override;

private:
    [[nodiscard]] CUresult enqueue(const Function& function, const LaunchShape& shape, void** parameters,
                                   CUstream stream) const;
    [[noreturn]] void throw_out_of_memory(std::size_t bytes);

    const DriverApi& api_;
    std::shared_ptr<const CudaContext> context_;
    GpuModel model_;
};

/// The GPU of this number through its primary context. Without a number, the calling thread's current context or the
/// first GPU. Throws CudaError with the names that were tried if there is no driver or no such device.
[[nodiscard]] std::shared_ptr<Device> open_cuda_device(std::optional<int> ordinal);

}  // namespace jitgemm
