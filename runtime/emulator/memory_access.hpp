#pragma once

#include "runtime/emulator/shared_memory.hpp"
#include "runtime/emulator/traffic.hpp"
#include "runtime/emulator/warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace jitgemm::emulator {

/// Where the bytes of each lane lie on the host; null for a lane whose access is out of range while that check is off.
using LanePointers = std::array<std::byte*, kLanes>;

/// One access of a warp: `bytes` of each lane at `addresses`, which are of `space`.
struct WarpAccess {
    ptx::StateSpace space = ptx::StateSpace::generic;
    Access access = Access::read;
    std::uint32_t bytes = 0;
    LaneAddresses addresses{};
    bool matrix_rows =
        false;      ///< of ldmatrix or stmatrix: an address is a row of 8 · 16 bits, not what a lane loads or stores
    Mask once = 0;  ///< resolve() fills it: lanes that store where a second store must bring the same, see put()
};

/// Checks the access, counts it for the current instruction, and says where its bytes are. Throws AccessFault and
/// EmulatorFault.
[[nodiscard]] LanePointers resolve(Warp& warp, WarpAccess& access, Mask mask);

/// Puts a lane's value of a store where it belongs. Throws AccessFault where a byte was stored before, is to be stored
/// once, and held something else.
void put(Warp& warp, const WarpAccess& access, std::size_t lane, std::byte* place, const std::byte* value);

/// [base + displacement] of an instruction: value `index` is the base, a word or a doubleword.
[[nodiscard]] LaneAddresses lane_addresses(const Warp& warp, const Instruction& instruction, std::size_t index);
[[nodiscard]] LaneAddresses lane_addresses(const Warp& warp, const Value& base, std::int64_t displacement);

/// Rank in the cluster of the block whose memory an address of .shared::cluster is in; a plain one is the warp's own.
/// Throws AccessFault where there is no such block.
[[nodiscard]] int rank_of(Warp& warp, std::uint64_t address);

/// Offset in the block's shared memory of an address of .shared. Throws AccessFault for another block's.
[[nodiscard]] std::uint64_t shared_offset(Warp& warp, std::uint64_t address);

/// A place in the shared memory of a block of the cluster.
struct SharedPlace {
    Block* block = nullptr;
    std::uint32_t offset = 0;
};
/// Where an address of .shared, of .shared::cluster or a generic one leads. Throws AccessFault where that is no shared
/// memory, or that of a block that has ended.
[[nodiscard]] SharedPlace shared_place(Warp& warp, ptx::StateSpace space, std::uint64_t address, Access access);

/// Throws AccessFault where the block has ended: what its memory holds then is nobody's to read.
void require_alive(const Warp& warp, const Block& owner, Access access);

/// Where bytes of global memory are on the host.
struct GlobalPlace {
    std::byte* host = nullptr;  ///< null: out of range, while that is not checked
    bool once = false;          ///< a store goes through put_once()
};
/// One end of a copy in global memory: checked, not counted. Throws AccessFault.
[[nodiscard]] GlobalPlace resolve_global(Warp& warp, std::uint64_t address, std::uint32_t bytes,
                                         std::uint32_t alignment, Access access);
/// Stores where a second store must bring what is there; throws AccessFault where it does not.
void put_once(const LaunchContext& launch, DeviceAddress address, std::byte* place, std::span<const std::byte> value);

}  // namespace jitgemm::emulator
