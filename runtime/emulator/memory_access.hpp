#pragma once

#include "runtime/emulator/shared_memory.hpp"
#include "runtime/emulator/traffic.hpp"
#include "runtime/emulator/warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace jitgemm::emulator {

/// The host address of each lane's bytes; null for a lane whose access is out of range while that check is off.
using LanePointers = std::array<std::byte*, kLanes>;

/// One access of a warp: `bytes` of each lane at `addresses` in `space`.
struct WarpAccess {
    ptx::StateSpace space = ptx::StateSpace::generic;
    Access access = Access::read;
    std::uint32_t bytes = 0;
    LaneAddresses addresses{};
    bool matrix_rows = false;  ///< of ldmatrix or stmatrix: an address is a row of 8 · 16 bits, not a lane's own data
    Mask once = 0;             ///< set by resolve(): lanes whose second store must bring the same value, see put()
};

/// Checks the access, counts it for the current instruction, and returns the places of its bytes. Throws AccessFault
/// and EmulatorFault.
[[nodiscard]] LanePointers resolve(Warp& warp, WarpAccess& access, Mask mask);

/// Stores a lane's value at its place. Throws AccessFault if a byte must be stored once and was stored with another
/// value.
void put(Warp& warp, const WarpAccess& access, std::size_t lane, std::byte* place, const std::byte* value);

/// [base + displacement] of an instruction: value `index` is the base, a word or a doubleword.
[[nodiscard]] LaneAddresses lane_addresses(const Warp& warp, const Instruction& instruction, std::size_t index);
[[nodiscard]] LaneAddresses lane_addresses(const Warp& warp, const Value& base, std::int64_t displacement);

/// The rank of the block whose memory holds an address of .shared::cluster. A plain address is the warp's own. Throws
/// AccessFault if there is no such block.
[[nodiscard]] int rank_of(Warp& warp, std::uint64_t address);

/// The offset in the block's shared memory of an address of .shared. Throws AccessFault for another block's.
[[nodiscard]] std::uint64_t shared_offset(Warp& warp, std::uint64_t address);

/// A place in the shared memory of a block of the cluster.
struct SharedPlace {
    Block* block = nullptr;
    std::uint32_t offset = 0;
};
/// The place of an address of .shared, of .shared::cluster or of a generic one. Throws AccessFault if it is not in
/// shared memory, or if its block has ended.
[[nodiscard]] SharedPlace shared_place(Warp& warp, ptx::StateSpace space, std::uint64_t address, Access access);

/// Throws AccessFault if the block has ended: its memory is then undefined.
void require_alive(const Warp& warp, const Block& owner, Access access);

/// The place of bytes of global memory on the host.
struct GlobalPlace {
    std::byte* host = nullptr;  ///< null: out of range while that check is off
    bool once = false;          ///< a store goes through put_once()
};
/// One end of a copy in global memory. It is checked and not counted. Throws AccessFault.
[[nodiscard]] GlobalPlace resolve_global(Warp& warp, std::uint64_t address, std::uint32_t bytes,
                                         std::uint32_t alignment, Access access);
/// Stores bytes for which a second store must bring the same value. Throws AccessFault if it does not.
void put_once(const LaunchContext& launch, DeviceAddress address, std::byte* place, std::span<const std::byte> value);

}  // namespace jitgemm::emulator
