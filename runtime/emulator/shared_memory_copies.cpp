// Of shared memory, what bulk copies and mbarriers do with it.

#include "runtime/emulator/shared_memory.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {

void SharedMemory::begin_bulk_write(const Accessor& who, std::uint32_t offset, std::uint32_t bytes) {
    for_granules(offset, bytes, [&](std::uint32_t granule) {
        if (in_flight_[granule] != 0) require_free(granule, Access::write);
        require_not_being_read(granule, Access::write);
        written_[granule] = kWholeGranule;
        in_flight_[granule] = who.site + 1;
        if (!checks_.races) return;
        check_order(who, granule, kWholeGranule, Access::write);
        if (granules_[granule].peers) meet_peers(who, granule, kWholeGranule, Access::write);
        give_to_agent(granule, who.site);
    });
}

void SharedMemory::land(const Accessor& who, std::uint32_t offset, std::uint32_t bytes) {
    for_granules(offset, bytes, [&](std::uint32_t granule) {
        in_flight_[granule] = 0;
        if (checks_.races) give_to_agent(granule, who.site);
    });
}

void SharedMemory::note_arrival(const Accessor& who) {
    if (checks_.races && !is_own(own_index(who))) peers_.note_last({.who = who, .time = order_.now()});
}

/// The last write of the granule is the agent's, and nobody has read it since.
void SharedMemory::give_to_agent(std::uint32_t granule, std::uint32_t site) {
    History& whole = granules_[granule];
    release_times(whole);
    if (whole.split)
        for (std::uint32_t byte = granule * kGranule; byte < (granule + 1) * kGranule; ++byte)
            release_times(bytes_[byte]);
    whole = {.write_time = order_.now(),
             .write_site = site,
             .writer = static_cast<std::uint8_t>(owner_.warps),
             .peers = whole.peers};
}

void SharedMemory::begin_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t bytes) {
    constexpr std::uint32_t kReadBytes = kGranulesPerRead * kGranule;
    touch(who, offset, bytes, Access::read);
    if (checks_.races) for_granules(offset, bytes, [&](std::uint32_t granule) { require_visible(who, granule); });
    if (reads_in_flight_.empty()) reads_in_flight_.resize(data_.size() / kReadBytes + 1);
    for (std::uint32_t place = offset / kReadBytes; place < (offset + bytes) / kReadBytes; ++place) {
        ++reads_in_flight_[place].count;
        reads_in_flight_[place].site = who.site;
    }
}

void SharedMemory::end_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t bytes) {
    constexpr std::uint32_t kReadBytes = kGranulesPerRead * kGranule;
    for (std::uint32_t place = offset / kReadBytes; place < (offset + bytes) / kReadBytes; ++place)
        --reads_in_flight_[place].count;
    touch(who, offset, bytes, Access::read);  // to others its thread reads until it knows that it has read
}

void SharedMemory::require_visible(const Accessor& who, std::uint32_t granule) const {
    const History& whole = granules_[granule];
    const std::uint32_t histories = whole.split ? kGranule : 1;
    for (std::uint32_t byte = granule * kGranule; byte < granule * kGranule + histories; ++byte) {
        const History& history = whole.split ? bytes_[byte] : whole;
        const int writer = owner_.first_warp + history.writer;
        if (history.write_time == 0 || order_.visible_to_copies(who.warp, writer, history.write_time)) continue;
        throw AccessFault{
            FaultKind::proxy_fence,
            fmt::format("an asynchronous copy or wgmma reads {}, written by {} with no fence.proxy.async between; "
                        "that access is {}",
                        place_of(byte), owner_.describe_warp(writer), owner_.describe_site(history.write_site))};
    }
}

void SharedMemory::place_mbarrier(const Accessor& who, std::uint32_t offset) {
    touch(who, offset, kMbarrierBytes, Access::write);
    for_granules(offset, kMbarrierBytes, [&](std::uint32_t granule) { in_flight_[granule] = kMbarrierMark; });
}

void SharedMemory::remove_mbarrier(const Accessor& who, std::uint32_t offset) {
    for_granules(offset, kMbarrierBytes, [&](std::uint32_t granule) { in_flight_[granule] = 0; });
    touch(who, offset, kMbarrierBytes, Access::write);
    for_granules(offset, kMbarrierBytes, [&](std::uint32_t granule) { written_[granule] = 0; });
}

}  // namespace jitgemm::emulator
