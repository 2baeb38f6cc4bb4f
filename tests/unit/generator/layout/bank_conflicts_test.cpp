#include "generator/layout/bank_conflicts.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

using namespace jitgemm;

namespace {

/// The definition, word by word: per phase, the most words that lie in one bank.
Wavefronts by_definition(int lanes_in_all, int bytes, const LaneAddresses& addresses, int joined_phases = 1) {
    const int lanes = std::min(lanes_in_all, joined_phases * 128 / std::max(bytes, 4));
    Wavefronts sum;
    for (int first = 0; first < lanes_in_all; first += lanes) {
        std::map<int, std::set<int>> words_of_bank;
        for (int lane = first; lane < first + lanes; ++lane)
            for (int byte = 0; byte < bytes && addresses[static_cast<std::size_t>(lane)] >= 0; ++byte) {
                const int word = (addresses[static_cast<std::size_t>(lane)] + byte) / 4;
                words_of_bank[word % 32].insert(word);
            }
        std::size_t busiest = 0;
        for (const auto& [bank, words] : words_of_bank) busiest = std::max(busiest, words.size());
        sum.count += static_cast<int>(busiest);
        sum.ideal += busiest > 0 ? 1 : 0;
    }
    return sum;
}

using LaneAddress = std::function<int(int lane)>;

Wavefronts vectors(int bytes, const LaneAddress& address) { return vector_wavefronts(bytes, lane_addresses(address)); }
Wavefronts matrices(int x, const LaneAddress& address) { return matrix_wavefronts(x, lane_addresses(address)); }

}  // namespace

TEST_CASE("wavefronts of well-known access patterns") {
    CHECK(vectors(4, [](int lane) { return lane * 4; }) == Wavefronts{1, 1});
    CHECK(vectors(4, [](int lane) { return lane * 8; }) == Wavefronts{2, 1});
    CHECK(vectors(4, [](int lane) { return lane * 128; }) == Wavefronts{32, 1});
    CHECK(vectors(4, [](int lane) { return lane * 132; }) == Wavefronts{1, 1});  // the padded column
    CHECK(vectors(2, [](int lane) { return lane * 2; }) == Wavefronts{1, 1});
    CHECK(vectors(1, [](int lane) { return lane; }) == Wavefronts{1, 1});
    CHECK(vectors(8, [](int lane) { return lane * 8; }) == Wavefronts{2, 2});
    CHECK(vectors(8, [](int lane) { return lane * 16; }) == Wavefronts{4, 2});
    CHECK(vectors(16, [](int lane) { return lane * 16; }) == Wavefronts{4, 4});
    CHECK(vectors(16, [](int lane) { return lane * 128; }) == Wavefronts{32, 4});
    CHECK(matrices(4, [](int lane) { return lane * 32; }) == Wavefronts{8, 4});
    CHECK(matrices(4, [](int lane) { return lane * 128; }) == Wavefronts{32, 4});
}

TEST_CASE("lanes that want the same word share it, also of a wide vector and beside others of its bank") {
    CHECK(vectors(4, [](int) { return 64; }) == Wavefronts{1, 1});
    CHECK(vectors(2, [](int lane) { return lane % 2 * 2; }) == Wavefronts{1, 1});  // the halves of one word
    CHECK(vectors(16, [](int) { return 256; }) == Wavefronts{4, 4});               // once per phase
    CHECK(vectors(4, [](int lane) { return lane % 2 * 128; }) == Wavefronts{2, 1});
    CHECK(matrices(4, [](int lane) { return lane / 8 * 16; }) == Wavefronts{4, 4});
}

TEST_CASE("inactive lanes want nothing, and a phase without active lanes takes no time") {
    const auto first = [](int count, int stride) {
        return [=](int lane) { return lane < count ? lane * stride : kInactiveLane; };
    };
    CHECK(vectors(4, first(0, 4)) == Wavefronts{0, 0});
    CHECK(vectors(4, first(4, 128)) == Wavefronts{4, 1});
    CHECK(vectors(16, first(8, 16)) == Wavefronts{1, 1});
    CHECK(vectors(16, first(9, 16)) == Wavefronts{2, 2});
    CHECK(vectors(8, first(16, 8)) == Wavefronts{1, 1});
}

TEST_CASE("phases of wide loads are joined where neighbours are inactive or want the same") {
    const auto loads = [](int bytes, const LaneAddress& address) {
        return load_wavefronts(bytes, lane_addresses(address));
    };
    const auto of = [](bool active, int address) { return active ? address : kInactiveLane; };
    const auto even = [&](int lane) { return of(lane % 2 == 0, lane * 16); };
    CHECK(loads(16, even) == Wavefronts{4, 2});  // 32 bytes apart: lanes 0 and 8 of a phase meet
    CHECK(loads(16, [&](int lane) { return of(lane % 2 == 0, lane * 8); }) == Wavefronts{2, 2});
    CHECK(vectors(16, [&](int lane) { return of(lane % 2 == 0, lane * 8); }) == Wavefronts{4, 4});
    CHECK(loads(8, [&](int lane) { return of(lane / 2 % 2 == 0, lane * 4); }) == Wavefronts{1, 1});
    CHECK(loads(8, [&](int lane) { return of(lane / 4 % 2 == 0, lane * 4); }) == Wavefronts{2, 2});  // lane ^ 4: no
    CHECK(loads(16, [](int lane) { return lane / 2 * 16; }) == Wavefronts{2, 2});
    CHECK(loads(8, [](int lane) { return lane % 2 * 8; }) == Wavefronts{1, 1});  // lane ^ 2 has the same
    CHECK(loads(16, [](int lane) { return lane * 16; }) == Wavefronts{4, 4});
    CHECK(loads(16, [&](int lane) { return of(lane != 5, lane * 16); }) == Wavefronts{4, 4});
    CHECK(loads(4, [&](int lane) { return of(lane % 2 == 0, lane * 4); }) == Wavefronts{1, 1});
    // The edge of a tile on an H200: vector 0 of 16 rows 48 bytes apart, lanes in pairs for vectors 0 and 1.
    CHECK(loads(16, [&](int lane) { return of(lane % 2 == 0, lane / 2 * 48); }) == Wavefronts{2, 2});
    CHECK(loads(16, [&](int lane) { return of(lane % 2 == 0 && lane < 16, lane / 2 * 48); }) == Wavefronts{1, 1});
    CHECK(loads(16, [&](int lane) { return of(lane < 16, lane / 2 * 48 + lane % 2 * 16); }) == Wavefronts{4, 2});
}

TEST_CASE("a matrix is a phase, and lanes beyond the matrices are ignored") {
    for (const int x : {1, 2, 4}) {
        CHECK(matrices(x, [](int lane) { return lane % 8 * 16; }) == Wavefronts{x, x});
        CHECK(matrices(x, [](int lane) { return lane % 8 * 128; }) == Wavefronts{8 * x, x});
        CHECK(matrices(x, [x](int lane) { return lane < 8 * x ? lane % 8 * 16 : 128 * lane; }) == Wavefronts{x, x});
    }
}

TEST_CASE("counting agrees with the definition for random addresses, aligned or not, with lanes left out") {
    std::mt19937 random(7);
    for (int trial = 0; trial < 4000; ++trial) {
        const int bytes = 1 << random() % 5;
        const int alignment = random() % 4 == 0 ? 1 : bytes;
        const int range = 1 << (4 + random() % 9);
        const LaneAddresses addresses = lane_addresses([&](int) {
            if (random() % 8 == 0) return kInactiveLane;
            return static_cast<int>(random() % static_cast<unsigned>(range)) / alignment * alignment;
        });
        REQUIRE(vector_wavefronts(bytes, addresses) == by_definition(32, bytes, addresses));
        const Wavefronts load = load_wavefronts(bytes, addresses);
        const bool separate = load == by_definition(32, bytes, addresses);
        REQUIRE((separate || load == by_definition(32, bytes, addresses, 2)));
        for (const int x : {1, 2, 4}) REQUIRE(matrix_wavefronts(x, addresses) == by_definition(8 * x, 16, addresses));
    }
}

TEST_CASE("widths that no instruction has are refused") {
    for (const int bytes : {-4, 0, 3, 12, 32}) {
        CHECK_THROWS_AS(vector_wavefronts(bytes, {}), std::invalid_argument);
        CHECK_THROWS_AS(load_wavefronts(bytes, {}), std::invalid_argument);
    }
    for (const int x : {-1, 0, 3, 8}) CHECK_THROWS_AS(matrix_wavefronts(x, {}), std::invalid_argument);
}

TEST_CASE("a kernel's accesses add up, idle instructions aside, and the epilogue is no part of the mainloop") {
    SharedAccess access;
    add_instruction(access, {4, 4}, 3);
    add_instruction(access, {8, 4});
    add_instruction(access, {0, 0}, 100);
    CHECK(access.instructions == 4);
    CHECK(access.wavefronts == 20);
    CHECK(access.ideal == 16);
    CHECK(access.worst == Wavefronts{8, 4});

    SharedAccess epilogue = access;
    epilogue.in_mainloop = false;
    add_instruction(epilogue, {64, 1}, 10);
    CHECK(mainloop_slowdown(std::vector{access, epilogue}) == 1.25);
    CHECK(mainloop_slowdown({}) == 1.0);
}
