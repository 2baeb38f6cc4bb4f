#include "runtime/emulator/memory_access.hpp"

#include "runtime/emulator/address_space.hpp"
#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/strong_access.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace jitgemm::emulator {
namespace {

using ptx::StateSpace;

void require_aligned(StateSpace space, std::uint64_t address, std::uint32_t alignment) {
    if (address % alignment == 0) return;
    throw AccessFault{FaultKind::misaligned,
                      fmt::format("{} address {:#x} is no multiple of {}", to_string(space), address, alignment)};
}

/// The buffer of the access before is tried first. Null where there is none and that is not checked.
const Buffer* global_buffer(Warp& warp, std::uint64_t address, std::uint32_t bytes, Access access) {
    const Buffer*& buffer = warp.last_buffer();
    if (buffer != nullptr && buffer->contains(address, bytes)) return buffer;
    const MemoryMap& memory = warp.launch().memory;
    if (const Buffer* found = memory.find(address, bytes)) return buffer = found;
    if (!warp.launch().config.checks.bounds) return nullptr;
    throw AccessFault{FaultKind::out_of_range,
                      fmt::format("{} {} bytes of global memory at {}", writes(access) ? "writes" : "reads", bytes,
                                  memory.describe(address))};
}

void require_allowed(Warp& warp, const Buffer& buffer, std::uint64_t address, std::uint32_t bytes, Access access) {
    const MemoryMap& memory = warp.launch().memory;
    if (const Guard* guard = memory.find_guard(address, bytes)) {
        throw AccessFault{FaultKind::guarded, fmt::format("{} {} bytes in {}, {}", writes(access) ? "writes" : "reads",
                                                          bytes, guard->name, memory.describe(address))};
    }
    if (buffer.read_only && writes(access)) {
        throw AccessFault{FaultKind::read_only, fmt::format("writes to constant {}", memory.describe(address))};
    }
}

void require_global_written(Warp& warp, const Buffer& buffer, std::uint64_t address, std::uint32_t bytes) {
    const std::size_t first = address - buffer.address;
    if (!warp.launch().config.checks.global_written || buffer.written->all(first, bytes)) return;
    std::uint32_t leading = 0;
    while (buffer.written->all(first, leading + 1)) ++leading;
    throw AccessFault{
        FaultKind::never_written_global,
        fmt::format("reads {} bytes of global memory: {} of them were never written, the first at {}", bytes,
                    buffer.written->missing(first, bytes), warp.launch().memory.describe(address + leading))};
}

/// No access is allowed before the previous launch has ended, since that launch may still write or read the buffer. A
/// buffer that no launch writes may be read.
void require_waited(const Warp& warp, const Buffer& buffer, std::uint64_t address, std::uint32_t bytes, Access access) {
    const LaunchConfig& config = warp.launch().config;
    if (!config.programmatic || warp.waited_on_grids() || !config.checks.grid_dependency) return;
    if (!writes(access) && (buffer.constant || buffer.read_only)) return;
    throw AccessFault{FaultKind::before_wait,
                      fmt::format("{} {} bytes before griddepcontrol.wait, which the previous kernel may still {}, {}",
                                  writes(access) ? "writes" : "reads", bytes, writes(access) ? "read" : "write",
                                  warp.launch().memory.describe(address))};
}

bool is_plain_store(Access access) { return access == Access::write || access == Access::strong_write; }

GlobalPlace global_place(Warp& warp, std::uint64_t address, std::uint32_t bytes, Access access) {
    const Buffer* buffer = global_buffer(warp, address, bytes, access);
    if (buffer == nullptr) return {};
    require_allowed(warp, *buffer, address, bytes, access);
    require_waited(warp, *buffer, address, bytes, access);
    const std::size_t first = address - buffer->address;
    if (buffer->writes != nullptr && warp.launch().config.checks.races)
        follow_global(warp, *buffer, first, bytes, access);
    GlobalPlace place{.host = buffer->host + first};
    if (buffer->written == nullptr) return place;
    if (reads(access)) require_global_written(warp, *buffer, address, bytes);
    place.once = buffer->stored != nullptr && is_plain_store(access);
    if (writes(access) && !place.once) buffer->written->mark(first, bytes);
    return place;
}

void resolve_global_lanes(Warp& warp, WarpAccess& access, Mask mask, LanePointers& pointers) {
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        require_aligned(StateSpace::global, access.addresses[lane], access.bytes);
        const GlobalPlace place = global_place(warp, access.addresses[lane], access.bytes, access.access);
        pointers[lane] = place.host;
        if (place.once) access.once |= Mask{1} << lane;
    });
    Tally& tally = warp.tally();
    const std::uint64_t bytes = access.bytes * static_cast<std::uint64_t>(std::popcount(mask));
    if (reads(access.access)) tally.global_read_bytes += bytes;
    if (writes(access.access)) tally.global_written_bytes += bytes;
    const auto sectors = static_cast<std::uint64_t>(count_sectors(access.addresses, mask, access.bytes));
    tally.sectors += sectors;
    tally.l2_sectors += sectors;
}

/// Offsets in one block's shared memory: the warp's own or a peer's.
void resolve_offsets(Warp& warp, SharedMemory& shared, const WarpAccess& access, Mask mask, LanePointers& pointers) {
    const Accessor who{warp.number(), warp.current().index};
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        const std::uint64_t offset = access.addresses[lane];
        if (!shared.in_range(offset, access.bytes, access.bytes)) return;
        shared.touch(who, static_cast<std::uint32_t>(offset), access.bytes, access.access);
        pointers[lane] = shared.at(static_cast<std::uint32_t>(offset));
    });
    const bool load = !access.matrix_rows && !writes(access.access);
    const Wavefronts wavefronts = load ? count_load_wavefronts(access.addresses, mask, access.bytes)
                                       : count_wavefronts(access.addresses, mask, access.bytes);
    warp.tally().wavefronts += static_cast<std::uint64_t>(wavefronts.actual);
    warp.tally().ideal_wavefronts += static_cast<std::uint64_t>(wavefronts.ideal);
}

void resolve_shared_lanes(Warp& warp, WarpAccess& access, Mask mask, LanePointers& pointers) {
    for_each_bit(mask, [&](std::size_t lane) {
        if (access.addresses[lane] <= kSharedOffsetMask) return;
        warp.at_lane(static_cast<int>(lane));
        access.addresses[lane] = shared_offset(warp, access.addresses[lane]);
    });
    resolve_offsets(warp, warp.block().shared(), access, mask, pointers);
}

/// Lanes may reach into several blocks: one access for each.
void resolve_cluster_lanes(Warp& warp, WarpAccess& access, Mask mask, LanePointers& pointers) {
    const auto& blocks = warp.block().cluster().blocks();
    std::array<Mask, kMaxClusterBlocks> lanes_of{};
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        lanes_of.at(static_cast<std::size_t>(rank_of(warp, access.addresses[lane]))) |= Mask{1} << lane;
        access.addresses[lane] &= kSharedOffsetMask;
    });
    for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
        if (lanes_of[rank] == 0) continue;
        warp.at_lane(std::countr_zero(lanes_of[rank]));
        require_alive(warp, *blocks[rank], access.access);
        resolve_offsets(warp, blocks[rank]->shared(), access, lanes_of[rank], pointers);
        if (static_cast<int>(rank) == warp.block().rank()) continue;
        warp.tally().peer_bytes += access.bytes * static_cast<std::uint64_t>(std::popcount(lanes_of[rank]));
    }
}

void resolve_local_lanes(Warp& warp, const WarpAccess& access, Mask mask, LanePointers& pointers) {
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        require_aligned(StateSpace::local, access.addresses[lane], access.bytes);
        std::vector<std::byte>& local = warp.local(static_cast<int>(lane));
        const std::uint64_t address = access.addresses[lane];
        if (address + access.bytes <= local.size() && address < local.size()) {
            pointers[lane] = local.data() + address;
        } else if (warp.launch().config.checks.bounds) {
            throw AccessFault{FaultKind::out_of_range,
                              fmt::format("{} bytes at offset {} of the thread's local memory, which has {} bytes",
                                          access.bytes, address, local.size())};
        }
    });
}

std::byte* parameter_pointer(Warp& warp, std::uint64_t address, const WarpAccess& access, std::size_t lane) {
    const auto formal = static_cast<std::uint64_t>(warp.launch().entry.formal_bytes);
    Frame& frame = warp.frame();
    const auto all = static_cast<std::uint64_t>(frame.function->parameter_bytes);
    const bool constant = warp.in_entry() && address < formal;
    const std::uint64_t end = constant ? formal : all;
    if (address > end || access.bytes > end - address) {
        if (!warp.launch().config.checks.bounds) return nullptr;
        throw AccessFault{FaultKind::out_of_range, fmt::format("{} bytes at offset {} of a parameter space of {} bytes",
                                                               access.bytes, address, end)};
    }
    if (!constant) return frame.parameters.data() + lane * all + address;
    if (writes(access.access)) throw AccessFault{FaultKind::read_only, "writes to a kernel's parameters"};
    return const_cast<std::byte*>(warp.launch().parameters.data()) + address;  // only read through
}

void resolve_parameter_lanes(Warp& warp, const WarpAccess& access, Mask mask, LanePointers& pointers) {
    for_each_bit(mask, [&](std::size_t lane) {
        warp.at_lane(static_cast<int>(lane));
        require_aligned(StateSpace::param, access.addresses[lane], access.bytes);
        pointers[lane] = parameter_pointer(warp, access.addresses[lane], access, lane);
    });
}

void resolve_space(Warp& warp, WarpAccess& access, Mask mask, LanePointers& pointers) {
    switch (access.space) {
        case StateSpace::shared: return resolve_shared_lanes(warp, access, mask, pointers);
        case StateSpace::cluster: return resolve_cluster_lanes(warp, access, mask, pointers);
        case StateSpace::local: return resolve_local_lanes(warp, access, mask, pointers);
        case StateSpace::param: return resolve_parameter_lanes(warp, access, mask, pointers);
        default: return resolve_global_lanes(warp, access, mask, pointers);
    }
}

/// Lanes of a generic access may be in different windows: one access for each.
void resolve_generic(Warp& warp, WarpAccess& access, Mask mask, LanePointers& pointers) {
    for (const StateSpace space : {StateSpace::global, StateSpace::shared, StateSpace::local, StateSpace::param}) {
        Mask own = 0;
        for_each_bit(mask, [&](std::size_t lane) {
            if (space_of(access.addresses[lane]) == space) own |= Mask{1} << lane;
        });
        if (own == 0) continue;
        WarpAccess part = access;
        part.space = space == StateSpace::shared ? StateSpace::cluster : space;
        for_each_bit(own, [&](std::size_t lane) { part.addresses[lane] -= window_of(space); });
        resolve_space(warp, part, own, pointers);
        access.once |= part.once;
    }
}

}  // namespace

GlobalPlace resolve_global(Warp& warp, std::uint64_t address, std::uint32_t bytes, std::uint32_t alignment,
                           Access access) {
    require_aligned(StateSpace::global, address, alignment);
    return bytes == 0 ? GlobalPlace{} : global_place(warp, address, bytes, access);
}

// Marked when it is in place, so that a block on another host thread compares with what is really there.
void put(Warp& warp, const WarpAccess& access, std::size_t lane, std::byte* place, const std::byte* value) {
    if ((access.once >> lane & 1) == 0) {
        std::memcpy(place, value, access.bytes);
        return;
    }
    warp.at_lane(static_cast<int>(lane));
    put_once(warp.launch(), access.addresses[lane], place,
             {value, access.bytes});  // generic is the same for global memory
    warp.at_lane(-1);
}

void put_once(const LaunchContext& launch, DeviceAddress address, std::byte* place, std::span<const std::byte> value) {
    const Buffer& buffer = *launch.memory.find(address, value.size());
    const std::size_t first = address - buffer.address;
    for (std::size_t i = 0; i < value.size() && launch.config.checks.global_written; ++i) {
        if (place[i] == value[i] || !buffer.stored->all(first + i, 1)) continue;
        throw AccessFault{FaultKind::second_store,
                          fmt::format("stores {} bytes of global memory a second time, with another value, at {}",
                                      value.size(), launch.memory.describe(address + i))};
    }
    std::memcpy(place, value.data(), value.size());
    buffer.written->mark(first, value.size());
    buffer.stored->mark(first, value.size());
}

LanePointers resolve(Warp& warp, WarpAccess& access, Mask mask) {
    LanePointers pointers{};
    if (access.space == StateSpace::generic) {
        resolve_generic(warp, access, mask, pointers);
    } else {
        resolve_space(warp, access, mask, pointers);
    }
    warp.at_lane(-1);
    return pointers;
}

LaneAddresses lane_addresses(const Warp& warp, const Instruction& instruction, std::size_t index) {
    return lane_addresses(warp, instruction.values[index], instruction.immediate);
}

LaneAddresses lane_addresses(const Warp& warp, const Value& base, std::int64_t displacement) {
    LaneAddresses addresses;
    if (base.bank == Bank::words || base.bank == Bank::constant_words) {
        const std::uint32_t* words = warp.words(base);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            addresses[lane] = words[lane] + static_cast<std::uint32_t>(displacement);
        }
    } else {
        const std::uint64_t* doublewords = warp.doublewords(base);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            addresses[lane] = doublewords[lane] + static_cast<std::uint64_t>(displacement);
        }
    }
    return addresses;
}

}  // namespace jitgemm::emulator
