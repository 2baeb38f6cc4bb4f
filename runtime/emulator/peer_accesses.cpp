#include "runtime/emulator/peer_accesses.hpp"

#include <algorithm>

namespace jitgemm::emulator {

const PeerAccesses::Record* PeerAccesses::find_race(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask,
                                                    Access access) const {
    const auto records = records_.find(granule);
    if (records == records_.end()) return nullptr;
    const auto race = std::find_if(records->second.begin(), records->second.end(), [&](const Record& earlier) {
        const bool conflict = (earlier.byte_mask & byte_mask) != 0 && (writes(earlier.access) || writes(access)) &&
                              !(is_strong(earlier.access) && is_strong(access));
        return conflict && !ordered(who.warp, earlier);
    });
    return race == records->second.end() ? nullptr : &*race;
}

bool PeerAccesses::forget(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) {
    const auto records = records_.find(granule);
    if (records == records_.end()) return false;
    std::erase_if(records->second, [&](const Record& earlier) {
        const bool replaced = writes(access) || (access == Access::read && !writes(earlier.access));
        return replaced && (earlier.byte_mask & ~byte_mask) == 0 && ordered(who.warp, earlier);
    });
    if (!records->second.empty()) return true;
    records_.erase(records);
    return false;
}

void PeerAccesses::note(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) {
    const Record record{who, order_.now(), byte_mask, access};
    if (access != Access::strong_read) records_[granule].push_back(record);
    note_last(record);
}

void PeerAccesses::note_last(const Record& record) {
    const auto warp = static_cast<std::size_t>(record.who.warp);
    if (last_.size() <= warp) last_.resize(warp + 1);
    last_[warp] = record;
}

const PeerAccesses::Record* PeerAccesses::find_unfinished(int first, int warps) const {
    const auto known = [&](const Record& last) {
        for (int warp = first; warp < first + warps; ++warp) {
            if (ordered(warp, last)) return true;
        }
        return false;
    };
    const auto unfinished =
        std::find_if(last_.begin(), last_.end(), [&](const Record& last) { return last.time != 0 && !known(last); });
    return unfinished == last_.end() ? nullptr : &*unfinished;
}

}  // namespace jitgemm::emulator
