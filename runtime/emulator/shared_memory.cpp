#include "runtime/emulator/shared_memory.hpp"

#include "runtime/emulator/mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace jitgemm::emulator {
namespace {

const char* name_of(Access access) {
    switch (access) {
        case Access::read:
        case Access::strong_read: return "reads";
        case Access::atomic: return "atomically updates";
        default: return "writes";
    }
}

}  // namespace

SharedMemory::SharedMemory(std::int64_t bytes, const Checks& checks, HappensBefore& order, SharedOwner owner)
    : data_(static_cast<std::size_t>(bytes)), checks_(checks), order_(order), owner_(std::move(owner)), peers_(order) {
    const std::size_t granules = (data_.size() + kGranule - 1) / kGranule;
    written_.resize(granules);
    in_flight_.resize(granules);
    granules_.resize(checks.races ? granules : 0);
}

// Apart from in_range(), which every access calls: its words cost nothing where nothing is wrong.
void SharedMemory::check_placed(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment, bool inside) const {
    if (!inside && checks_.bounds) {
        throw AccessFault{FaultKind::out_of_range,
                          fmt::format("{} bytes at offset {} of {} shared memory, which has {} bytes", bytes, offset,
                                      owner_.block.empty() ? "the block's" : owner_.block + "'s", data_.size())};
    }
    if (offset % alignment != 0) {
        throw AccessFault{FaultKind::misaligned,
                          fmt::format("offset {} of shared memory is no multiple of {}", offset, alignment)};
    }
}

void SharedMemory::touch(const Accessor& who, std::uint32_t offset, std::uint32_t bytes, Access access) {
    const std::uint32_t end = offset + bytes;
    const unsigned own = own_index(who);
    const bool may_be_quick = ((offset | bytes) & (kGranule - 1)) == 0 && is_own(own);
    for (std::uint32_t granule = offset / kGranule; granule * kGranule < end; ++granule) {
        if (may_be_quick && touch_quickly(who, own, granule, access)) continue;
        const std::uint32_t first = std::max(offset, granule * kGranule) - granule * kGranule;
        const std::uint32_t last = std::min(end, (granule + 1) * kGranule) - granule * kGranule;
        touch_granule(who, granule, (kWholeGranule << first) & (kWholeGranule >> (kGranule - last)), access);
    }
}

/// The fast path of most accesses: a plain one of a whole granule, to which no other access is unordered. Returns false
/// if touch_granule must look closer. Nothing is noted then.
bool SharedMemory::touch_quickly(const Accessor& who, unsigned own, std::uint32_t granule, Access access) {
    if (granules_.empty() || is_strong(access) || in_flight_[granule] != 0) return false;
    History& history = granules_[granule];
    if (history.split || history.peers) return false;
    if (history.write_time != 0 && history.writer != own && !after(who, history.writer, history.write_time))
        return false;
    const std::uint32_t self = 1U << own;
    const std::uint32_t now = order_.now();
    if (access == Access::read) {
        if (written_[granule] != kWholeGranule) return false;
        if (!history.exact_reads && (history.readers & ~self) != 0 && history.read_time != now) return false;
        (history.exact_reads ? read_times_[history.read_time][own] : history.read_time) = now;
        history.readers |= self;
        history.read_site = who.site;
        return true;
    }
    if (history.exact_reads || is_being_read(granule)) return false;
    const std::uint32_t others = history.readers & ~self;
    if (others != 0 && !after_reads(who, history, others)) return false;
    history = {.write_time = now, .write_site = who.site, .writer = static_cast<std::uint8_t>(own)};
    written_[granule] = kWholeGranule;
    return true;
}

bool SharedMemory::after_reads(const Accessor& who, const History& history, std::uint32_t readers) const {
    return all_of_bits(readers, [&](std::size_t reader) { return after(who, reader, history.read_time); });
}

void SharedMemory::touch_granule(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) {
    if (in_flight_[granule] != 0) [[unlikely]]
        require_free(granule, access);
    if (writes(access)) require_not_being_read(granule, access);
    if (!reads(access)) {
        written_[granule] = static_cast<std::uint8_t>(written_[granule] | byte_mask);
    } else if (checks_.shared_written && (written_[granule] & byte_mask) != byte_mask) [[unlikely]] {
        report_never_written(granule, byte_mask);
    }
    if (!checks_.races) return;
    is_own(own_index(who)) ? track_own(who, granule, byte_mask, access) : track_peer(who, granule, byte_mask, access);
}

/// Against what other blocks did.
void SharedMemory::meet_peers(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) {
    if (const PeerAccesses::Record* race = peers_.find_race(who, granule, byte_mask, access)) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(race->byte_mask & byte_mask));
        report_race(who, access, granule * kGranule + first, race->who, writes(race->access) ? "written" : "read");
    }
    granules_[granule].peers = peers_.forget(who, granule, byte_mask, access);
}

void SharedMemory::check_order(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask,
                               Access access) const {
    const History& whole = granules_[granule];
    for (std::uint32_t byte = 0; byte < kGranule; ++byte) {
        if ((byte_mask >> byte & 1U) == 0) continue;
        const std::uint32_t index = granule * kGranule + byte;
        const History& history = whole.split ? bytes_[index] : whole;
        check_write_order(who, history, index, access);
        if (writes(access)) check_read_order(who, history, whole.split ? index : granule * kGranule, access);
    }
}

void SharedMemory::track_peer(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) {
    check_order(who, granule, byte_mask, access);
    meet_peers(who, granule, byte_mask, access);
    peers_.note(who, granule, byte_mask, access);
    granules_[granule].peers = true;
}

void SharedMemory::track_own(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) {
    History& whole = granules_[granule];
    if (whole.peers) meet_peers(who, granule, byte_mask, access);
    if (byte_mask == kWholeGranule && !whole.split) return track(who, whole, granule * kGranule, access);
    if (!whole.split) split(granule);
    for (std::uint32_t byte = 0; byte < kGranule; ++byte) {
        const std::uint32_t index = granule * kGranule + byte;
        if ((byte_mask >> byte & 1U) != 0) track(who, bytes_[index], index, access);
    }
}

void SharedMemory::split(std::uint32_t granule) {
    if (bytes_.empty()) bytes_.resize(granules_.size() * kGranule);
    History& whole = granules_[granule];
    for (std::uint32_t byte = granule * kGranule; byte < (granule + 1) * kGranule; ++byte) {
        bytes_[byte] = whole;
        if (whole.exact_reads) bytes_[byte].read_time = keep_times(Times(read_times_[whole.read_time]));
    }
    release_times(whole);
    whole.exact_reads = false;
    whole.split = true;
}

void SharedMemory::track(const Accessor& who, History& history, std::uint32_t byte, Access access) {
    check_write_order(who, history, byte, access);
    if (access == Access::strong_read) return;
    if (access == Access::read) return note_read(who, history);
    check_read_order(who, history, byte, access);
    note_write(who, history, access);
}

void SharedMemory::check_write_order(const Accessor& who, const History& history, std::uint32_t byte,
                                     Access access) const {
    if (history.write_time == 0 || after(who, history.writer, history.write_time)) return;
    if (history.strong && is_strong(access)) return;
    report_race(who, access, byte, {owner_.first_warp + history.writer, history.write_site}, "written");
}

std::uint32_t SharedMemory::keep_times(const Times& times) {
    if (free_times_.empty()) {
        read_times_.push_back(times);
        return static_cast<std::uint32_t>(read_times_.size() - 1);
    }
    const std::uint32_t place = free_times_.back();
    free_times_.pop_back();
    read_times_[place] = times;
    return place;
}

void SharedMemory::check_read_order(const Accessor& who, const History& history, std::uint32_t byte,
                                    Access access) const {
    for_each_bit(history.readers, [&](std::size_t index) {
        if (after(who, index, read_time(history, index))) return;
        report_race(who, access, byte, {owner_.first_warp + static_cast<int>(index), history.read_site}, "read");
    });
}

void SharedMemory::note_read(const Accessor& who, History& history) {
    const unsigned own = own_index(who);
    const std::uint32_t self = 1U << own;
    const std::uint32_t now = order_.now();
    history.read_site = who.site;
    if (history.exact_reads) {
        read_times_[history.read_time][own] = now;
        history.readers |= self;
        return;
    }
    if (history.readers == self || history.read_time == now) {
        history.readers |= self;
        history.read_time = now;
        return;
    }
    // A read that comes before this one races with nothing that this one does not race with.
    std::uint32_t concurrent = 0;
    for_each_bit(history.readers & ~self, [&](std::size_t reader) {
        if (!after(who, reader, history.read_time)) concurrent |= 1U << reader;
    });
    history.readers = concurrent | self;
    history.exact_reads = concurrent != 0;
    if (!history.exact_reads) {
        history.read_time = now;
        return;
    }
    Times times{};
    for_each_bit(concurrent, [&](std::size_t reader) { times[reader] = history.read_time; });
    times[own] = now;
    history.read_time = keep_times(times);
}

void SharedMemory::note_write(const Accessor& who, History& history, Access access) {
    release_times(history);
    const bool whole_is_split = history.split;
    const bool has_peers = history.peers;
    history = {.write_time = order_.now(),
               .write_site = who.site,
               .writer = static_cast<std::uint8_t>(own_index(who)),
               .strong = is_strong(access),
               .split = whole_is_split,
               .peers = has_peers};
}

void SharedMemory::begin_copy(const Accessor& who, std::uint32_t offset, std::uint32_t bytes) {
    touch(who, offset, bytes, Access::write);
    for_granules(offset, bytes, [&](std::uint32_t granule) { in_flight_[granule] = who.site + 1; });
}

void SharedMemory::end_copy(const Accessor& who, std::uint32_t offset, std::uint32_t bytes) {
    // To others the copy's thread has written the bytes when it knows that they are there.
    const unsigned own = own_index(who);
    for_granules(offset, bytes, [&](std::uint32_t granule) {
        in_flight_[granule] = 0;
        if (checks_.races && !touch_quickly(who, own, granule, Access::write))
            track_own(who, granule, kWholeGranule, Access::write);
    });
}

void SharedMemory::check_end() const {
    const PeerAccesses::Record* unfinished = peers_.find_unfinished(owner_.first_warp, owner_.warps);
    if (unfinished == nullptr) return;
    throw AccessFault{
        FaultKind::block_ended,
        fmt::format(
            "{} ends while {} may still access its shared memory: no cluster barrier follows that access, which is {}",
            owner_.block, owner_.describe_warp(unfinished->who.warp), owner_.describe_site(unfinished->who.site))};
}

std::string SharedMemory::place_of(std::uint32_t byte) const {
    return fmt::format("offset {} of {}shared memory", byte, owner_.block.empty() ? "" : owner_.block + "'s ");
}

void SharedMemory::report_race(const Accessor& who, Access access, std::uint32_t byte, const Accessor& other,
                               const char* other_access) const {
    const int agents = owner_.warps + 1;
    const bool one_block = who.warp / agents == other.warp / agents;
    throw AccessFault{
        FaultKind::shared_race,
        fmt::format("{} {} {}, {} by {} with no {}barrier between; the other access is {}",
                    owner_.describe_warp(who.warp), name_of(access), place_of(byte), other_access,
                    owner_.describe_warp(other.warp), one_block ? "" : "cluster ", owner_.describe_site(other.site))};
}

/// Throws where the granule's mark forbids the access.
void SharedMemory::require_free(std::uint32_t granule, Access access) const {
    const std::uint32_t mark = in_flight_[granule];
    const std::string what = fmt::format("{} {}", name_of(access), place_of(granule * kGranule));
    if (mark == kMbarrierMark) throw AccessFault{FaultKind::mbarrier, what + ", which is an mbarrier's"};
    if (!checks_.copies_in_flight) return;
    throw AccessFault{
        FaultKind::copy_in_flight,
        fmt::format("{}, which an asynchronous copy in flight writes: no thread has waited for that copy, which is {}",
                    what, owner_.describe_site(mark - 1))};
}

/// Throws where an asynchronous read of the granule is in flight.
void SharedMemory::require_not_being_read(std::uint32_t granule, Access access) const {
    if (!is_being_read(granule) || !checks_.copies_in_flight) return;
    const std::uint32_t site = reads_in_flight_[granule / kGranulesPerRead].site;
    throw AccessFault{
        FaultKind::copy_in_flight,
        fmt::format("{} {}, which an asynchronous copy or wgmma in flight reads: no thread has waited for it; it is {}",
                    name_of(access), place_of(granule * kGranule), owner_.describe_site(site))};
}

void SharedMemory::report_never_written(std::uint32_t granule, std::uint32_t byte_mask) const {
    const std::uint32_t missing = byte_mask & ~static_cast<std::uint32_t>(written_[granule]);
    const auto first = static_cast<std::uint32_t>(std::countr_zero(missing));
    throw AccessFault{FaultKind::never_written_shared,
                      fmt::format("reads {}, which was never written", place_of(granule * kGranule + first))};
}

}  // namespace jitgemm::emulator
