#include "runtime/emulator/written_bytes.hpp"

#include <algorithm>
#include <bit>

namespace jitgemm::emulator {
namespace {

constexpr std::size_t kWordBits = 64;
constexpr auto kRelaxed = std::memory_order_relaxed;  // what orders a kernel's accesses is not these words' business

/// Calls `part(word index, mask of the range's bits in it)`, until it returns false; whether it never did.
template <typename Part>
bool each_word(std::size_t first, std::size_t bytes, const Part& part) {
    while (bytes > 0) {
        const std::size_t bit = first % kWordBits;
        const std::size_t count = std::min(bytes, kWordBits - bit);
        const std::uint64_t ones = ~std::uint64_t{0} >> (kWordBits - count);
        if (!part(first / kWordBits, ones << bit)) return false;
        first += count;
        bytes -= count;
    }
    return true;
}

}  // namespace

WrittenBytes::WrittenBytes(std::size_t bytes)
    : words_(std::make_unique<std::atomic<std::uint64_t>[]>((bytes + kWordBits - 1) / kWordBits)) {}

// Most stores of a launch's second visit find their bits set: looking first spares the other cores the cache line.
void WrittenBytes::mark(std::size_t first, std::size_t bytes) {
    each_word(first, bytes, [&](std::size_t word, std::uint64_t mask) {
        if ((words_[word].load(kRelaxed) & mask) != mask) words_[word].fetch_or(mask, kRelaxed);
        return true;
    });
}

void WrittenBytes::forget(std::size_t first, std::size_t bytes) {
    each_word(first, bytes, [&](std::size_t word, std::uint64_t mask) {
        words_[word].fetch_and(~mask, kRelaxed);
        return true;
    });
}

bool WrittenBytes::all(std::size_t first, std::size_t bytes) const {
    return each_word(first, bytes, [&](std::size_t word, std::uint64_t mask) {
        return (words_[word].load(kRelaxed) & mask) == mask;
    });
}

bool WrittenBytes::any(std::size_t first, std::size_t bytes) const {
    return !each_word(first, bytes,
                      [&](std::size_t word, std::uint64_t mask) { return (words_[word].load(kRelaxed) & mask) == 0; });
}

std::size_t WrittenBytes::missing(std::size_t first, std::size_t bytes) const {
    std::size_t count = 0;
    each_word(first, bytes, [&](std::size_t word, std::uint64_t mask) {
        count += static_cast<std::size_t>(std::popcount(~words_[word].load(kRelaxed) & mask));
        return true;
    });
    return count;
}

}  // namespace jitgemm::emulator
