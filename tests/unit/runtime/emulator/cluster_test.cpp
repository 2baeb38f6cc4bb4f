// Clusters: what blocks read and write in each other's shared memory, against values worked out by hand, and the
// special registers that say where a block is. What goes wrong among blocks is in cluster_checks_test.cpp.

#include "runtime/emulator/counters.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

#include <cstddef>

using namespace jitgemm;
using emulator::InstructionKind;
using testing::PtxRun;
using testing::run_entry;
using testing::run_ptx;
using testing::words;

namespace {

const std::string kSync = "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";

/// %r10 is the thread's own word of the tile, %r11 the block's rank, %r12 how many there are.
const std::string kTile = R"(
    mov.u32 %r10, tile;
    mad.lo.u32 %r10, %thread, 4, %r10;
    mov.u32 %r11, %cluster_ctarank;
    mov.u32 %r12, %cluster_nctarank;
)";

/// A run of every seed and number of host threads that results must not depend on.
std::vector<PtxRun> every_order(const PtxRun& run) {
    std::vector<PtxRun> runs;
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 77U}) {
        for (const int host_threads : {1, 3}) {
            runs.push_back(run);
            runs.back().order_seed = seed;
            runs.back().host_threads = host_threads;
        }
    }
    return runs;
}

/// A module with one entry k(u64 in, u64 out) of hand-written PTX.
std::string module_of(const std::string& body, const std::string& directives = "") {
    return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n" +
           directives + "{\n" + body + "\nret;\n}\n";
}

}  // namespace

TEST_CASE("emulator clusters: every block reads its neighbour's shared memory") {
    const int blocks = GENERATE(2, 3, 8, 16);
    const PtxRun run{.body = kTile + "st.shared.u32 [%r10], %number;\n" + kSync + R"(
    add.u32 %r1, %r11, 1;
    rem.u32 %r1, %r1, %r12;
    mapa.shared::cluster.u32 %r2, %r10, %r1;
    ld.shared::cluster.u32 %r3, [%r2];
    st.global.u32 [%own_out], %r3;
)" + kSync,
                     .threads = 64,
                     .blocks = 3 * blocks,
                     .cluster = {blocks, 1, 1}};
    for (const PtxRun& ordered : every_order(run)) {
        const auto result = run_ptx(ordered);
        const auto values = words(result);
        for (std::size_t number = 0; number < values.size(); ++number) {
            const std::size_t block = number / 64;
            const auto size = static_cast<std::size_t>(blocks);
            const std::size_t neighbour = block / size * size + (block + 1) % size;
            REQUIRE(values[number] == neighbour * 64 + number % 64);
        }
        CHECK(result.counters.blocks == static_cast<std::uint64_t>(3 * blocks));
    }
}

TEST_CASE("emulator clusters: a split sum, every block adding up its part of all blocks' tiles") {
    const int blocks = GENERATE(2, 3, 8);
    // Block r sums words r, r + blocks, … of all tiles in order of rank, by ld.shared::cluster.v4 of floats.
    const PtxRun run{.body = kTile + R"(
    cvt.rn.f32.u32 %f1, %number;
    mov.u32 %r1, tile;
    mad.lo.u32 %r1, %thread, 16, %r1;
    st.shared.v4.f32 [%r1], {%f1, %f1, 0f3F800000, 0f40000000};
)" + kSync + R"(
    mov.f32 %f10, 0f00000000;
    mov.f32 %f11, 0f00000000;
    mov.u32 %r2, 0;
LOOP:
    mapa.shared::cluster.u32 %r3, %r1, %r2;
    ld.shared::cluster.v4.f32 {%f2, %f3, %f4, %f5}, [%r3];
    add.f32 %f10, %f10, %f2;
    add.f32 %f11, %f11, %f5;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r12;
    @%p1 bra LOOP;
    cvt.rni.u32.f32 %r4, %f10;
    cvt.rni.u32.f32 %r5, %f11;
    st.global.v2.u32 [%own_out], {%r4, %r5};
)" + kSync,
                     .threads = 96,
                     .blocks = 2 * blocks,
                     .cluster = {blocks, 1, 1}};
    for (const PtxRun& ordered : every_order(run)) {
        const auto result = run_ptx(ordered);
        for (std::size_t number = 0; number < words(result).size(); ++number) {
            const auto size = static_cast<std::size_t>(blocks);
            const std::size_t first = number / 96 / size * size;
            std::size_t sum = 0;
            for (std::size_t block = first; block < first + size; ++block) sum += block * 96 + number % 96;
            REQUIRE(words(result)[number] == sum);
            REQUIRE(words(result, 1)[number] == 2 * size);
        }
    }
}

TEST_CASE("emulator clusters: blocks store to and add up in the first one's shared memory") {
    const PtxRun run{.body = kTile + R"(
    st.shared.u32 [%r10], 1000;
)" + kSync + R"(
    mov.u32 %r1, 0;
    mapa.shared::cluster.u32 %r2, %r10, %r1;
    red.shared::cluster.add.u32 [%r2], %r11;
    atom.relaxed.cluster.shared::cluster.add.u32 %r4, [%r2], 10;
    mad.lo.u32 %r3, %r11, 128, 128;
    add.u32 %r3, %r3, %r2;
    st.shared::cluster.u32 [%r3], %number;
)" + kSync + R"(
    setp.ne.u32 %p1, %r11, 0;
    @%p1 bra DONE;
    ld.shared.u32 %r5, [%r10];
    ld.shared.u32 %r6, [%r10+128];
    ld.shared.u32 %r7, [%r10+512];
    st.global.v4.u32 [%own_out], {%r5, %r6, %r7, 0};
DONE:
)",
                     .blocks = 4,
                     .cluster = {4, 1, 1}};
    for (const PtxRun& ordered : every_order(run)) {
        const auto result = run_ptx(ordered);
        for (std::size_t thread = 0; thread < 32; ++thread) {
            REQUIRE(words(result, 0)[thread] == 1000 + 0 + 1 + 2 + 3 + 40);
            REQUIRE(words(result, 1)[thread] == thread);
            REQUIRE(words(result, 2)[thread] == 3 * 32 + thread);
        }
    }
}

TEST_CASE("emulator clusters: addresses, plain, mapped and generic, of variables and registers") {
    const PtxRun run{.body = kTile + R"(
    st.shared.u32 [%r10], %number;
)" + kSync + R"(
    xor.b32 %r1, %r11, 1;
    mapa.shared::cluster.u32 %r2, tile+8, %r1;
    ld.shared::cluster.u32 %r3, [%r2+4];             // word 3 of the other block
    st.global.u32 [%own_out], %r3;
    cvt.u64.u32 %rd1, %r10;
    cvta.shared.u64 %rd2, %rd1;
    mapa.u64 %rd3, %rd2, %r1;
    ld.u32 %r4, [%rd3];                              // by a generic address
    st.global.u32 [%own_out+4], %r4;
    ld.shared::cluster.u32 %r5, [%r10];              // the block's own is in the window, too
    mapa.shared::cluster.u32 %r6, %r10, %r11;
    ld.shared.u32 %r7, [%r6];                        // and is its own by a mapped address
    st.global.v2.u32 [%own_out+8], {%r5, %r7};
    getctarank.shared::cluster.u32 %r24, %r2;
    getctarank.u64 %r25, %rd2;
    mapa.shared::cluster.u64 %rd5, %rd1, %r1;
    cvta.shared::cluster.u64 %rd6, %rd5;
    setp.eq.u64 %p5, %rd6, %rd3;
    selp.u32 %r26, 1, 0, %p5;
    st.global.v4.u32 [%own_out+16], {0, %r24, %r25, %r26};
)" + kSync,
                     .blocks = 4,
                     .cluster = {2, 1, 1}};
    const auto result = run_ptx(run);
    for (std::size_t number = 0; number < words(result).size(); ++number) {
        const std::size_t block = number / 32;
        const std::size_t other = block ^ 1U;
        CHECK(words(result, 0)[number] == other * 32 + 3);
        CHECK(words(result, 1)[number] == other * 32 + number % 32);
        CHECK(words(result, 2)[number] == number);
        CHECK(words(result, 3)[number] == number);
        CHECK(words(result, 5)[number] == other % 2);
        CHECK(words(result, 6)[number] == block % 2);
        CHECK(words(result, 7)[number] == 1);
    }
}

TEST_CASE("emulator clusters: special registers in three dimensions") {
    // A grid of 6x4x3 in clusters of 3x2x1: each block writes what it knows, 16 words.
    const std::vector<std::string> names{"cluster_ctaid.x",  "cluster_ctaid.y",  "cluster_ctaid.z", "cluster_nctaid.x",
                                         "cluster_nctaid.y", "cluster_nctaid.z", "clusterid.x",     "clusterid.y",
                                         "clusterid.z",      "nclusterid.x",     "nclusterid.y",    "nclusterid.z",
                                         "cluster_ctarank",  "cluster_nctarank"};
    std::string body = R"(
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %ctaid.z;
    mad.lo.u32 %r2, %r3, 4, %r2;
    mad.lo.u32 %r1, %r2, 6, %r1;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r1, 64, %rd1;
)";
    for (std::size_t i = 0; i < names.size(); ++i) {
        body += "mov.u32 %r4, %" + names[i] + ";\nst.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r4;\n";
    }
    body += "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd1+56], %r4;\n";
    const auto program = emulator::load_program(module_of(body));
    const emulator::LaunchConfig config{.entry = "k", .grid = {6, 4, 3}, .cluster = {3, 2, 1}, .order_seed = 5};
    const auto result = run_entry(*program, config, std::vector<std::uint32_t>(1), 6 * 4 * 3 * 16);
    for (std::uint32_t z = 0; z < 3; ++z) {
        for (std::uint32_t y = 0; y < 4; ++y) {
            for (std::uint32_t x = 0; x < 6; ++x) {
                const std::vector<std::uint32_t> expected{
                    x % 3, y % 2, 0, 3, 2, 1, x / 3, y / 2, z, 2, 2, 3, y % 2 * 3 + x % 3, 6, 1};
                const auto begin = result.output.begin() + ((z * 4 + y) * 6 + x) * 16;
                CHECK(std::vector<std::uint32_t>(begin, begin + 15) == expected);
            }
        }
    }
}

TEST_CASE("emulator clusters: a launch without one is a cluster of one block") {
    const auto result = run_ptx({.body = kTile + R"(
    mov.pred %p1, %is_explicit_cluster;
    selp.u32 %r1, 1, 0, %p1;
    mov.u32 %r2, %clusterid.x;
    mov.u32 %r3, %nclusterid.x;
    st.global.v4.u32 [%own_out], {%r1, %r2, %r3, %r12};
    st.shared.u32 [%r10], %number;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    xor.b32 %r4, %thread, 32;
    mov.u32 %r5, tile;
    mad.lo.u32 %r5, %r4, 4, %r5;
    mapa.shared::cluster.u32 %r5, %r5, %r11;
    ld.shared::cluster.u32 %r6, [%r5];
    st.global.u32 [%own_out+16], %r6;
)",
                                 .threads = 64,
                                 .blocks = 3});
    for (std::size_t number = 0; number < words(result).size(); ++number) {
        CHECK(words(result, 0)[number] == 0);
        CHECK(words(result, 1)[number] == number / 64);
        CHECK(words(result, 2)[number] == 3);
        CHECK(words(result, 3)[number] == 1);
        CHECK(words(result, 4)[number] == (number ^ 32U));
    }
}

TEST_CASE("emulator clusters: blocks that leave early count as arrived") {
    // Blocks 1 and 2 end before the barrier; warps of block 0 that arrive go on without waiting for them.
    const PtxRun run{.body = kTile + R"(
    setp.ne.u32 %p1, %r11, 0;
    @%p1 exit;
    barrier.cluster.arrive.relaxed.aligned;
    st.shared.u32 [%r10], 7;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r1, [%r10];
    st.global.u32 [%own_out], %r1;
)",
                     .threads = 64,
                     .blocks = 3,
                     .cluster = {3, 1, 1}};
    for (const PtxRun& ordered : every_order(run)) CHECK(words(run_ptx(ordered))[63] == 7);
}

TEST_CASE("emulator clusters: accesses to other blocks are counted by what they ask of whose banks") {
    // Lanes 0 to 15 read the neighbour's words 0, 32, 64, …: one bank, 16 passes; the others their own block's first 16
    // words.
    const auto result = run_ptx({.body = kTile + R"(
    mov.u32 %r1, tile;
LOOP:
    st.shared.u32 [%r10], %thread;
    add.u32 %r10, %r10, 128;
    add.u32 %r2, %r1, 2048;
    setp.lt.u32 %p1, %r10, %r2;
    @%p1 bra LOOP;
)" + kSync + R"(
    xor.b32 %r3, %r11, 1;
    setp.lt.u32 %p2, %thread, 16;
    mad.lo.u32 %r4, %thread, 128, %r1;
    sub.u32 %r5, %thread, 16;
    mad.lo.u32 %r6, %r5, 4, %r1;
    mapa.shared::cluster.u32 %r7, %r1, %r3;
    sub.u32 %r7, %r7, %r1;
    add.u32 %r7, %r7, %r4;
    selp.u32 %r8, %r7, %r6, %p2;
    ld.shared::cluster.u32 %r9, [%r8];
)" + kSync,
                                 .blocks = 2,
                                 .cluster = {2, 1, 1}});
    const emulator::Tally& loads = result.counters.of(InstructionKind::shared_load);
    CHECK(loads.warps == 2);
    CHECK(loads.lanes == 64);
    CHECK(loads.peer_bytes == 2 * 16 * 4);
    CHECK(loads.wavefronts == 2 * (16 + 1));
    CHECK(loads.ideal_wavefronts == 2 * (1 + 1));
    CHECK(result.counters.of(InstructionKind::shared_store).peer_bytes == 0);
    CHECK(result.counters.of(InstructionKind::barrier).warps == 8);
    CHECK(result.counters.total.sectors == 0);
}
