#include "runtime/emulator/global_writes.hpp"

#include <memory>

namespace jitgemm::emulator {

GlobalWrites::~GlobalWrites() {
    for (const std::atomic<Page*>& page : pages_) delete page.load();
}

GlobalWrites::Page& GlobalWrites::page_of(std::size_t granule) {
    std::atomic<Page*>& place = pages_[granule / kPageGranules];
    if (Page* page = place.load(std::memory_order_acquire)) return *page;
    auto made = std::make_unique<Page>();
    Page* expected = nullptr;
    if (!place.compare_exchange_strong(expected, made.get())) return *expected;  // another thread was faster
    return *made.release();
}

// A time that does not fit the field is not followed.
void GlobalWrites::note(std::size_t first, std::size_t bytes, const GlobalWrite& write) {
    const std::uint64_t entry = write.time >= kTimes ? 0
                                                     : std::uint64_t{write.time} << kTimeShift |
                                                           std::uint64_t{write.strong} << kStrongShift | write.warp;
    for (std::size_t granule = first / kGranule; granule * kGranule < first + bytes; ++granule) {
        std::atomic<std::uint64_t>& place = page_of(granule)[granule % kPageGranules];
        std::uint64_t mask = std::uint64_t{mask_of(granule, first, bytes)} << kBytesShift;
        const std::uint64_t earlier = place.load(std::memory_order_relaxed);
        constexpr std::uint64_t kBytes = std::uint64_t{0xF} << kBytesShift;
        if ((earlier & ~kBytes) == entry) mask |= earlier & kBytes;
        place.store(entry == 0 ? 0 : entry | mask, std::memory_order_relaxed);
    }
}

}  // namespace jitgemm::emulator
