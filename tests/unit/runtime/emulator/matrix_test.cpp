// ldmatrix, stmatrix, mma and wmma: matrices of small integers, so that products are exact.

#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

using namespace jitgemm;
using testing::fault_of;
using testing::run_ptx;
using Words = std::vector<std::uint32_t>;

namespace {

/// Fills 1024 bytes of the tile: 16-bit element i is i. Each lane stores 32 bytes.
const std::string kFill = R"(
    mov.u64 %rd1, tile;
    cvt.u32.u64 %r1, %rd1;
    mul.lo.u32 %r2, %thread, 32;
    add.u32 %r2, %r1, %r2;
    mul.lo.u32 %r3, %thread, 16;
    mov.u32 %r4, 0;
FILL:
    add.u32 %r5, %r3, %r4;
    cvt.u16.u32 %rs1, %r5;
    mad.lo.u32 %r6, %r4, 2, %r2;
    st.shared.u16 [%r6], %rs1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 16;
    @%p1 bra FILL;
    mad.lo.u32 %r7, %thread, 16, %r1;
)";

std::uint32_t packed(std::uint32_t low, std::uint32_t high) { return low | high << 16U; }

}  // namespace

TEST_CASE("emulator: ldmatrix gives row l/4, columns 2(l%4) and the next, .trans the transpose") {
    const auto result = run_ptx({.body = kFill + R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r7];
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r7];
    ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%r16}, [%r7];
    st.global.v4.u32 [%own_out], {%r10, %r11, %r12, %r13};
    st.global.v4.u32 [%own_out+16], {%r14, %r15, %r16, 0};)"});
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t row = lane / 4;
        const std::uint32_t column = lane % 4 * 2;
        const auto* own = result.output.data() + std::size_t{8} * lane;
        for (std::uint32_t i = 0; i < 4; ++i) {
            CHECK(own[i] == packed(64 * i + 8 * row + column, 64 * i + 8 * row + column + 1));
        }
        for (std::uint32_t i = 0; i < 2; ++i) {
            CHECK(own[4 + i] == packed(64 * i + 8 * column + row, 64 * i + 8 * (column + 1) + row));
        }
        CHECK(own[6] == own[0]);
    }
}

TEST_CASE("emulator: stmatrix is ldmatrix backwards") {
    const auto result = run_ptx({.body = kFill + R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r7];
    add.u32 %r8, %r7, 1024;
    stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r8], {%r10, %r11, %r12, %r13};
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r14, %r15, %r16, %r17}, [%r8];
    st.global.v4.u32 [%own_out], {%r10, %r11, %r12, %r13};
    st.global.v4.u32 [%own_out+16], {%r14, %r15, %r16, %r17};)"});
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < 4; ++i) CHECK(result.output[8 * lane + i] == result.output[8 * lane + 4 + i]);
    }
}

TEST_CASE("emulator: mma multiplies fragments as the ISA lays them out") {
    // A(m, k) = m + 1 where k = 0, else 0; B(k, n) = n + 1 where k = 0: D(m, n) = (m + 1)(n + 1) + 1000.
    // k = 0 is in lanes with l % 4 = 0, low half of a0 (row l/4), a1 (row l/4 + 8) and b0 (column l/4).
    const auto result = run_ptx({.body = R"(
    shr.u32 %r1, %thread, 2;
    and.b32 %r2, %thread, 3;
    setp.eq.u32 %p1, %r2, 0;
    add.u32 %r3, %r1, 1;
    cvt.rn.f16.u32 %rs1, %r3;
    add.u32 %r3, %r1, 9;
    cvt.rn.f16.u32 %rs2, %r3;
    cvt.u32.u16 %r4, %rs1;
    cvt.u32.u16 %r5, %rs2;
    selp.b32 %r4, %r4, 0, %p1;
    selp.b32 %r5, %r5, 0, %p1;
    mov.f32 %f5, 0f447A0000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r4, %r5, 0, 0}, {%r4, 0},
        {%f5, %f5, %f5, %f5};
    cvt.rni.u32.f32 %r6, %f1;
    cvt.rni.u32.f32 %r7, %f2;
    cvt.rni.u32.f32 %r8, %f3;
    cvt.rni.u32.f32 %r9, %f4;
    st.global.v4.u32 [%own_out], {%r6, %r7, %r8, %r9};)"});
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t row = lane / 4 + 8 * (i / 2);
            const std::uint32_t column = lane % 4 * 2 + i % 2;
            CHECK(result.output[8 * lane + i] == (row + 1) * (column + 1) + 1000);
        }
    }
    CHECK(result.counters.total.operations == 2 * 16 * 8 * 16);
    CHECK(result.counters.of(emulator::InstructionKind::tensor).warps == 1);
}

TEST_CASE("emulator: mma of f64 keeps all bits") {
    // A(m, 0) = m + 1, B(0, n) = 2^-40 n + 1: products that f32 would round.
    const auto result = run_ptx({.body = R"(
    shr.u32 %r1, %thread, 2;
    and.b32 %r2, %thread, 3;
    setp.eq.u32 %p1, %r2, 0;
    cvt.rn.f64.u32 %fd1, %r1;
    add.f64 %fd2, %fd1, 1.0;
    fma.rn.f64 %fd3, %fd1, 0d3D70000000000000, 1.0;
    mov.f64 %fd4, 0d0000000000000000;
    selp.f64 %fd2, %fd2, %fd4, %p1;
    selp.f64 %fd3, %fd3, %fd4, %p1;
    mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd5, %fd6}, {%fd2}, {%fd3}, {%fd4, %fd4};
    st.global.v2.f64 [%own_out], {%fd5, %fd6};)"});
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t i = 0; i < 2; ++i) {
            const std::size_t at = 8 * lane + 2 * i;
            const std::uint64_t bits = std::uint64_t{result.output[at + 1]} << 32U | result.output[at];
            const std::uint32_t row = lane / 4;
            const double column = lane % 4 * 2 + i;
            CHECK(std::bit_cast<double>(bits) == (row + 1.0) * (0x1p-40 * column + 1));
        }
    }
}

TEST_CASE("emulator: wmma loads, multiplies and stores whole matrices") {
    struct Shape {
        const char* name;
        std::uint32_t m, n, k;
    };
    // A(m, k) = m where k = 0, B(k, n) = n where k = 0: both are zero but for a column and a row.
    for (const Shape& shape : {Shape{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16}}) {
        const std::string body = R"(
    mov.u64 %rd1, tile;
    mul.wide.u32 %rd2, %thread, 64;
    add.u64 %rd2, %rd1, %rd2;
    mov.u32 %r1, 0;
ZERO:
    st.shared.u32 [%rd2], 0;
    add.u64 %rd2, %rd2, 4;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra ZERO;
    bar.warp.sync -1;
    cvt.rn.f16.u32 %rs1, %thread;
    mul.wide.u32 %rd3, %thread, 32;
    add.u64 %rd3, %rd1, %rd3;
    setp.lt.u32 %p1, %thread, MMM;
    setp.lt.u32 %p2, %thread, NNN;
    @%p1 st.shared.u16 [%rd3], %rs1;
    @%p2 st.shared.u16 [%rd3+1024], %rs1;
    bar.warp.sync -1;
    wmma.load.a.sync.aligned.row.SHAPE.shared.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd1], 16;
    wmma.load.b.sync.aligned.col.SHAPE.shared.f16 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%rd1+1024], 16;
    mov.f32 %f10, 0f40000000;
    wmma.mma.sync.aligned.row.col.SHAPE.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8},
        {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27},
        {%f10, %f10, %f10, %f10, %f10, %f10, %f10, %f10};
    wmma.store.d.sync.aligned.row.SHAPE.global.f32 [%out], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, NNN;)";
        std::string text = body;
        const auto replace = [&](const std::string& what, const std::string& with) {
            for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what))
                text.replace(at, what.size(), with);
        };
        replace("SHAPE", shape.name);
        replace("MMM", std::to_string(shape.m));
        replace("NNN", std::to_string(shape.n));
        const auto result = run_ptx({.body = text});
        for (std::uint32_t row = 0; row < shape.m; ++row) {
            for (std::uint32_t column = 0; column < shape.n; ++column) {
                const float value = std::bit_cast<float>(result.output[row * shape.n + column]);
                CHECK(value == static_cast<float>(row * column + 2));
            }
        }
    }
}

TEST_CASE("emulator: warp-wide matrix instructions need the whole warp") {
    for (const std::string& instruction :
         {std::string("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];"),
          std::string(
              "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r10, %r11}, {%r1, %r1}, {%r1}, {%r1, %r1};")}) {
        const auto fault = fault_of({.body = kFill + "setp.lt.u32 %p2, %thread, 31;\n@%p2 " + instruction});
        REQUIRE(fault);
        CHECK(fault->kind == emulator::FaultKind::barrier_divergence);
    }
}
