// Divergence, loops, exits, calls, warp-wide instructions and barriers, against values worked out by hand.

#include "runtime/emulator/fault.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

#include <functional>
#include <numeric>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::FaultKind;
using testing::fault_of;
using testing::for_threads;
using testing::PtxRun;
using testing::run_ptx;
using Words = std::vector<std::uint32_t>;

TEST_CASE("emulator: lanes that part at a branch meet behind it") {
    const auto result = run_ptx({.body = R"(
    setp.lt.u32 %p1, %thread, 10;
    mov.u32 %r1, 0;
    @%p1 bra SMALL;
    activemask.b32 %r2;
    add.u32 %r1, %thread, 1000;
    bra JOIN;
SMALL:
    activemask.b32 %r2;
    mul.lo.u32 %r1, %thread, 3;
JOIN:
    activemask.b32 %r3;
    st.global.v4.u32 [%own_out], {%r1, %r2, %r3, %r3};)"});
    CHECK(words(result, 0) == for_threads(32, [](auto t) { return t < 10 ? 3 * t : 1000 + t; }));
    CHECK(words(result, 1) == for_threads(32, [](auto t) { return t < 10 ? 0x3FFU : 0xFFFFFC00U; }));
    CHECK(words(result, 2) == Words(32, 0xFFFFFFFF));
}

TEST_CASE("emulator: predicates set to constants, under a guard too") {
    const auto result = run_ptx({.body = R"(
    setp.lt.u32 %p1, %thread, 10;
    mov.pred %p2, 0;
    @%p1 mov.pred %p2, -1;
    selp.u32 %r1, 7, 3, %p2;
    mov.pred %p3, 1;
    selp.u32 %r2, 5, 4, %p3;
    st.global.v4.u32 [%own_out], {%r1, %r2, %r2, %r2};)"});
    CHECK(words(result, 0) == for_threads(32, [](auto t) { return t < 10 ? 7U : 3U; }));
    CHECK(words(result, 1) == Words(32, 5));
}

TEST_CASE("emulator: a loop with a trip count for each lane, and a break out of two") {
    const auto result = run_ptx({.body = R"(
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
OUTER:
    mov.u32 %r3, 0;
INNER:
    add.u32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r2, 20;
    @%p1 bra DONE;
    add.u32 %r3, %r3, 1;
    setp.le.u32 %p2, %r3, %thread;
    @%p2 bra INNER;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 4;
    @%p3 bra OUTER;
DONE:
    activemask.b32 %r4;
    st.global.v4.u32 [%own_out], {%r1, %r2, %r4, %r4};)"});
    const auto steps = [](std::uint32_t t) { return std::min<std::uint32_t>(20, 4 * (t + 1)); };
    CHECK(words(result, 1) == for_threads(32, steps));
    CHECK(words(result, 0) == for_threads(32, [](auto t) { return 4 * (t + 1) < 20 ? 4U : 19 / (t + 1); }));
    CHECK(words(result, 2) == Words(32, 0xFFFFFFFF));
}

TEST_CASE("emulator: threads end one by one, the others go on together") {
    const auto result = run_ptx({.body = R"(
    and.b32 %r1, %thread, 1;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 exit;
    setp.lt.u32 %p2, %thread, 8;
    @!%p2 bra NEXT;
    activemask.b32 %r2;
    st.global.u32 [%own_out], %r2;
    ret;
NEXT:
    activemask.b32 %r2;
    st.global.u32 [%own_out], %r2;)"});
    CHECK(words(result) == for_threads(32, [](auto t) {
              return t % 2 == 1 ? 0xEEEEEEEEU : t < 8 ? 0x55U : 0x55555500U;
          }));
}

TEST_CASE("emulator: a function is called by part of a warp, with local memory of its own") {
    const std::string function = R"(
.func (.param .b32 result) sum_below(.param .b32 limit, .param .align 8 .b8 pair[8])
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<2>;
    .local .align 16 .b8 slots[128];
    ld.param.u32 %r1, [limit];
    ld.param.u32 %r5, [pair+4];
    mov.u64 %rd1, slots;
    mov.u32 %r2, 0;
    mov.u32 %r3, %r5;
LOOP:
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.local.u32 [%rd2], %r2;
    ld.local.u32 %r4, [%rd2];
    add.u32 %r3, %r3, %r4;
    add.u32 %r2, %r2, 1;
    bra LOOP;
DONE:
    st.param.b32 [result], %r3;
    ret;
}
)";
    const auto result = run_ptx({.body = R"(
    mov.u32 %r9, 7;
    setp.gt.u32 %p1, %thread, 3;
    @!%p1 bra SKIP;
    {
        .param .b32 argument;
        .param .align 8 .b8 both[8];
        .param .b32 returned;
        st.param.b32 [argument], %thread;
        st.param.v2.b32 [both], {%r9, 100};
        call.uni (returned), sum_below, (argument, both);
        ld.param.b32 %r9, [returned];
    }
SKIP:
    st.global.u32 [%own_out], %r9;)",
                                 .functions = function});
    CHECK(words(result) == for_threads(32, [](auto t) { return t > 3 ? 100 + t * (t - 1) / 2 : 7; }));
}

TEST_CASE("emulator: local memory of the kernel through a generic address") {
    const auto result = run_ptx({.body = R"(
    .local .align 16 .b8 depot[64];
    mov.u64 %rd1, depot;
    cvta.local.u64 %rd2, %rd1;
    and.b32 %r1, %thread, 7;
    mul.wide.u32 %rd3, %r1, 8;
    add.u64 %rd3, %rd2, %rd3;
    st.u64 [%rd3], %own_in;
    cvta.to.local.u64 %rd4, %rd3;
    ld.local.v2.u32 {%r2, %r3}, [%rd4];
    cvt.u32.u64 %r4, %own_in;
    sub.u32 %r2, %r2, %r4;
    st.global.u32 [%own_out], %r2;)"});
    CHECK(words(result, 0) == Words(32, 0));
}

TEST_CASE("emulator: shuffles") {
    const auto result = run_ptx({.body = R"(
    mul.lo.u32 %r1, %thread, 10;
    shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, 0xffffffff;
    shfl.sync.up.b32 %r3|%p2, %r1, 5, 0, -1;
    shfl.sync.bfly.b32 %r4, %r1, 17, 31, -1;
    shfl.sync.idx.b32 %r5, %r1, 2, 0x1c1f, -1;
    selp.u32 %r6, 1, 0, %p1;
    selp.u32 %r7, 1, 0, %p2;
    st.global.v4.u32 [%own_out], {%r2, %r3, %r4, %r5};
    st.global.v2.u32 [%own_out+16], {%r6, %r7};)"});
    CHECK(words(result, 0) == for_threads(32, [](auto t) { return 10 * (t < 29 ? t + 3 : t); }));
    CHECK(words(result, 1) == for_threads(32, [](auto t) { return 10 * (t >= 5 ? t - 5 : t); }));
    CHECK(words(result, 2) == for_threads(32, [](auto t) { return 10 * (t ^ 17U); }));
    CHECK(words(result, 3) == for_threads(32, [](auto t) { return 10 * ((t & ~3U) + 2); }));  // segments of 4
    CHECK(words(result, 4) == for_threads(32, [](auto t) { return t < 29 ? 1U : 0U; }));
    CHECK(words(result, 5) == for_threads(32, [](auto t) { return t >= 5 ? 1U : 0U; }));
}

TEST_CASE("emulator: votes, match, redux, elect") {
    const auto result = run_ptx({.body = R"(
    setp.lt.u32 %p1, %thread, 5;
    vote.sync.ballot.b32 %r1, %p1, -1;
    vote.sync.any.pred %p2, %p1, -1;
    vote.sync.all.pred %p3, %p1, -1;
    vote.sync.uni.pred %p4, %p1, -1;
    selp.u32 %r2, 1, 0, %p2;
    selp.u32 %r3, 2, 0, %p3;
    selp.u32 %r4, 4, 0, %p4;
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    and.b32 %r5, %thread, 3;
    match.any.sync.b32 %r6, %r5, -1;
    redux.sync.add.s32 %r7, %thread, -1;
    sub.s32 %r8, 3, %thread;
    redux.sync.min.s32 %r8, %r8, -1;
    elect.sync %r9|%p5, -1;
    selp.u32 %r10, 1, 0, %p5;
    match.all.sync.b32 %r11|%p6, %r7, -1;
    st.global.v4.u32 [%own_out], {%r1, %r2, %r6, %r7};
    st.global.v4.u32 [%own_out+16], {%r8, %r9, %r10, %r11};)"});
    CHECK(words(result, 0) == Words(32, 0x1F));
    CHECK(words(result, 1) == Words(32, 1));
    CHECK(words(result, 2) == for_threads(32, [](auto t) { return 0x11111111U << (t & 3U); }));
    CHECK(words(result, 3) == Words(32, 31 * 32 / 2));
    CHECK(words(result, 4) == Words(32, static_cast<std::uint32_t>(3 - 31)));
    CHECK(words(result, 5) == Words(32, 0));
    CHECK(words(result, 6) == for_threads(32, [](auto t) { return t == 0 ? 1U : 0U; }));
    CHECK(words(result, 7) == Words(32, 0xFFFFFFFF));
}

TEST_CASE("emulator: warps pass values through shared memory, in any order of warps", "[threads]") {
    PtxRun run{.body = R"(
    mov.u64 %rd1, tile;
    mul.wide.u32 %rd2, %thread, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.shared.u32 [%rd2], %thread;
    bar.sync 0;
    xor.b32 %r1, %thread, 96;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd3, %rd1, %rd3;
    ld.shared.u32 %r2, [%rd3];
    bar.sync 0;
    st.shared.u32 [%rd2], %r2;
    st.global.u32 [%own_out], %r2;)",
               .threads = 128,
               .blocks = 5};
    for (run.order_seed = 0; run.order_seed < 5; ++run.order_seed) {
        Words expected;
        for (int block = 0; block < 5; ++block) {
            const Words one = for_threads(128, [](auto t) { return t ^ 96U; });
            expected.insert(expected.end(), one.begin(), one.end());
        }
        CHECK(words(run_ptx(run)) == expected);
    }
}

TEST_CASE("emulator: named barriers of pairs of warps, producers that only arrive, reductions") {
    const auto result = run_ptx({.body = R"(
    shr.u32 %r1, %thread, 5;
    shr.u32 %r2, %thread, 6;
    add.u32 %r2, %r2, 1;
    mov.u64 %rd1, tile;
    mul.wide.u32 %rd2, %thread, 4;
    add.u64 %rd2, %rd1, %rd2;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @!%p1 bra CONSUMER;
    st.shared.u32 [%rd2], %thread;
    bar.arrive %r2, 64;
    mov.u32 %r4, 0;
    bra JOIN;
CONSUMER:
    bar.sync %r2, 64;
    ld.shared.u32 %r4, [%rd2+-128];
JOIN:
    setp.lt.u32 %p2, %thread, 50;
    bar.red.popc.u32 %r5, 0, %p2;
    bar.red.and.pred %p3, 0, %p2;
    barrier.cta.red.or.pred.aligned %p4, 0, %p2;
    selp.u32 %r6, 1, 0, %p3;
    selp.u32 %r7, 1, 0, %p4;
    st.global.v4.u32 [%own_out], {%r4, %r5, %r6, %r7};)",
                                 .threads = 128,
                                 .order_seed = 3});
    CHECK(words(result, 0) == for_threads(128, [](auto t) { return t / 32 % 2 == 0 ? 0 : t - 32; }));
    CHECK(words(result, 1) == Words(128, 50));
    CHECK(words(result, 2) == Words(128, 0));
    CHECK(words(result, 3) == Words(128, 1));
}

TEST_CASE("emulator: a warp that has ended is not waited for") {
    const auto result = run_ptx({.body = R"(
    setp.lt.u32 %p1, %thread, 32;
    @%p1 exit;
    bar.sync 0;
    st.global.u32 [%own_out], %thread;)",
                                 .threads = 96});
    CHECK(words(result) == for_threads(96, [](auto t) { return t < 32 ? 0xEEEEEEEEU : t; }));
}

TEST_CASE("emulator: barriers that part of a warp meets, that disagree, or that nobody completes") {
    SECTION("divergence") {
        const auto fault = fault_of({.body = R"(
    setp.lt.u32 %p1, %thread, 16;
    @%p1 bra SKIP;
    bar.sync 0;
SKIP:
    bar.sync 0;)"});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::barrier_divergence);
        CHECK_THAT(fault->text, ContainsSubstring("bar.sync 0;"));
        CHECK_THAT(fault->text, ContainsSubstring("lanes 0xffff0000"));
    }
    SECTION("a guarded barrier") {
        const auto fault = fault_of({.body = "setp.lt.u32 %p1, %thread, 16;\n@%p1 bar.sync 0;"});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::barrier_divergence);
    }
    SECTION("counts that disagree") {
        const auto fault = fault_of({.body = R"(
    setp.lt.u32 %p1, %thread, 32;
    @%p1 bra ALL;
    bar.sync 1, 64;
    bra DONE;
ALL:
    bar.sync 1, 96;
DONE:)",
                                     .threads = 96});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::barrier_count);
        CHECK_THAT(fault->text, ContainsSubstring("64"));
        CHECK_THAT(fault->text, ContainsSubstring("96"));
    }
    SECTION("a count that is no multiple of 32") {
        const auto fault = fault_of({.body = "bar.sync 1, 40;", .threads = 64});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::barrier_count);
    }
    SECTION("deadlock") {
        const auto fault = fault_of({.body = R"(
    setp.lt.u32 %p1, %thread, 32;
    @%p1 bra OTHER;
    bar.sync 0;
    bra DONE;
OTHER:
    bar.sync 3, 64;
DONE:)",
                                     .threads = 64});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::deadlock);
        CHECK_THAT(fault->text, ContainsSubstring("barrier 0: 32 of all threads have come"));
        CHECK_THAT(fault->text, ContainsSubstring("barrier 3: 32 of 64 threads have come"));
        CHECK_THAT(fault->text, ContainsSubstring("warp 0 waits at PTX line"));
        CHECK_THAT(fault->text, ContainsSubstring("bar.sync 3, 64;"));
    }
    SECTION("a warp barrier whose lanes are elsewhere") {
        const auto fault = fault_of({.body = "setp.lt.u32 %p1, %thread, 16;\n@%p1 bar.warp.sync -1;"});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::barrier_divergence);
    }
}

TEST_CASE("emulator: launches that never end, end", "[threads]") {
    const std::string forever = "FOREVER: add.u32 %r1, %thread, 1;\n bra FOREVER;";
    SECTION("at the limit of work") {
        const auto fault = fault_of({.body = forever, .work_limit = 1000000});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::work_limit);
    }
    SECTION("by an estimate from the first block") {
        const std::string loop =
            "mov.u32 %r1, 0;\nLOOP: add.u32 %r1, %r1, 1;\n setp.lt.u32 %p1, %r1, 1000;\n@%p1 bra LOOP;";
        const auto fault = fault_of({.body = loop, .blocks = 100000, .work_limit = 10000000});
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::work_limit);
        CHECK_THAT(fault->text, ContainsSubstring("too large for the emulator: 100000 blocks"));
    }
    SECTION("by request") {
        int asked = 0;
        const PtxRun run{.body = forever, .stop = [&] { return ++asked > 10; }};
        CHECK_THROWS_AS(run_ptx(run), emulator::EmulatorStopped);
    }
}

TEST_CASE("emulator: trap names the thread") {
    const auto fault = fault_of({.body = "setp.eq.u32 %p1, %thread, 37;\n@%p1 trap;", .threads = 64});
    REQUIRE(fault);
    CHECK(fault->kind == FaultKind::trap);
    CHECK_THAT(fault->text, ContainsSubstring("thread (37,0,0) of block (0,0,0)"));
}
