#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/kernel_config.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/device.hpp"
#include "runtime/emulator/launch.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace jitgemm {

/// How the emulator runs kernels: when asynchronous copies land, the order of blocks and warps, and the checks.
struct EmulatorMode {
    emulator::AsyncMode async_mode = emulator::AsyncMode::eager;
    std::uint64_t order_seed = 0;  ///< 0: blocks and warps in order; else shuffled
    emulator::Checks checks;
    int threads = 0;               ///< of the host; 0: one per core
    bool count = false;            ///< keep the counts of launches for take_counters()
    std::uint64_t work_limit = 0;  ///< lane-instructions of a launch; 0: as the limit of operations gives
};

/// The PTX emulator as a device. It has the architecture that the caller names. For everything that depends on a GPU's
/// size (the choice of a kernel, the estimate of its time) it is the first GPU of gpu_table() with that architecture:
/// "emulator (sm_80)" has an A100's 108 SMs. Memory is the host's, up to kEmulatedMemory bytes in all. All streams are
/// one: a launch has ended when launch() returns. Launches from several threads run in parallel. All methods throw
/// Error; launch() throws EmulatorFault for the findings of the checks, and EmulatorStopped.
class EmulatorDevice final : public Device {
public:
    /// `gflop_limit` limits the work of a launch, see emulated_work_limit(); 0: no limit. Throws ConfigError below 0.
    EmulatorDevice(const Arch& arch, double gflop_limit);

    [[nodiscard]] DeviceKind kind() const override { return DeviceKind::emulator; }
    [[nodiscard]] const GpuModel& model() const override { return model_; }
    [[nodiscard]] std::string name() const override { return model_.name; }
    [[nodiscard]] int ordinal() const override { return 0; }
    [[nodiscard]] int newest_cuda_major() const override {
        return 0;
    }  // it takes PTX of any NVRTC that the reader knows
    [[nodiscard]] std::size_t total_memory() const override { return memory_.capacity(); }
    [[nodiscard]] std::size_t free_memory() override { return memory_.capacity() - memory_.used(); }

    [[nodiscard]] DevicePointer allocate(std::size_t bytes) override;
    [[nodiscard]] DevicePointer allocate_zeroed(std::size_t bytes) override;
    void free(DevicePointer pointer) noexcept override;
    void copy_to_device(DevicePointer destination, const void* source, std::size_t bytes) override;
    void copy_to_host(void* destination, DevicePointer source, std::size_t bytes) override;
    void fill_bytes(DevicePointer destination, std::uint8_t value, std::size_t bytes) override;
    void name_memory(DevicePointer allocation, const std::string& name) override;
    void guard_memory(DevicePointer first, std::size_t bytes, const std::string& name) override;

    /// `binary` is PTX. Throws Error for PTX that the emulator cannot read, of a newer architecture than this device's,
    /// or without the entry, and if the entry needs more shared memory than a block has.
    [[nodiscard]] Function load(std::string_view binary, const KernelEntry& entry) override;
    /// By threads, shared memory and block slots: PTX does not fix a kernel's registers.
    [[nodiscard]] int blocks_per_sm(const Function& function, const LaunchShape& shape) override;
    [[nodiscard]] EncodedTensorMap encode_tensor_map(const TiledTensorMap& map) override;
    void zero(DevicePointer destination, std::size_t bytes, Stream /*stream*/) override {
        fill_bytes(destination, 0, bytes);
    }
    void launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                Stream stream) override;
    void synchronize(Stream /*stream*/) override {}

    /// From now on the contents of the range are undefined, as in new memory: a read of a byte before a kernel has
    /// written it is a fault. With `stored_once`, a store of another value to a byte that a kernel has stored is a
    /// fault, too.
    void undefine_memory(DevicePointer first, std::size_t bytes, bool stored_once);
    /// The number of bytes of the range that were not written since.
    [[nodiscard]] std::size_t unwritten_bytes(DevicePointer first, std::size_t bytes) const;
    /// Throws EmulatorFault if a kernel left one of the counters, of 4 bytes each, other than zero.
    void check_counters(DevicePointer first, std::size_t bytes);

    /// No launch that may still run writes the allocation that holds the address. Launches that begin early may then
    /// read it.
    void mark_constant(DevicePointer address) { memory_.mark_constant(address.address); }

    /// Sets the mode of all later launches.
    void set_mode(const EmulatorMode& mode);
    [[nodiscard]] EmulatorMode mode() const;
    /// It is called from several threads while launches run. True ends them with EmulatorStopped.
    void set_stop_request(emulator::StopRequest stop);
    /// The counts of launches since the last call.
    [[nodiscard]] emulator::Counters take_counters();
    [[nodiscard]] double gflop_limit() const { return gflop_limit_; }

private:
    struct LoadedProgram;
    [[nodiscard]] std::shared_ptr<LoadedProgram> program_of(std::string_view ptx);
    [[nodiscard]] emulator::LaunchConfig config_of(const LaunchShape& shape) const;

    GpuModel model_;
    double gflop_limit_;
    emulator::GlobalMemory memory_;
    mutable std::mutex mutex_;  // guards the members below
    EmulatorMode mode_;
    emulator::StopRequest stop_;
    emulator::Counters counters_;
    std::map<std::string, std::weak_ptr<LoadedProgram>> programs_;  // by hash of the PTX
};

/// While it lives, launches of this thread on any emulator end with EmulatorStopped once the flag is true.
class StopFlagScope {
public:
    explicit StopFlagScope(const std::atomic<bool>& flag);
    StopFlagScope(const StopFlagScope&) = delete;
    StopFlagScope& operator=(const StopFlagScope&) = delete;
    ~StopFlagScope();

private:
    const std::atomic<bool>* outer_;
};

inline constexpr std::size_t kEmulatedMemory = std::size_t{4} << 30;

/// The device of a context as the emulator, or null for another device.
[[nodiscard]] EmulatorDevice* as_emulator(Device& device);

/// Lane-instructions that a launch may take under a limit in 10^9 floating-point operations: as many as operations,
/// plus 10^9 for small problems. A kernel that does not end meets it. A kernel within the limit never does, because an
/// instruction of a lane does ten operations or more.
[[nodiscard]] std::uint64_t emulated_work_limit(double gflop_limit);

/// Operations of a launch in whole block tiles: 2·m·n·k with each extent rounded up.
[[nodiscard]] double padded_flops(const Problem& problem, const KernelConfig& config);

/// Throws ConfigError with limit and estimate if 2·m·n·k exceeds the limit, before anything is compiled or allocated.
/// With a chosen kernel, its whole tiles count.
void require_emulable(const GemmSpec& spec, double gflop_limit);
void require_emulable(const Problem& problem, const KernelConfig& config, double gflop_limit);

}  // namespace jitgemm
