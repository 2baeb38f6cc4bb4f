#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace jitgemm {

/// \file How long shared memory is busy with one instruction of a warp. It has 32 banks of 4 bytes and serves one word
/// of each bank per cycle: a *wavefront*. An instruction goes in phases of at most 128 bytes; within a phase
///   - lanes that want the same word share it: a load broadcasts it, of a store the bytes are merged (of two lanes that
///     write the same byte one wins), so neither costs more;
///   - different words of one bank are served one wavefront after the other: a bank conflict;
///   - inactive lanes (predicated off, out of the tile) want nothing; a phase without active lanes takes no time.
/// A phase is 32 lanes of up to 4 bytes each, 16 lanes of 8 bytes, 8 lanes of 16 bytes. ldmatrix and stmatrix take one
/// row of 16 bytes from each lane: 8 lanes, one matrix, are a phase. cp.async writes as st.shared does. A load of 8 or
/// 16 bytes takes twice as many lanes per phase where every active lane's neighbour, lane ^ 1 throughout or lane ^ 2
/// throughout, is inactive or wants the same address: then two lanes' data fill the place of one. Source: CUDA C++
/// Programming Guide, "Shared Memory" of compute capability 5.x and later (banks, broadcast); wide accesses go by half
/// and quarter warps. Joined phases: NVIDIA's answer in its forum (forums.developer.nvidia.com, "Unexpected shared
/// memory bank conflict", 77228); with inactive neighbours seen on an H200 (docs/emulator-counters.md). Unaligned
/// addresses, which the hardware refuses, are counted by the words they touch.

inline constexpr int kSharedBanks = 32;
inline constexpr int kBankBytes = 4;
inline constexpr int kWarpLanes = 32;
inline constexpr int kInactiveLane = -1;

/// The byte address in shared memory that each lane of a warp supplies; kInactiveLane for a lane without an access.
using LaneAddresses = std::array<int, kWarpLanes>;

/// The addresses as a function of the lane.
template <typename AddressOf>
[[nodiscard]] LaneAddresses lane_addresses(const AddressOf& address_of) {
    LaneAddresses addresses{};
    for (int lane = 0; lane < kWarpLanes; ++lane) addresses[static_cast<std::size_t>(lane)] = address_of(lane);
    return addresses;
}

/// Wavefronts of one instruction, and the least possible number: one per phase.
struct Wavefronts {
    int count = 0;
    int ideal = 0;
    friend bool operator==(const Wavefronts&, const Wavefronts&) = default;
};

/// ldmatrix or stmatrix of x = 1, 2 or 4 matrices: lanes from 8·x on are ignored, as the hardware does.
/// Throws std::invalid_argument for any other x.
[[nodiscard]] Wavefronts matrix_wavefronts(int x, const LaneAddresses& addresses);

/// st.shared or cp.async of 1, 2, 4, 8 or 16 bytes per lane. Throws std::invalid_argument for any other width.
[[nodiscard]] Wavefronts vector_wavefronts(int bytes, const LaneAddresses& addresses);

/// ld.shared of 1, 2, 4, 8 or 16 bytes per lane. Throws std::invalid_argument for any other width.
[[nodiscard]] Wavefronts load_wavefronts(int bytes, const LaneAddresses& addresses);

/// All instructions of one kind on shared memory that a kernel's block executes.
struct SharedAccess {
    std::string what;             ///< "ldmatrix A", "cp.async B", "epilogue load"
    std::string instruction;      ///< "ldmatrix.x4.trans", "cp.async of 16 bytes", "ld.shared of 16 bytes"
    bool in_mainloop = true;      ///< counts are per k-tile; else per tile of D
    int instructions = 0;         ///< of a block, each warp counted
    Wavefronts worst;             ///< of the slowest instruction
    std::int64_t wavefronts = 0;  ///< of all instructions
    std::int64_t ideal = 0;
    std::string reason;  ///< the reason for conflicts; empty if there are none
};

/// Adds an instruction that is executed `times` times. An instruction without active lanes adds nothing.
void add_instruction(SharedAccess& access, const Wavefronts& wavefronts, int times = 1);

/// The time of all accesses of the mainloop over their time without conflicts; 1 if there are none.
[[nodiscard]] double mainloop_slowdown(std::span<const SharedAccess> accesses);

}  // namespace jitgemm
