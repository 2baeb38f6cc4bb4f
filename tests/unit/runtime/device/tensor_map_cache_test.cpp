#include "runtime/device/tensor_map_cache.hpp"
#include "tests/catch.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace jitgemm;

namespace {

/// A map that tells by every word which address it is of.
EncodedTensorMap map_of(std::uint64_t address) {
    EncodedTensorMap map;
    for (std::size_t i = 0; i < map.bytes.size(); i += sizeof address) {
        const std::uint64_t word = address * 31 + i;
        std::memcpy(map.bytes.data() + i, &word, sizeof word);
    }
    return map;
}

}  // namespace

TEST_CASE("the cache gives back the map of an address and an owner, and of no other", "[threads]") {
    TensorMapCache cache;
    EncodedTensorMap found;
    CHECK_FALSE(cache.find({4096, 1}, found.bytes.data()));
    cache.insert({4096, 1}, map_of(4096));
    REQUIRE(cache.find({4096, 1}, found.bytes.data()));
    CHECK(found == map_of(4096));
    CHECK_FALSE(cache.find({8192, 1}, found.bytes.data()));
    CHECK_FALSE(cache.find({4096, 2}, found.bytes.data()));
}

TEST_CASE("buffers that a program rotates keep their maps", "[threads]") {
    TensorMapCache cache;
    constexpr std::uint64_t kFirst = 0x7f0000000000;
    for (const std::uint64_t pitch : {std::uint64_t{1} << 21, std::uint64_t{33554432}, std::uint64_t{1} << 14}) {
        for (std::uint64_t i = 0; i < 8; ++i) cache.insert({kFirst + i * pitch, 1}, map_of(kFirst + i * pitch));
        int kept = 0;
        EncodedTensorMap found;
        for (std::uint64_t i = 0; i < 8; ++i) kept += cache.find({kFirst + i * pitch, 1}, found.bytes.data()) ? 1 : 0;
        CHECK(kept >= 7);  // 512 slots
    }
}

TEST_CASE("threads that replace each other's maps never read a mixture", "[threads]") {
    TensorMapCache cache;
    std::atomic<int> wrong = 0;
    std::atomic<int> hits = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&, thread] {
            std::uint64_t state = thread + 1;
            for (int i = 0; i < 20000; ++i) {
                state = state * 6364136223846793005ULL + 1442695040888963407ULL;
                const std::uint64_t address = ((state >> 33) % 2000 + 1) * 256;  // four to a slot
                EncodedTensorMap found;
                if (!cache.find({address, address % 3}, found.bytes.data())) {
                    cache.insert({address, address % 3}, map_of(address));
                    continue;
                }
                ++hits;
                if (!(found == map_of(address))) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(hits > 1000);
}
