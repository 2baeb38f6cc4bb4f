#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/kernel_entry.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/options.hpp"
#include "runtime/device/device_name.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// A module loaded on a device; unloaded with the object.
class Module {
public:
    virtual ~Module() = default;
};

/// One launchable function of a module. Its dynamic shared memory is granted.
struct Function {
    void* handle = nullptr;          ///< CUfunction for CUDA
    std::shared_ptr<Module> module;  ///< stays loaded as long as the function
};

struct LaunchShape {
    std::int64_t blocks = 0;  ///< along x
    int threads = 0;
    int shared_bytes = 0;
    std::array<int, 3> cluster{1, 1, 1};
    bool programmatic = false;  ///< KernelEntry::programmatic_launch
    ProblemGrid problems{};     ///< blocks along y and z
};

/// Rows of bytes. They are equally far apart on the device and in host memory.
struct MemoryRows {
    std::size_t count = 0;
    std::size_t bytes = 0;  ///< of each row
    std::size_t pitch = 0;  ///< from one row to the next

    [[nodiscard]] bool are_one_run() const { return count <= 1 || bytes == pitch; }
};

/// Identifies a stream and its capture among all others, also past ones: handles are used again, and identities are
/// not.
struct StreamIdentity {
    std::uint64_t stream = 0;
    std::uint64_t capture = 0;  ///< of the capture that records the stream; 0: none
    friend bool operator==(const StreamIdentity&, const StreamIdentity&) = default;
};

/// A device that runs kernels: a GPU (CudaDevice) or the emulator (EmulatorDevice). Every call leaves the calling
/// thread's current CUcontext as it was. A GPU's methods throw CudaError. The emulator's throw Error, and EmulatorFault
/// for the findings of its checks.
class Device {
public:
    virtual ~Device() = default;

    /// Decides what is compiled for the device: a cubin for CUDA, PTX for the emulator.
    [[nodiscard]] virtual DeviceKind kind() const { return DeviceKind::cuda; }
    [[nodiscard]] virtual const GpuModel& model() const = 0;
    [[nodiscard]] virtual std::string name() const = 0;  ///< marketing name
    [[nodiscard]] virtual int ordinal() const = 0;
    [[nodiscard]] virtual int newest_cuda_major() const = 0;  ///< largest CUDA major whose cubins it loads; 0: any
    [[nodiscard]] virtual std::size_t total_memory() const = 0;
    [[nodiscard]] virtual std::size_t free_memory() = 0;

    [[nodiscard]] virtual DevicePointer allocate(std::size_t bytes) = 0;
    /// The memory holds zeros. The call waits for no stream of the caller, because one of them may be recording a
    /// graph.
    [[nodiscard]] virtual DevicePointer allocate_zeroed(std::size_t bytes) = 0;
    virtual void free(DevicePointer pointer) noexcept = 0;
    /// Copies and fills are complete on return, whatever stream uses the memory next. They run after earlier work of
    /// the default stream.
    virtual void copy_to_device(DevicePointer destination, const void* source, std::size_t bytes) = 0;
    virtual void copy_to_host(void* destination, DevicePointer source, std::size_t bytes) = 0;
    virtual void fill_bytes(DevicePointer destination, std::uint8_t value, std::size_t bytes) = 0;
    /// The same for rows. The gaps between them are neither read nor written.
    virtual void copy_rows_to_device(DevicePointer destination, const void* source, const MemoryRows& rows);
    virtual void copy_rows_to_host(void* destination, DevicePointer source, const MemoryRows& rows);

    /// The name of an allocation in messages, for devices that have such messages.
    virtual void name_memory(DevicePointer /*allocation*/, const std::string& /*name*/) {}
    /// From now on kernels must not touch this range. A device that sees every access reports a violation at once.
    virtual void guard_memory(DevicePointer /*first*/, std::size_t /*bytes*/, const std::string& /*name*/) {}

    [[nodiscard]] virtual Function load(std::string_view binary, const KernelEntry& entry) = 0;
    [[nodiscard]] virtual int blocks_per_sm(const Function& function, const LaunchShape& shape) = 0;
    /// Clusters of this shape that are resident at once, with one block per SM.
    [[nodiscard]] virtual int resident_clusters(const Function& /*function*/, const LaunchShape& shape) {
        return jitgemm::resident_clusters(model(), cluster_blocks(shape.cluster));
    }
    /// The map in the form that kernels of this device take. Throws if the device has no tensor maps.
    [[nodiscard]] virtual EncodedTensorMap encode_tensor_map(const TiledTensorMap& map) = 0;
    /// Enqueues the writing of zeros.
    virtual void zero(DevicePointer destination, std::size_t bytes, Stream stream) = 0;
    /// Enqueues; `arguments` is the packed argument struct (ArgumentPacker).
    virtual void launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                        Stream stream) = 0;
    virtual void synchronize(Stream stream) = 0;

    [[nodiscard]] virtual StreamIdentity identify(Stream stream) {
        return {reinterpret_cast<std::uintptr_t>(stream), 0};
    }
    /// Keeps the object alive as long as the graph into which `stream` is captured, and all instances of the graph.
    // NOLINTNEXTLINE(performance-unnecessary-value-param): those that override it keep the object
    virtual void keep_with_capture(Stream /*stream*/, std::shared_ptr<const void> /*object*/) {}
};

/// The device of `options.device`. Throws SpecError for an unknown name, and CudaError with the names that were tried
/// if there is no driver or no such GPU.
[[nodiscard]] std::shared_ptr<Device> open_device(const Options& options);

}  // namespace jitgemm
