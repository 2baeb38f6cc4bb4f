// Loads, stores, atomics and copies of every width and space, against values worked out by hand.

#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

#include <functional>

using namespace jitgemm;
using emulator::AsyncMode;
using testing::for_threads;
using testing::run_ptx;
using Words = std::vector<std::uint32_t>;

namespace {

/// Bytes 0x80, 0x81 … in order.
Words counting_bytes(std::size_t count) {
    Words input;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = static_cast<std::uint32_t>(4 * i + 0x80);
        input.push_back((first & 0xFFU) | (first + 1 & 0xFFU) << 8U | (first + 2 & 0xFFU) << 16U |
                        (first + 3 & 0xFFU) << 24U);
    }
    return input;
}

}  // namespace

TEST_CASE("emulator memory: every width, sign- and zero-extended to the register", "[threads]") {
    const auto result = run_ptx({.body = R"(
    ld.global.s8 %r1, [%in+1];
    ld.global.u8 %r2, [%in+1];
    ld.global.s16 %r3, [%in+2];
    ld.global.u16 %r4, [%in+2];
    ld.global.s8 %rd1, [%in+1];
    ld.global.s32 %rd2, [%in+4];
    ld.global.s8 %rs1, [%in+3];
    cvt.u32.u16 %r5, %rs1;
    st.global.v4.u32 [%own_out], {%r1, %r2, %r3, %r4};
    mov.b64 {%r6, %r7}, %rd2;
    shr.u64 %rd1, %rd1, 32;
    cvt.u32.u64 %r8, %rd1;
    st.global.v4.u32 [%own_out+16], {%r5, %r6, %r7, %r8};)",
                                 .threads = 1,
                                 .input = counting_bytes(8)});
    CHECK(result.output == Words{0xFFFFFF81, 0x81, 0xFFFF8382, 0x8382, 0xFF83, 0x87868584, 0xFFFFFFFF, 0xFFFFFFFF});
}

TEST_CASE("emulator memory: vectors, narrow stores, cache and prefetch forms", "[threads]") {
    const auto result = run_ptx({.body = R"(
    ld.global.nc.L1::no_allocate.L2::128B.v2.b64 {%rd1, %rd2}, [%in];
    ld.global.cg.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [%in+16];
    ld.volatile.global.u32 %r1, [%in+24];
    ld.relaxed.gpu.global.u32 %r2, [%in+28];
    st.global.wt.v2.u64 [%own_out], {%rd2, %rd1};
    st.global.cs.u8 [%own_out+16], %rs1;
    st.global.u8 [%own_out+17], %r1;
    st.global.v2.u8 [%own_out+18], {%rs3, %rs4};
    st.release.gpu.global.u32 [%own_out+20], %r2;
    prefetch.global.L2 [%in];)",
                                 .threads = 1,
                                 .input = counting_bytes(8)});
    const Words in = counting_bytes(8);
    CHECK(result.output == Words{in[2], in[3], in[0], in[1], 0x96949890, in[7], 0xEEEEEEEE, 0xEEEEEEEE});
}

TEST_CASE("emulator memory: variables of the module, initial values, constants and parameters", "[threads]") {
    const std::string variables = R"(
.global .align 4 .u32 counter = 40;
.global .align 8 .f32 numbers[3] = {1.5, 0f40000000, -3};
.const .align 8 .b8 bytes[8] = {1, 2, 3, 4, 0xff};
)";
    const auto result = run_ptx({.body = R"(
    mov.u64 %rd1, numbers;
    ld.global.f32 %f1, [numbers];
    ld.global.f32 %f2, [%rd1+4];
    ld.const.u32 %r1, [bytes];
    ld.const.u8 %r2, [bytes+4];
    atom.global.add.u32 %r3, [counter], 2;
    ld.global.u32 %r4, [counter];
    st.global.v2.f32 [%own_out], {%f1, %f2};
    st.global.v4.u32 [%own_out+16], {%r1, %r2, %r3, %r4};
    ld.param.v2.u64 {%rd2, %rd3}, [kernel_in];
    sub.u64 %rd3, %rd3, %out;
    st.global.u64 [%own_out+8], %rd3;)",
                                 .threads = 1,
                                 .functions = variables});
    CHECK(result.output == Words{0x3FC00000, 0x40000000, 0, 0, 0x04030201, 0xFF, 40, 42});
}

TEST_CASE("emulator memory: shared and generic addresses, each lane its own space", "[threads]") {
    const auto result = run_ptx({.body = R"(
    mov.u64 %rd1, tile;
    mul.wide.u32 %rd2, %thread, 8;
    add.u64 %rd3, %rd1, %rd2;
    add.u32 %r1, %thread, 500;
    st.shared.u32 [%rd3], %r1;
    cvta.shared.u64 %rd4, %rd3;
    and.b32 %r2, %thread, 1;
    setp.eq.u32 %p1, %r2, 0;
    selp.b64 %rd5, %rd4, %own_in, %p1;
    ld.u32 %r3, [%rd5];
    st.u32 [%rd4+4], %r3;
    ld.shared.u32 %r4, [%rd3+4];
    st.global.u32 [%own_out], %r4;)",
                                 .input = Words(256, 77)});
    CHECK(words(result) == for_threads(32, [](auto t) { return t % 2 == 0 ? 500 + t : 77U; }));
}

TEST_CASE("emulator memory: atomics", "[threads]") {
    const auto result = run_ptx({.body = R"(
    mov.u64 %rd1, tile;
    setp.eq.u32 %p1, %thread, 0;
    @%p1 st.shared.v4.u32 [tile], {0, 100, 5, 0xffffffff};
    @%p1 st.shared.v4.u32 [tile+16], {0, 0, 1000, 0};
    bar.sync 0;
    atom.shared.add.u32 %r1, [%rd1], 3;
    sub.s32 %r2, 50, %thread;
    red.shared.min.s32 [%rd1+4], %r2;
    atom.shared.inc.u32 %r3, [%rd1+8], 6;
    shl.b32 %r4, 1, %thread;
    red.shared.and.b32 [%rd1+12], 0xffff00ff;
    red.shared.or.b32 [%rd1+16], %r4;
    red.shared.add.f32 [%rd1+20], 0f3F000000;
    atom.shared.cas.b32 %r5, [%rd1+24], 1000, 77;
    atom.shared.exch.b32 %r6, [%rd1+28], 9;
    bar.sync 0;
    @%p1 ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [tile];
    @%p1 ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [tile+16];
    @%p1 st.global.v4.u32 [%own_out], {%r10, %r11, %r12, %r13};
    @%p1 st.global.v4.u32 [%own_out+16], {%r14, %r15, %r16, %r17};)",
                                 .threads = 64});
    const Words first(result.output.begin(), result.output.begin() + 8);
    // 64 increments from 5 that wrap after 6: 5, 6, then 0 to 6 over and over.
    CHECK(first ==
          Words{192, static_cast<std::uint32_t>(50 - 63), (5 + 64) % 7, 0xFFFF00FF, 0xFFFFFFFF, 0x42000000, 77, 9});
}

TEST_CASE("emulator memory: atomics of many blocks on one counter lose nothing", "[threads]") {
    const auto result = run_ptx({.body = R"(
    red.global.add.u32 [%out+4], 1;
    atom.global.add.u64 %rd1, [%out+8], 1;
    red.global.add.noftz.f16x2 [%out+16], 0x3c003800;)",
                                 .threads = 64,
                                 .blocks = 20});
    CHECK(result.output[1] == 0xEEEEEEEEU + 64 * 20);
    CHECK(result.output[2] == 0xEEEEEEEEU + 64 * 20);
}

TEST_CASE("emulator memory: cp.async in all sizes, with zero fill and ignored sources, in both modes", "[threads]") {
    for (const AsyncMode mode : {AsyncMode::eager, AsyncMode::late}) {
        const auto result = run_ptx({.body = R"(
    mov.u64 %rd1, tile;
    cvt.u32.u64 %r1, %rd1;
    mul.lo.u32 %r2, %thread, 64;
    add.u32 %r1, %r1, %r2;
    setp.eq.u32 %p1, %thread, 1;
    cp.async.ca.shared.global [%r1], [%own_in], 4;
    cp.async.ca.shared.global.L2::128B [%r1+8], [%own_in+8], 8, 5;
    cp.async.cg.shared.global [%r1+16], [%own_in+16], 16, %p1;
    cp.async.commit_group;
    cp.async.cg.shared.global.L2::256B [%r1+32], [%own_in], 16, 0;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r3, [%r1];
    ld.shared.v2.u32 {%r4, %r5}, [%r1+8];
    ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r1+16];
    cp.async.wait_all;
    ld.shared.u32 %r10, [%r1+44];
    st.global.v4.u32 [%own_out], {%r3, %r4, %r5, %r6};
    st.global.v2.u32 [%own_out+16], {%r9, %r10};)",
                                     .threads = 2,
                                     .input = counting_bytes(16),
                                     .async_mode = mode});
        const Words in = counting_bytes(16);
        CHECK(result.output == Words{in[0], in[2], in[3] & 0xFFU, in[4], in[7], 0, 0xEEEEEEEE, 0xEEEEEEEE,  //
                                     in[8], in[10], in[11] & 0xFFU, 0, 0, 0, 0xEEEEEEEE, 0xEEEEEEEE});
    }
}
