// Mistakes with wgmma and setmaxnreg: each is planted and found.

#include "tests/catch.hpp"
#include "tests/support/every_order.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::AsyncMode;
using emulator::FaultKind;
using testing::counting_input;
using testing::fault_of;
using testing::is_right;
using testing::make_mbarrier;
using testing::run_tma;
using testing::text_of;
using testing::TmaRun;
using testing::wait_mbarrier;

namespace {

const TiledTensorMap kMap{.type = DataType::bf16,
                          .rank = 2,
                          .extents = {8, 512},
                          .pitches = {16},
                          .box = {8, 256},
                          .swizzle = TensorMapSwizzle::none};

TmaRun with(const std::string& body, int threads = 128) {
    return {.body = body, .maps = {kMap}, .input = counting_input(8192), .output_bytes = 2048, .threads = threads};
}

// m64n8k16 of bf16, not swizzled: A, 2 KiB, at the tile's beginning, B, 256 bytes, behind it at 4096. %f0 to %f3 are
// sums, as are %f4 to %f7; %r20 to %r23 A's registers.
const std::string kDescriptors = R"(
    mov.u32 %r10, tile;
    shr.u32 %r11, %r10, 4;
    cvt.u64.u32 %rd1, %r11;
    add.u64 %rd2, %rd1, 256;
    or.b64 %rd1, %rd1, 0x800400000;
    or.b64 %rd2, %rd2, 0x800080000;
    setp.ne.u32 %p1, %thread, %thread;
    setp.eq.u32 %p2, %thread, %thread;
    setp.lt.u32 %p3, %thread, 32;
    setp.eq.u32 %p0, %thread, 0;
)";
const std::string kFill = R"(
    mad.lo.u32 %r12, %thread, 64, %r10;
    mov.u32 %r13, 0x3f803f80;
    st.shared.v4.u32 [%r12], {%r13, %r13, %r13, %r13};
    st.shared.v4.u32 [%r12+16], {%r13, %r13, %r13, %r13};
    st.shared.v4.u32 [%r12+32], {%r13, %r13, %r13, %r13};
    st.shared.v4.u32 [%r12+48], {%r13, %r13, %r13, %r13};
)";
const std::string kZeros = R"(
    mov.f32 %f0, 0f00000000;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    mov.f32 %f5, 0f00000000;
    mov.f32 %f6, 0f00000000;
    mov.f32 %f7, 0f00000000;
    mov.u32 %r20, 0;
    mov.u32 %r21, 0;
    mov.u32 %r22, 0;
    mov.u32 %r23, 0;
)";
const std::string kProxyFence = "fence.proxy.async.shared::cta;\n";
const std::string kSync = "bar.sync 0;\n";
const std::string kReady = kDescriptors + kFill + kProxyFence + kSync + kZeros;
const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";

std::string wgmma(const char* sums, const char* a = "%rd1", const char* scale_d = "%p2") {
    const bool in_registers = a[0] == '{';
    return fmt::format("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {}, {}, %rd2, {}, 1, 1, {}0;\n", sums, a,
                       scale_d, in_registers ? "" : "0, ");
}
const char* const kFirst = "{%f0, %f1, %f2, %f3}";
const char* const kSecond = "{%f4, %f5, %f6, %f7}";
const char* const kRegistersA = "{%r20, %r21, %r22, %r23}";
const std::string kMultiply = wgmma(kFirst);
const std::string kMultiplyRegisters = wgmma(kFirst, kRegistersA);
const std::string kReadSum = "add.f32 %f10, %f1, %f1;\n";

/// In every order one of the two, as the order has it.
bool is_race(TmaRun run) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        run.order_seed = seed;
        const auto fault = fault_of(run);
        if (!fault || (fault->kind != FaultKind::copy_in_flight && fault->kind != FaultKind::shared_race)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("emulator wgmma checks: sums are there after a wait, not before") {
    CHECK(is_right(with(kReady + kFence + kMultiply + kCommit + kWait + kReadSum)));
    const std::string early =
        text_of(with(kReady + kFence + kMultiply + kCommit + kReadSum + kWait), FaultKind::wgmma_registers);
    CHECK_THAT(early, ContainsSubstring("reads register %f1, a sum of a wgmma in flight"));
    CHECK_THAT(early, ContainsSubstring("wgmma.mma_async.sync.aligned.m64n8k16"));
    CHECK_THAT(text_of(with(kReady + kFence + kMultiply + kCommit + "mov.f32 %f3, 0f00000000;\n" + kWait),
                       FaultKind::wgmma_registers),
               ContainsSubstring("writes register %f3"));
    text_of(with(kReady + kFence + kMultiply + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + kReadSum + kWait),
            FaultKind::wgmma_registers);
    // No wait covers a wgmma that no group holds.
    text_of(with(kReady + kFence + kMultiply + kWait + kReadSum + kCommit + kWait), FaultKind::wgmma_registers);
    CHECK_THAT(text_of(with(kReady + kFence + kMultiply + kCommit), FaultKind::wgmma_registers),
               ContainsSubstring("ends with a wgmma in flight"));
}

TEST_CASE("emulator wgmma checks: a wait for some groups leaves the others in flight") {
    const std::string two = kReady + kFence + kMultiply + kCommit + wgmma(kSecond) + kCommit;
    const std::string one_left = "wgmma.wait_group.sync.aligned 1;\n";
    CHECK(is_right(with(two + one_left + kReadSum + kWait)));
    CHECK_THAT(text_of(with(two + one_left + "add.f32 %f10, %f4, %f4;\n" + kWait), FaultKind::wgmma_registers),
               ContainsSubstring("%f4"));
    // A later, laxer wait takes nothing back.
    CHECK(is_right(with(two + kWait + "wgmma.wait_group.sync.aligned 7;\n" + kReadSum)));
}

TEST_CASE("emulator wgmma checks: a fence comes between other uses of a register and a wgmma") {
    const std::string done = kMultiply + kCommit + kWait;
    CHECK(is_right(with(kReady + kFence + kMultiply + kMultiply + kCommit + kWait)));
    CHECK(is_right(with(kReady + kFence + done + done)));
    CHECK(is_right(with(kReady + kFence + done + kReadSum + kFence + done)));
    CHECK_THAT(text_of(with(kReady + done), FaultKind::wgmma_registers), ContainsSubstring("no wgmma.fence"));
    CHECK_THAT(text_of(with(kReady + kFence + done + kReadSum + done), FaultKind::wgmma_registers),
               ContainsSubstring("uses register %f1, but no wgmma.fence"));
    text_of(with(kReady + kFence + "mov.f32 %f2, 0f3F800000;\n" + done), FaultKind::wgmma_registers);
    text_of(with(kReady + kFence + "mov.u32 %r21, 1;\n" + kMultiplyRegisters + kCommit + kWait),
            FaultKind::wgmma_registers);
}

TEST_CASE("emulator wgmma checks: A's registers may be read while they are in flight, not written") {
    const std::string begun = kReady + kFence + kMultiplyRegisters + kCommit;
    CHECK(is_right(with(begun + "add.u32 %r30, %r22, 1;\n" + kWait + "mov.u32 %r22, 1;\n")));
    CHECK(is_right(with(begun + wgmma(kSecond, kRegistersA) + kCommit + kWait)));
    CHECK_THAT(text_of(with(begun + "mov.u32 %r22, 1;\n" + kWait), FaultKind::wgmma_registers),
               ContainsSubstring("writes register %r22, a part of A of a wgmma in flight"));
}

TEST_CASE("emulator wgmma checks: sums of two wgmmas in flight are the same or apart") {
    text_of(with(kReady + kFence + kMultiply + wgmma("{%f2, %f3, %f4, %f5}") + kCommit + kWait),
            FaultKind::wgmma_registers);
    text_of(with(kReady + kFence + kMultiply + wgmma("{%f1, %f0, %f2, %f3}") + kCommit + kWait),
            FaultKind::wgmma_registers);
}

TEST_CASE("emulator wgmma checks: sums that a wgmma adds to have been written") {
    const std::string unset = kDescriptors + kFill + kProxyFence + kSync + kFence;
    const std::string done = kCommit + kWait;
    const std::string first = wgmma(kFirst, "%rd1", "%p1");  // scale-d is false
    CHECK(is_right(with(unset + first + kMultiply + done + kReadSum)));
    CHECK_THAT(text_of(with(unset + kMultiply + done), FaultKind::never_written_register), ContainsSubstring("%f0"));
    text_of(with(unset + first + wgmma("{%f0, %f1, %f2, %f3}") + wgmma(kSecond) + done),
            FaultKind::never_written_register);
    const std::string copied = "mov.f32 %f4, %f0;\nmov.f32 %f5, %f1;\nmov.f32 %f6, %f2;\nmov.f32 %f7, %f3;\n";
    text_of(with(kDescriptors + kFill + kProxyFence + kSync + copied + kFence + wgmma(kSecond) + done),
            FaultKind::never_written_register);
    // The second line of defence.
    TmaRun unchecked = with(unset + kMultiply + done + "@%p0 st.global.f32 [%out], %f0;\n");
    unchecked.checks.registers_written = false;
    float sum = 0;
    std::memcpy(&sum, run_tma(unchecked).output.data(), sizeof(sum));
    CHECK(std::isnan(sum));
}

TEST_CASE("emulator wgmma checks: operands that threads stored need a proxy fence and a barrier") {
    const std::string multiply = kZeros + kFence + kMultiply + kCommit + kWait;
    CHECK(is_right(with(kDescriptors + kFill + kProxyFence + kSync + multiply)));
    CHECK_THAT(text_of(with(kDescriptors + kFill + kSync + multiply), FaultKind::proxy_fence),
               ContainsSubstring("wgmma reads"));
    const auto no_barrier = fault_of(with(kDescriptors + kFill + kProxyFence + multiply));
    CHECK(no_barrier);
    const auto nothing = fault_of(with(kDescriptors + kProxyFence + kSync + multiply));
    CHECK((nothing && nothing->kind == FaultKind::never_written_shared));
}

TEST_CASE("emulator wgmma checks: operands are overwritten after the wait, not before") {
    const std::string begun = kReady + kFence + kMultiply + kCommit;
    const std::string store = "st.shared.u32 [tile+4096], 0;\n";
    CHECK(is_right(with(begun + kWait + kSync + "@%p0 " + store)));
    CHECK(is_race(with(begun + kSync + "@%p0 " + store + kWait)));
    CHECK(is_race(with(begun + kWait + "@%p0 " + store)));
}

TEST_CASE("emulator wgmma checks: bytes are being read until every wgmma in flight that reads them is waited for") {
    const std::string two = kReady + kFence + kMultiply + kCommit + wgmma(kSecond) + kCommit;
    const std::string store = kSync + "@%p0 st.shared.u32 [tile+4096], 0;\n";
    const std::string one_left = "wgmma.wait_group.sync.aligned 1;\n";
    CHECK(is_right(with(two + kWait + store)));
    CHECK_THAT(text_of(with(two + one_left + store + kWait), FaultKind::copy_in_flight),
               ContainsSubstring("wgmma.mma_async"));
    text_of(with(two + store + kWait), FaultKind::copy_in_flight);
    const std::string copy = kSync + "@%p0 cp.async.ca.shared.global [tile+4096], [%in], 16;\ncp.async.wait_all;\n";
    CHECK(is_right(with(two + kWait + copy)));
    text_of(with(two + one_left + copy + kWait), FaultKind::copy_in_flight);
}

TEST_CASE("emulator wgmma checks: a stage that is freed before the wait is found, whenever the next write comes") {
    const std::string begun = make_mbarrier(0, 128) + kReady + kFence + kMultiply + kCommit;
    const std::string free = "mbarrier.arrive.shared::cta.b64 _, [bars];\n";
    const std::string refill = wait_mbarrier(0, 0) + "@%p0 st.shared.u32 [tile+4096], 0;\n";
    CHECK(is_right(with(begun + kWait + free + refill)));
    CHECK(is_race(with(begun + free + refill + kWait)));
    // The writer may come after the wait of every warp here, and still does not know of it.
    CHECK(is_race(with(begun + free + kWait + refill)));
}

TEST_CASE("emulator wgmma checks: a load into an operand comes after the wait") {
    const std::string load =
        "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 4096;\n"
        "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
        "[tile], [%map0, {0, 0}], [bars];\n";
    const std::string begun = make_mbarrier(0, 1) + kReady + kFence + kMultiply + kCommit;
    CHECK(is_right(with(begun + kWait + kSync + load + wait_mbarrier(0, 0))));
    CHECK(is_race(with(begun + kSync + load + kWait + wait_mbarrier(0, 0))));
}

TEST_CASE("emulator wgmma checks: what a load brought is read after a wait at its mbarrier") {
    const std::string load =
        "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 8192;\n"
        "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
        "[tile], [%map0, {0, 0}], [bars];\n"
        "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
        "[tile+4096], [%map0, {0, 256}], [bars];\n";
    const std::string multiply = kZeros + kFence + kMultiply + kCommit + kWait;
    const std::string begun = make_mbarrier(0, 1) + kDescriptors + load;
    CHECK(is_right(with(begun + wait_mbarrier(0, 0) + multiply)));
    CHECK(is_race(with(begun + kSync + multiply + wait_mbarrier(0, 0))));
}

TEST_CASE("emulator wgmma checks: the four warps take the same steps") {
    const std::string alone = "@%p3 bra ALONE;\n" + kMultiply + "bra.uni MET;\nALONE:\n" + kMultiply + "MET:\n";
    CHECK_THAT(text_of(with(kReady + kFence + alone + kCommit + kWait), FaultKind::barrier_divergence),
               ContainsSubstring("the four warps of a warpgroup must execute it together"));
    text_of(with(kReady + kFence + kMultiply + kCommit + "@%p3 bra SKIP;\n" + kFence + "SKIP:\n" + kWait),
            FaultKind::barrier_divergence);
    text_of(with(kReady + "@%p3 exit;\n" + kFence + kMultiply + kCommit + kWait), FaultKind::barrier_divergence);
    text_of(with(kReady + kFence + kMultiply + kCommit + kWait + "@%p3 exit;\n" + kFence),
            FaultKind::barrier_divergence);
    const std::string other_b = "@%p3 add.u64 %rd2, %rd2, 1;\n";
    CHECK_THAT(text_of(with(kReady + other_b + kFence + kMultiply + kCommit + kWait), FaultKind::barrier_divergence),
               ContainsSubstring("B's descriptor is"));
    CHECK_THAT(
        text_of(with(kReady + kFence + wgmma(kFirst, "%rd1", "%p3") + kCommit + kWait), FaultKind::barrier_divergence),
        ContainsSubstring("scale-d"));
}

TEST_CASE("emulator wgmma checks: the lanes of a warp have one descriptor and one scale-d, and are all there") {
    CHECK_THAT(text_of(with(kReady + "@%p0 add.u64 %rd1, %rd1, 1;\n" + kFence + kMultiply + kCommit + kWait),
                       FaultKind::barrier_divergence),
               ContainsSubstring("a matrix descriptor is"));
    CHECK_THAT(
        text_of(with(kReady + kFence + wgmma(kFirst, "%rd1", "%p0") + kCommit + kWait), FaultKind::barrier_divergence),
        ContainsSubstring("scale-d"));
    text_of(with(kReady + "@!%p0 " + kFence + kMultiply + kCommit + kWait), FaultKind::barrier_divergence);
    text_of(with(kReady + kFence + kMultiply + kCommit + kWait, 64), FaultKind::barrier_divergence);
}

TEST_CASE("emulator wgmma checks: descriptors point into the block's shared memory") {
    const std::string multiply = kFence + kMultiply + kCommit + kWait;
    CHECK_THAT(text_of(with(kReady + "or.b64 %rd2, %rd2, 0x3fff;\n" + multiply), FaultKind::out_of_range),
               ContainsSubstring("16 bytes at offset"));
    CHECK_THAT(text_of(with(kReady + "or.b64 %rd1, %rd1, 0x2000000000000;\n" + multiply), FaultKind::unsupported),
               ContainsSubstring("base offset"));
}

TEST_CASE("emulator wgmma checks: kinds that are not emulated are refused by name") {
    const auto refusal = [](const std::string& instruction) {
        try {
            static_cast<void>(fault_of(with(instruction)));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("taken");
    };
    const std::string rest = " {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p2, 1, 1;\n";
    for (const char* kind : {"m64n8k4.f32.tf32.tf32", "m64n8k16.f32.e4m3.e5m2", "m64n8k32.s32.s8.u8",
                             "m64n8k16.f32.bf16.f16", "m64n12k16.f32.bf16.bf16", "m64n264k16.f32.bf16.bf16"}) {
        INFO(kind);
        CHECK_THAT(refusal(std::string("wgmma.mma_async.sync.aligned.") + kind + rest),
                   ContainsSubstring("only m64nNk16 of f16 and bf16"));
    }
    CHECK_THAT(refusal("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p2, 2, "
                       "1, 0, 0;\n"),
               ContainsSubstring("neither 1 nor -1"));
    for (const int registers : {16, 44, 264})
        CHECK_THAT(refusal(fmt::format("setmaxnreg.dec.sync.aligned.u32 {};\n", registers)),
                   ContainsSubstring("setmaxnreg takes 24 to 256 in steps of 8"));
}

namespace {

/// 384 threads have 168 registers each: the first warpgroup does one thing, the two others another.
TmaRun of_three(const std::string& first, const std::string& others) {
    return with("setp.lt.u32 %p4, %thread, 128;\n@%p4 bra FIRST;\n" + others + "ret;\nFIRST:\n" + first, 384);
}
std::string change(const char* what, int registers) {
    return fmt::format("setmaxnreg.{}.sync.aligned.u32 {};\n", what, registers);
}

}  // namespace

TEST_CASE("emulator setmaxnreg: registers move between warpgroups, and there are no more than the launch's") {
    CHECK(is_right(of_three(change("dec", 24), change("inc", 240))));
    CHECK(is_right(of_three(change("dec", 40), change("inc", 232))));
    text_of(of_three(change("dec", 40), change("inc", 240)), FaultKind::deadlock);
    text_of(of_three("", change("inc", 240)), FaultKind::deadlock);
    CHECK_THAT(text_of(of_three(change("dec", 176), ""), FaultKind::illegal_instruction),
               ContainsSubstring("setmaxnreg.dec to 176 of a warp that has 168"));
    CHECK_THAT(text_of(of_three(change("inc", 160), ""), FaultKind::illegal_instruction),
               ContainsSubstring("setmaxnreg.inc to 160 of a warp that has 168"));
    text_of(with("setp.lt.u32 %p4, %thread, 32;\n@%p4 bra END;\n" + change("dec", 24) + "END:\n"),
            FaultKind::barrier_divergence);
}

TEST_CASE("emulator setmaxnreg: a kernel whose threads are not limited is refused") {
    TmaRun run = of_three(change("dec", 24), change("inc", 240));
    CHECK(is_right(run));
    run.thread_limit = false;
    CHECK_THAT(text_of(run, FaultKind::illegal_instruction), ContainsSubstring("__launch_bounds__"));
}
