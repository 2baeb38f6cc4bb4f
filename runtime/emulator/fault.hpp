#pragma once

#include "jitgemm/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm::emulator {

enum class FaultKind : std::uint8_t {
    out_of_range,          ///< an access outside every buffer, or beyond a window
    misaligned,            ///< an address that is not a multiple of the access's alignment
    read_only,             ///< a store to constants or parameters
    guarded,               ///< an access to a range marked as a guard band
    never_written_shared,  ///< a read of shared memory that was never written
    never_written_global,  ///< a read of global memory that was not written since its contents became undefined
    never_written_register,
    before_wait,   ///< an access to memory that the previous kernel may still write or read
    second_store,  ///< a store of another value to a byte that must be stored once
    shared_race,   ///< two warps access a byte, one of them writes, and no barrier is between
    global_race,   ///< the same in global memory, where release and acquire order accesses, too
    /// An access to a byte that an asynchronous copy will still write, or a write to one that it will still read.
    copy_in_flight,
    barrier_divergence,   ///< only a part of a warp executes a barrier or a warp-wide instruction
    barrier_count,        ///< threads disagree on a barrier's count
    barrier_order,        ///< a warp's arrivals and waits at a cluster barrier do not alternate
    block_ended,          ///< an access to shared memory of a block that has ended, or may have ended
    mbarrier,             ///< an mbarrier that was not initialized, or whose counts leave their range
    tensor_map,           ///< bytes that are no tensor map, or a map of another rank than the instruction's
    proxy_fence,          ///< an asynchronous copy of data that was written without a proxy fence in between
    wgmma_registers,      ///< a use of registers of a wgmma in flight, or a wgmma without a wgmma.fence after one
    counters,             ///< a kernel leaves a workspace's counter other than zero
    illegal_instruction,  ///< an error that ends the kernel on a GPU
    deadlock,             ///< every warp waits
    trap,                 ///< the program's own trap
    unsupported,          ///< an error that only shows at run time
    work_limit,           ///< more work than the launch allows
};
[[nodiscard]] std::string_view to_string(FaultKind kind);

/// The program broke a rule. what() names block, thread, PTX line, source line and the buffer.
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

/// A fault with the facts that the detecting layer knows. The running warp adds the place and throws an EmulatorFault.
struct AccessFault {
    FaultKind kind;
    std::string text;
    int lane = -1;  ///< -1: the whole warp
};

}  // namespace jitgemm::emulator
