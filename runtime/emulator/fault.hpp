#pragma once

#include "jitgemm/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm::emulator {

enum class FaultKind : std::uint8_t {
    out_of_range,          ///< an access outside every buffer, or beyond a window
    misaligned,            ///< an address that is no multiple of what the access needs
    read_only,             ///< a store to constants or parameters
    guarded,               ///< an access to a range marked as a guard band
    never_written_shared,  ///< a read of shared memory nobody has written
    never_written_global,  ///< a read of global memory nobody has written since its contents were undefined
    never_written_register,
    before_wait,   ///< an access to memory that the launch before may still write, or read
    second_store,  ///< a store of something else to a byte that is to be stored once
    shared_race,   ///< two warps, one of them writing, with no barrier between
    global_race,   ///< the same in global memory, where release and acquire order them as well
    /// an access to a byte that an asynchronous copy has yet to write, or a write to one that it has yet to read
    copy_in_flight,
    barrier_divergence,   ///< a barrier or warp-wide instruction that part of a warp executes
    barrier_count,        ///< threads that disagree on how many a barrier is for
    barrier_order,        ///< a cluster barrier's arrivals and waits that do not alternate
    block_ended,          ///< shared memory of a block of the cluster that has ended, or may have
    mbarrier,             ///< an mbarrier that is none, or whose counts leave their range
    tensor_map,           ///< a tensor map that is none, or not of the instruction's rank
    proxy_fence,          ///< a copy of what was written without a proxy fence between
    wgmma_registers,      ///< a use of those that a wgmma has in flight, or a wgmma with no wgmma.fence after one
    counters,             ///< of a workspace, that a kernel leaves other than zero
    illegal_instruction,  ///< what makes a GPU end the kernel with that error
    deadlock,             ///< every warp waits
    trap,                 ///< the program's own trap
    unsupported,          ///< what only shows at run time
    work_limit,           ///< more work than the launch allows
};
[[nodiscard]] std::string_view to_string(FaultKind kind);

/// The program did something it must not; what() names block, thread, PTX line, source line and the buffer.
class EmulatorFault : public Error {
public:
    EmulatorFault(FaultKind kind, const std::string& text) : Error(text), kind_(kind) {}
    [[nodiscard]] FaultKind kind() const noexcept { return kind_; }

private:
    FaultKind kind_;
};

/// The caller's StopRequest ended the launch.
class EmulatorStopped : public Error {
public:
    EmulatorStopped() : Error("the emulated launch was stopped") {}
};

/// A fault as the layer that meets it knows it; the warp that runs adds where it happened and throws an EmulatorFault.
struct AccessFault {
    FaultKind kind;
    std::string text;
    int lane = -1;  ///< -1: the whole warp
};

}  // namespace jitgemm::emulator
