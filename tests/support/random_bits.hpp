#pragma once

#include <cstdint>

namespace jitgemm::testing {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers from a seed on every machine, unlike std::distributions.
class RandomBits {
public:
    explicit RandomBits(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    /// Below `bound`, which is small: the slight bias of the remainder does not matter to tests.
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32) % bound); }

private:
    std::uint64_t state_;
};

}  // namespace jitgemm::testing
