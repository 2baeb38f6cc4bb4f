#pragma once

#include "runtime/emulator/checks.hpp"
#include "runtime/emulator/fault.hpp"
#include "runtime/emulator/happens_before.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

/// Strong accesses (volatile, relaxed, acquire, release) may meet each other and atomics without a barrier; that they order
/// other accesses is not modelled.
enum class Access : std::uint8_t { read, write, atomic, strong_read, strong_write };
[[nodiscard]] constexpr bool is_strong(Access access) { return access > Access::write; }
[[nodiscard]] constexpr bool reads(Access access) { return access != Access::write && access != Access::strong_write; }
[[nodiscard]] constexpr bool writes(Access access) { return access != Access::read && access != Access::strong_read; }

/// Who touches shared memory: `site` is the index of the instruction, for the report of a race.
struct Accessor {
    int warp = 0;
    std::uint32_t site = 0;
};

/// A block's shared memory, and of every byte: whether it was ever written, whether a copy into it is in flight, who wrote
/// it last and who read it since. A race is two accesses by different warps to one byte, not both reads and not both
/// atomic, that no barrier orders.
class SharedMemory {
public:
    /// `describe_site` tells people of an instruction by its index.
    SharedMemory(std::int64_t bytes, const Checks& checks, std::function<std::string(std::uint32_t)> describe_site);

    [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }
    [[nodiscard]] std::byte* at(std::uint32_t offset) { return data_.data() + offset; }
    [[nodiscard]] HappensBefore& order() { return order_; }

    /// Range and alignment. Throws AccessFault; with the check off, false means: do not touch.
    [[nodiscard]] bool in_range(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment) const {
        const bool inside = offset <= data_.size() && bytes <= data_.size() - offset;
        if (inside && offset % alignment == 0) [[likely]]
            return true;
        check_placed(offset, bytes, alignment, inside);
        return inside;
    }

    /// Notes an access that is in range; throws AccessFault where it must not be.
    void touch(const Accessor& who, std::uint32_t offset, std::uint32_t bytes, Access access);

    // An asynchronous copy: a write from its issue on, which no one may see before it is done. `bytes` and `offset` are
    // multiples of 4.
    void begin_copy(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);
    void end_copy(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);

private:
    /// The last write and the reads since, of a byte or of four bytes that were always accessed together.
    struct History {
        std::uint32_t write_time = 0;  ///< 0: never
        std::uint32_t write_site = 0;
        std::uint32_t read_time = 0;  ///< of all `readers`, unless exact_reads
        std::uint32_t read_site = 0;
        std::uint32_t readers = 0;  ///< a bit a warp
        std::uint8_t writer = 0;
        bool strong = false;       ///< the last write was
        bool exact_reads = false;  ///< the readers' times differ and lie in exact_reads_
        bool split = false;        ///< the bytes have histories of their own
    };
    using Times = std::array<std::uint32_t, kMaxWarps>;

    void check_placed(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment, bool inside) const;
    [[nodiscard]] bool touch_quickly(const Accessor& who, std::uint32_t granule, Access access);
    void touch_granule(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void track(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void track(const Accessor& who, History& history, std::uint32_t byte, Access access);
    void split(std::uint32_t granule);
    void check_write_order(const Accessor& who, const History& history, std::uint32_t byte, Access access) const;
    void check_read_order(const Accessor& who, const History& history, std::uint32_t byte, Access access) const;
    void note_read(const Accessor& who, History& history, std::uint32_t byte);
    void note_write(const Accessor& who, History& history, std::uint32_t byte, Access access);
    [[nodiscard]] std::uint32_t read_time(const History& history, std::uint32_t byte, int reader) const;
    [[noreturn]] void report_race(const Accessor& who, Access access, std::uint32_t byte, int other, std::uint32_t site,
                                  const char* other_access) const;
    [[noreturn]] void report_in_flight(std::uint32_t granule, Access access) const;
    [[noreturn]] void report_never_written(std::uint32_t granule, std::uint32_t byte_mask) const;

    std::vector<std::byte> data_;
    Checks checks_;
    std::function<std::string(std::uint32_t)> describe_site_;
    HappensBefore order_;
    std::vector<std::uint8_t> written_;     ///< a granule of 4 bytes: a bit a byte
    std::vector<std::uint32_t> in_flight_;  ///< a granule: 1 + the site of the copy; 0: none
    std::vector<History> granules_;
    std::vector<History> bytes_;                            ///< four a granule, once one is split
    std::unordered_map<std::uint32_t, Times> exact_reads_;  ///< by first byte, where readers' times differ
};

}  // namespace jitgemm::emulator
