#include "runtime/emulator/strong_access.hpp"

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace jitgemm::emulator {

StrongAccess::StrongAccess(Warp& warp, const MemoryOrder& how, ptx::StateSpace space, bool strong)
    : warp_(warp), how_(how) {
    const bool may_be_global = space == ptx::StateSpace::generic || space == ptx::StateSpace::global;
    if (!strong || !may_be_global || !warp.launch().config.checks.races) return;
    order_ = &warp.block().cluster().global_order();
    lock_ = order_->words().lock();
}

void StrongAccess::for_global(const WarpAccess& access, Mask mask, const auto& function) const {
    if (order_ == nullptr) return;
    const bool generic = access.space == ptx::StateSpace::generic;
    for_each_bit(mask, [&](std::size_t lane) {
        if (!generic || space_of(access.addresses[lane]) == ptx::StateSpace::global) function(lane);
    });
}

void StrongAccess::load(const WarpAccess& access, Mask mask, LanePointers& pointers) {
    for_global(access, mask, [&](std::size_t lane) {
        const std::uint64_t* before = order_->load(warp_.number(), access.addresses[lane], how_);
        if (before != nullptr && pointers[lane] != nullptr)
            pointers[lane] = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(before));  // only read through
    });
}

void StrongAccess::store(const WarpAccess& access, Mask mask, const LanePointers& pointers) {
    for_global(access, mask, [&](std::size_t lane) {
        std::uint64_t before = 0;
        if (pointers[lane] != nullptr) std::memcpy(&before, pointers[lane], std::min<std::size_t>(access.bytes, 8));
        order_->store(warp_.number(), access.addresses[lane], how_, before);
    });
}

void StrongAccess::update(const WarpAccess& access, std::size_t lane, std::uint64_t before, bool writes) {
    for_global(access, Mask{1} << lane, [&](std::size_t) {
        order_->acquire(warp_.number(), access.addresses[lane], how_);
        if (writes) order_->update(warp_.number(), access.addresses[lane], how_, before);
    });
}

void follow_global(const Warp& warp, const Buffer& buffer, std::size_t first, std::uint32_t bytes, Access access) {
    const GlobalOrder& order = warp.block().cluster().global_order();
    const bool strong = is_strong(access);
    // Weak stores beside each other are left to the check of second stores: kernels may store the same twice.
    const GlobalWrite race = buffer.writes->find_bad(first, bytes, [&](const GlobalWrite& write) {
        const bool beside = write.strong == strong && (strong || !reads(access));
        return beside || order.ordered(warp.number(), write.warp, write.time);
    });
    if (race.time != 0) {
        throw AccessFault{
            FaultKind::global_race,
            fmt::format("{} {} bytes of global memory, written by {} with nothing that orders the two: no "
                        "barrier, or no release and acquire of one word, lies between; they are at {}",
                        writes(access) ? "writes" : "reads", bytes, warp.block().cluster().name_in_launch(race.warp),
                        warp.launch().memory.describe(buffer.address + first))};
    }
    if (writes(access))
        buffer.writes->note(first, bytes,
                            {order.number_in_launch(warp.number()), warp.block().cluster().order().now(), strong});
}

}  // namespace jitgemm::emulator
