// Counters agree with the layout library and with counts by hand, and the emulator is fast enough.

#include "generator/layout/swizzle.hpp"
#include "runtime/emulator/traffic.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/wavefronts.hpp"

#include <array>
#include <ctime>
#include <iostream>
#include <random>
#include <set>
#include <utility>

using namespace jitgemm;
using emulator::count_sectors;
using emulator::count_wavefronts;
using emulator::InstructionKind;
using jitgemm::testing::access_wavefronts;
using jitgemm::testing::ldmatrix_wavefronts;
using testing::run_ptx;

TEST_CASE("emulator: shared-memory wavefronts are the layout library's") {
    std::mt19937 random(3);
    for (const std::uint32_t bytes : {1U, 2U, 4U, 8U, 16U}) {
        for (int trial = 0; trial < 200; ++trial) {
            emulator::LaneAddresses addresses{};
            const std::uint32_t span = trial % 2 == 0 ? 64 : 4096;
            for (std::uint64_t& address : addresses) address = random() % (span / bytes) * bytes;
            const auto at = [&](int lane) { return static_cast<int>(addresses[static_cast<std::size_t>(lane)]); };
            const emulator::Wavefronts counted = count_wavefronts(addresses, emulator::kAllLanes, bytes);
            CHECK(counted.actual == access_wavefronts(static_cast<int>(bytes), at));
            CHECK(counted.ideal == (bytes <= 4 ? 1 : static_cast<int>(bytes / 4)));
            if (bytes != 16) continue;
            for (const int x : {1, 2, 4}) {
                const emulator::Mask lanes = emulator::kAllLanes >> (32 - 8 * x);
                CHECK(count_wavefronts(addresses, lanes, 16).actual == ldmatrix_wavefronts(x, at));
            }
        }
    }
    emulator::LaneAddresses same_bank{};
    for (std::size_t lane = 0; lane < 32; ++lane) same_bank[lane] = 128 * lane;
    CHECK(count_wavefronts(same_bank, 0xFFU, 4).actual == 8);
    CHECK(count_wavefronts(same_bank, 0, 4).ideal == 0);
}

TEST_CASE("emulator: wavefronts of loads are the layout library's, for any mask") {
    std::mt19937 random(5);
    for (const std::uint32_t bytes : {4U, 8U, 16U}) {
        for (int trial = 0; trial < 300; ++trial) {
            emulator::LaneAddresses addresses{};
            const std::uint32_t distinct = trial % 3 == 0   ? 1
                                           : trial % 3 == 1 ? 2
                                                            : 32;  // lanes that want something else
            for (std::uint32_t lane = 0; lane < 32; ++lane)
                addresses[lane] = lane / (32 / distinct) * 128 + lane % 2 * bytes;
            constexpr std::array kMasks{emulator::kAllLanes, 0x55555555U, 0x33333333U, 0x0000FFFFU, 1U};
            const emulator::Mask mask = kMasks.at(static_cast<std::size_t>(trial) % kMasks.size()) & ~(random() % 2);
            const auto counted = emulator::count_load_wavefronts(addresses, mask, bytes);
            const auto expected = load_wavefronts(
                static_cast<int>(bytes), lane_addresses([&](int lane) {
                    const bool active = (mask >> lane & 1U) != 0;
                    return active ? static_cast<int>(addresses[static_cast<std::size_t>(lane)]) : kInactiveLane;
                }));
            CHECK(counted.actual == expected.count);
            CHECK(counted.ideal == expected.ideal);
        }
    }
}

TEST_CASE("emulator: sectors of a copy past the L1, as an H200 counts them") {
    // Four rows of 128 bytes, eight lanes each, to rows of shared memory `pitch` apart.
    const auto sectors_of = [](std::uint64_t first, std::uint64_t pitch, emulator::Mask mask = emulator::kAllLanes) {
        emulator::LaneAddresses sources{};
        emulator::LaneAddresses destinations{};
        for (std::uint64_t lane = 0; lane < 32; ++lane) {
            sources[lane] = first + lane / 8 * 512 + lane % 8 * 16;
            destinations[lane] = lane / 8 * pitch + lane % 8 * 16;
        }
        const emulator::CopySectors counted = emulator::count_copy_sectors(sources, destinations, mask);
        return std::pair{counted.l1, counted.l2};
    };
    CHECK(sectors_of(0, 128) == std::pair{16, 16});
    CHECK(sectors_of(16, 128) == std::pair{20, 32});  // each lane's half of a sector goes elsewhere than the other half
    CHECK(sectors_of(0, 144) == std::pair{18, 24});   // of two rows out of four
    CHECK(sectors_of(16, 144) == std::pair{20, 26});  // where both are off by 16 they fit again
    CHECK(sectors_of(0, 128, 0) == std::pair{0, 0});
    CHECK(sectors_of(0, 128, 0x1) == std::pair{1, 1});
    CHECK(sectors_of(16, 128, 0x3) == std::pair{1, 2});
}

TEST_CASE("emulator: sectors are counted once per request") {
    std::mt19937 random(4);
    for (int trial = 0; trial < 200; ++trial) {
        emulator::LaneAddresses addresses{};
        std::set<std::uint64_t> sectors;
        const emulator::Mask mask = trial % 3 == 0 ? emulator::kAllLanes : static_cast<emulator::Mask>(random());
        for (std::size_t lane = 0; lane < 32; ++lane) {
            addresses[lane] = random() % 256 * 8;
            if ((mask >> lane & 1U) != 0) sectors.insert(addresses[lane] / 32);
        }
        CHECK(count_sectors(addresses, mask, 8) == static_cast<int>(sectors.size()));
    }
}

TEST_CASE("emulator: a launch's counters, by kind and by line", "[threads]") {
    const auto result = run_ptx({.body = R"(
    ld.global.u32 %r1, [%own_in];
    mul.wide.u32 %rd1, %thread, 16;
    add.u64 %rd2, %in, %rd1;
    ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];
    mov.u64 %rd3, tile;
    mul.wide.u32 %rd4, %thread, 128;
    add.u64 %rd4, %rd3, %rd4;
    st.shared.u32 [%rd4], %r1;
    bar.sync 0;
    setp.lt.u32 %p1, %thread, 8;
    @%p1 st.global.u32 [%own_out], %r2;)",
                                 .blocks = 3});
    const emulator::Counters& counters = result.counters;
    CHECK(counters.blocks == 3);
    CHECK(counters.of(InstructionKind::global_load).warps == 6);
    CHECK(counters.of(InstructionKind::global_load).global_read_bytes == 3 * (32 * 4 + 32 * 16));
    CHECK(counters.of(InstructionKind::global_load).sectors == 3 * (32 + 16));
    CHECK(counters.of(InstructionKind::global_store).lanes == 3 * 8);
    CHECK(counters.of(InstructionKind::global_store).global_written_bytes == 3 * 8 * 4);
    CHECK(counters.of(InstructionKind::shared_store).wavefronts == 3 * 32);
    CHECK(counters.of(InstructionKind::shared_store).ideal_wavefronts == 3);
    CHECK(counters.of(InstructionKind::barrier).warps == 3);
    std::uint64_t lanes = 0;
    for (const emulator::LineTally& line : counters.lines) lanes += line.tally.lanes;
    CHECK(lanes == counters.total.lanes);
    CHECK(counters.lines.front().text == "ld.param.u64 %in, [kernel_in];");
}

TEST_CASE("emulator: lane-instructions per second", "[.benchmark]") {
    const auto measure = [](const std::string& what, const std::string& body, bool tensor = false) {
        const std::clock_t begin = std::clock();
        const auto result = run_ptx({.body = body});
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        const auto done = static_cast<double>(tensor ? result.counters.total.operations : result.counters.total.lanes);
        std::cout << what << ": " << done / seconds / (tensor ? 1e9 : 1e6)
                  << (tensor ? " GFLOP/s" : " M lane-instructions/s") << " of one core's time\n";
    };
    const auto loop = [](const std::string& body, int trips) {
        return "mov.u32 %r1, 0;\nmov.u32 %r2, %thread;\nmov.f32 %f1, 0f3F800000;\nmov.u64 %rd1, tile;\n"
               "mul.wide.u32 %rd2, %thread, 4;\nadd.u64 %rd2, %rd1, %rd2;\nst.shared.u32 [%rd2], %thread;\n"
               "mul.wide.u32 %rd3, %thread, 16;\nadd.u64 %rd3, %rd1, %rd3;\nst.shared.v4.u32 [%rd3], {%r2, %r2, %r2, "
               "%r2};\n"
               "LOOP:\n" +
               body + "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, " + std::to_string(trips) + ";\n@%p1 bra LOOP;";
    };
    measure(
        "integer",
        loop("add.u32 %r2, %r2, 7;\nxor.b32 %r3, %r2, %r1;\nmad.lo.s32 %r4, %r3, %r2, %r1;\n"
             "shl.b32 %r5, %r4, 3;\nand.b32 %r6, %r5, 255;\nmul.wide.u32 %rd4, %r6, 8;\nadd.s64 %rd5, %rd4, %rd4;\n",
             300000));
    measure("f32",
            loop("mul.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;\nsub.f32 %f4, %f3, %f2;\nmul.f32 %f5, %f4, %f3;\n",
                 300000));
    measure(
        "shared",
        loop("st.shared.u32 [%rd2], %r2;\nld.shared.u32 %r3, [%rd2];\nld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];\n",
             50000));
    measure("global",
            loop("ld.global.u32 %r3, [%own_in];\nst.global.v4.u32 [%own_out], {%r3, %r3, %r3, %r3};\n", 50000));
    measure("mma",
            loop("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r2, %r2, %r2, %r2}, "
                 "{%r2, %r2}, "
                 "{%f1, %f1, %f1, %f1};\n",
                 50000),
            true);
}
