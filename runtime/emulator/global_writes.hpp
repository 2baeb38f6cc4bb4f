#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm::emulator {

/// A write to global memory.
struct GlobalWrite {
    std::uint32_t warp = 0;  ///< its number in the launch
    std::uint32_t time = 0;  ///< of its cluster; 0: never written
    bool strong = false;
};

/// The last write of a launch to each byte of a buffer. Several threads of the launch may note and ask at once. For
/// four bytes only the last write is known, with the bytes that it wrote.
class GlobalWrites {
public:
    explicit GlobalWrites(std::size_t bytes) : pages_((bytes + kPageBytes - 1) / kPageBytes) {}
    GlobalWrites(const GlobalWrites&) = delete;
    GlobalWrites& operator=(const GlobalWrites&) = delete;
    ~GlobalWrites();

    void note(std::size_t first, std::size_t bytes, const GlobalWrite& write);

    /// The first write to the range for which `is_fine(write)` is false; time 0 if there is none.
    template <typename Predicate>
    [[nodiscard]] GlobalWrite find_bad(std::size_t first, std::size_t bytes, const Predicate& is_fine) const {
        std::uint64_t fine = 0;  // the last good write: neighbours were mostly written together
        for (std::size_t granule = first / kGranule; granule * kGranule < first + bytes; ++granule) {
            const Page* page = pages_[granule / kPageGranules].load(std::memory_order_acquire);
            if (page == nullptr) continue;
            const std::uint64_t entry = (*page)[granule % kPageGranules].load(std::memory_order_relaxed);
            if (entry == fine || (bytes_of(entry) & mask_of(granule, first, bytes)) == 0) continue;
            if (!is_fine(write_of(entry))) return write_of(entry);
            fine = entry;
        }
        return {};
    }

private:
    static constexpr std::size_t kGranule = 4;
    static constexpr std::size_t kPageGranules = 1024;
    static constexpr std::size_t kPageBytes = kGranule * kPageGranules;
    // An entry: the warp's number, a bit for each byte that was written, strong, the time. 0: never written.
    static constexpr int kBytesShift = 32;
    static constexpr int kStrongShift = 36;
    static constexpr int kTimeShift = 37;
    static constexpr std::uint32_t kTimes = std::uint32_t{1} << (64 - kTimeShift);
    using Page = std::array<std::atomic<std::uint64_t>, kPageGranules>;

    [[nodiscard]] static std::uint32_t bytes_of(std::uint64_t entry) {
        return static_cast<std::uint32_t>(entry >> kBytesShift) & 0xFU;
    }
    /// The bytes of a granule that lie in the range.
    [[nodiscard]] static std::uint32_t mask_of(std::size_t granule, std::size_t first, std::size_t bytes) {
        const std::size_t begin = granule * kGranule;
        std::uint32_t mask = 0xF;
        if (first > begin) mask &= 0xFU << (first - begin);
        if (first + bytes < begin + kGranule) mask &= 0xFU >> (begin + kGranule - first - bytes);
        return mask;
    }
    [[nodiscard]] static GlobalWrite write_of(std::uint64_t entry) {
        return {static_cast<std::uint32_t>(entry), static_cast<std::uint32_t>(entry >> kTimeShift),
                (entry >> kStrongShift & 1U) != 0};
    }
    [[nodiscard]] Page& page_of(std::size_t granule);

    std::vector<std::atomic<Page*>> pages_;  ///< made at their first write
};

}  // namespace jitgemm::emulator
