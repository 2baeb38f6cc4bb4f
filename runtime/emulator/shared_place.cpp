// Where an address of shared memory leads.

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {

using ptx::StateSpace;

int rank_of(Warp& warp, std::uint64_t address) {
    const std::uint64_t number = address >> kSharedRankShift;  // 0: plain
    const auto& blocks = warp.block().cluster().blocks();
    if (number > blocks.size()) {
        throw AccessFault{FaultKind::out_of_range,
                          fmt::format("address {:#x} is in no block's shared memory", address)};
    }
    return number == 0 ? warp.block().rank() : static_cast<int>(number) - 1;
}

std::uint64_t shared_offset(Warp& warp, std::uint64_t address) {
    if (const int rank = rank_of(warp, address); rank != warp.block().rank()) {
        const Block& owner = *warp.block().cluster().blocks()[static_cast<std::size_t>(rank)];
        throw AccessFault{FaultKind::out_of_range,
                          fmt::format("address {:#x} is in the shared memory of {}: .shared means .shared::cta, which "
                                      "is the block's own shared memory only",
                                      address, owner.name())};
    }
    return address & kSharedOffsetMask;
}

// It may be another block's by then.
void require_alive(const Warp& warp, const Block& owner, Access access) {
    if (!owner.has_ended() || !warp.launch().config.checks.bounds) return;
    throw AccessFault{FaultKind::block_ended, fmt::format("{} shared memory of {}, which has ended",
                                                          writes(access) ? "writes" : "reads", owner.name())};
}

SharedPlace shared_place(Warp& warp, StateSpace space, std::uint64_t address, Access access) {
    if (space == StateSpace::generic) {
        if (space_of(address) != StateSpace::shared) {
            throw AccessFault{FaultKind::out_of_range,
                              fmt::format("generic address {:#x} is not one of shared memory", address)};
        }
        address -= kSharedWindow;
    }
    if (space == StateSpace::shared) static_cast<void>(shared_offset(warp, address));
    Block& block = *warp.block().cluster().blocks()[static_cast<std::size_t>(rank_of(warp, address))];
    require_alive(warp, block, access);
    return {&block, static_cast<std::uint32_t>(address & kSharedOffsetMask)};
}

}  // namespace jitgemm::emulator
