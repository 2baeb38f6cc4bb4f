// Each check finds a planted fault, says where it is, and can be turned off.

#include "runtime/emulator/fault.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::AsyncMode;
using emulator::Checks;
using emulator::FaultKind;
using testing::fault_of;
using testing::PtxRun;
using testing::run_ptx;

namespace {

/// The fault's text; its kind is checked.
std::string text_of(const PtxRun& run, FaultKind kind) {
    const auto fault = fault_of(run);
    if (!fault) return "no fault";
    INFO(fault->text);
    CHECK(to_string(fault->kind) == to_string(kind));
    return fault->text;
}

/// Bases for bodies: %rd1 is the tile, %rd2 the thread's own word of it, %r1 the tile's 32-bit address.
const std::string kTile = R"(
    mov.u64 %rd1, tile;
    cvt.u32.u64 %r1, %rd1;
    mul.wide.u32 %rd2, %thread, 4;
    add.u64 %rd2, %rd1, %rd2;
)";

}  // namespace

TEST_CASE("emulator checks: global accesses out of range, misaligned, in a guard band, of constants") {
    const std::string past = text_of({.body = "ld.global.u32 %r1, [%own_in+992];"}, FaultKind::out_of_range);
    CHECK_THAT(past, ContainsSubstring("thread (1,0,0) of block (0,0,0)"));
    CHECK_THAT(past, ContainsSubstring("offset 1024 of in, 0 bytes past its end (1024 bytes)"));
    CHECK_THAT(past, ContainsSubstring("ld.global.u32 %r1, [%own_in+992];"));
    CHECK_THAT(text_of({.body = "st.global.u32 [%own_out+-4], %thread;"}, FaultKind::out_of_range),
               ContainsSubstring("4 bytes before out"));
    CHECK_THAT(text_of({.body = "mov.u64 %rd1, 8;\nld.global.u64 %rd2, [%rd1];"}, FaultKind::out_of_range),
               ContainsSubstring("near no buffer"));
    CHECK_THAT(text_of({.body = "ld.u32 %r1, [%own_in+2];"}, FaultKind::misaligned),
               ContainsSubstring("multiple of 4"));
    CHECK_THAT(text_of({.body = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%own_in+8];"}, FaultKind::misaligned),
               ContainsSubstring("multiple of 16"));
    const std::string constant = ".const .align 4 .u32 table[2] = {5, 6};\n";
    CHECK_THAT(text_of({.body = "mov.u64 %rd1, table;\nst.global.u32 [%rd1+4], %thread;", .functions = constant},
                       FaultKind::read_only),
               ContainsSubstring("offset 4 of table"));
    const PtxRun unchecked{.body = "ld.global.u32 %r1, [%own_in+992];\nst.global.u32 [%own_out], %r1;",
                           .checks = {.bounds = false}};
    CHECK(words(run_ptx(unchecked))[5] == 0);
}

TEST_CASE("emulator checks: shared and local memory out of range or misaligned") {
    CHECK_THAT(text_of({.body = kTile + "st.shared.u32 [%rd2+4000], %thread;"}, FaultKind::out_of_range),
               ContainsSubstring("offset 4096 of the block's shared memory, which has 4096 bytes"));
    CHECK_THAT(text_of({.body = kTile + "st.shared.u32 [%rd2+2], %thread;"}, FaultKind::misaligned),
               ContainsSubstring("offset 2"));
    CHECK_THAT(text_of({.body = ".local .align 4 .b8 own[16];\nmov.u64 %rd1, own;\nst.local.u32 [%rd1+16], %thread;"},
                       FaultKind::out_of_range),
               ContainsSubstring("offset 16 of the thread's local memory"));
    CHECK_THAT(text_of({.body = kTile + "st.shared.v4.u32 [%rd1], {%thread, %thread, %thread, %thread};\n"
                                        "add.u32 %r1, %r1, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];"},
                       FaultKind::misaligned),
               ContainsSubstring("multiple of 16"));
    CHECK_THAT(text_of({.body = "ld.shared.u32 %r1, [dynamic+256];", .shared_bytes = 256}, FaultKind::out_of_range),
               ContainsSubstring("offset 4352"));
}

TEST_CASE("emulator checks: what was never written") {
    const std::string never = kTile +
                              "setp.lt.u32 %p1, %thread, 31;\n@%p1 st.shared.u32 [%rd2], %thread;\n"
                              "ld.shared.u32 %r2, [%rd2];\nst.global.u32 [%own_out], %r2;";
    const std::string text = text_of({.body = never}, FaultKind::never_written_shared);
    CHECK_THAT(text, ContainsSubstring("offset 124"));
    CHECK_THAT(text, ContainsSubstring("thread (31,0,0)"));
    CHECK_FALSE(fault_of({.body = never, .checks = {.shared_written = false}}));

    const std::string some = "setp.lt.u32 %p1, %thread, 5;\n@%p1 mov.u32 %r7, 1;\nadd.u32 %r8, %r7, 1;";
    const std::string reads = text_of({.body = some}, FaultKind::never_written_register);
    CHECK_THAT(reads, ContainsSubstring("register %r7"));
    CHECK_THAT(reads, ContainsSubstring("thread (5,0,0)"));
    CHECK_FALSE(fault_of({.body = some, .checks = {.registers_written = false}}));
    // A copy of what was never written is no use of it; adding to the copy is.
    CHECK_FALSE(fault_of({.body = "mov.u32 %r8, %r7;"}));
    CHECK_THAT(text_of({.body = "mov.u32 %r8, %r7;\nadd.u32 %r9, %r8, 1;"}, FaultKind::never_written_register),
               ContainsSubstring("%r8"));
    CHECK_THAT(text_of({.body = "@%p7 add.u32 %r9, %thread, 1;"}, FaultKind::never_written_register),
               ContainsSubstring("%p7"));
    // So is a selection: what counts is the source that is selected.
    const std::string keep = "setp.lt.u32 %p1, %thread, 5;\nselp.b32 %r7, %r7, 0, %p1;\n";
    CHECK_FALSE(fault_of({.body = keep}));
    CHECK_FALSE(fault_of({.body = keep + "@!%p1 add.u32 %r8, %r7, 1;"}));
    CHECK_THAT(text_of({.body = keep + "add.u32 %r8, %r7, 1;"}, FaultKind::never_written_register),
               ContainsSubstring("thread (0,0,0)"));
    CHECK_THAT(text_of({.body = "selp.b32 %r8, 1, 0, %p7;"}, FaultKind::never_written_register),
               ContainsSubstring("%p7"));
    // Of bytes taken from two registers the written ones may be all that is read.
    CHECK_FALSE(fault_of({.body = "prmt.b32 %r8, %r7, %r7, 0x3210;"}));
    CHECK_FALSE(fault_of({.body = "prmt.b32 %r8, %thread, %r7, 0x7610;\nand.b32 %r9, %r8, 0xffff;"}));
    CHECK_THAT(
        text_of({.body = "prmt.b32 %r8, %r7, %r7, 0x3210;\nadd.u32 %r9, %r8, 1;"}, FaultKind::never_written_register),
        ContainsSubstring("%r8"));
    CHECK_THAT(text_of({.body = "prmt.b32 %r8, %thread, %thread, %r7;"}, FaultKind::never_written_register),
               ContainsSubstring("%r7"));
    // Written on every path: no fault.
    CHECK_FALSE(
        fault_of({.body = "setp.lt.u32 %p1, %thread, 5;\n@%p1 bra A;\nmov.u32 %r7, 1;\nbra B;\nA: mov.u32 %r7, 2;\n"
                          "B: add.u32 %r8, %r7, 1;"}));
}

TEST_CASE("emulator checks: races in shared memory between warps") {
    const std::string other = "xor.b32 %r2, %thread, 32;\nmul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd3, %rd1, %rd3;\n";
    const std::string store = "st.shared.u32 [%rd2], %thread;\n";
    const std::string load = "ld.shared.u32 %r3, [%rd3];\n";
    const std::string barrier = "bar.sync 0;\n";
    const auto race = [&](const std::string& body, std::uint64_t seed = 0, const Checks& checks = {}) {
        return fault_of({.body = kTile + other + body, .threads = 64, .checks = checks, .order_seed = seed});
    };
    CHECK_FALSE(race(store + barrier + load));
    CHECK_FALSE(race(store + barrier + load + barrier + store));
    const std::string missing =
        text_of({.body = kTile + other + store + barrier + load + store, .threads = 64}, FaultKind::shared_race);
    CHECK_THAT(missing, ContainsSubstring("with no barrier between"));
    CHECK_THAT(missing, ContainsSubstring("the other access is PTX line"));
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const auto fault = race(store + barrier + load + store, seed);
        REQUIRE(fault);
        CHECK(fault->kind == FaultKind::shared_race);
    }
    const std::string same = "st.shared.u32 [%rd1], %thread;\n";
    CHECK_THAT(text_of({.body = kTile + same, .threads = 64}, FaultKind::shared_race),
               ContainsSubstring("written by warp 0"));
    CHECK_FALSE(race(same, 0, {.races = false}));
    // Neighbouring bytes of one word are no race, one byte is.
    const std::string bytes =
        "mul.wide.u32 %rd4, %thread, 2;\nmov.u32 %r5, 0;\nadd.u64 %rd5, %rd1, %rd4;\ncvt.u16.u32 %rs1, %thread;\n"
        "st.shared.u16 [%rd5], %rs1;\n";
    CHECK_FALSE(race(bytes));
    const std::string halves =
        "shr.u32 %r6, %thread, 5;\nmul.wide.u32 %rd6, %r6, 2;\nadd.u64 %rd6, %rd1, %rd6;\n"
        "cvt.u16.u32 %rs1, %thread;\nst.shared.u16 [%rd6], %rs1;\n";
    CHECK_FALSE(race(halves));
    CHECK(race(halves + "st.shared.u16 [%rd1], %rs1;\n"));
    // Atomics do not race with each other, but with plain accesses.
    const std::string init = "st.shared.u32 [%rd2], 0;\nbar.sync 0;\n";
    CHECK_FALSE(race(init + "red.shared.add.u32 [%rd1], 1;\n"));
    CHECK(race(init + "red.shared.add.u32 [%rd1], 1;\nld.shared.u32 %r9, [%rd1];\n"));
    // A barrier of the wrong warps orders nothing: warps 0 and 1 at one, 2 and 3 at another.
    const std::string pairs =
        "shr.u32 %r8, %thread, 6;\nxor.b32 %r2, %thread, 64;\nmul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd3, %rd1, "
        "%rd3;\n" +
        store + "bar.sync %r8, 64;\n" + load;
    const auto unordered = fault_of({.body = kTile + pairs, .threads = 128, .checks = {.shared_written = false}});
    REQUIRE(unordered);
    CHECK(unordered->kind == FaultKind::shared_race);
}

TEST_CASE("emulator: barriers order accesses through a third warp, and readers are forgotten when ordered") {
    // Warp 0 writes, hands over to warp 1 at barrier 1, which hands over to warp 2 at barrier 2.
    CHECK_FALSE(fault_of({.body = kTile + R"(
    shr.u32 %r2, %thread, 5;
    setp.eq.u32 %p0, %r2, 0;
    setp.eq.u32 %p1, %r2, 1;
    setp.eq.u32 %p2, %r2, 2;
    @%p0 st.shared.u32 [%rd1], 5;
    @%p0 bar.arrive 1, 64;
    @%p1 bar.sync 1, 64;
    @%p1 bar.arrive 2, 64;
    @%p2 bar.sync 2, 64;
    @%p2 ld.shared.u32 %r3, [%rd1];)",
                          .threads = 96,
                          .order_seed = 2}));
    // An arrival does not order the arriving warp's later accesses.
    const auto late = fault_of({.body = kTile + R"(
    setp.lt.u32 %p0, %thread, 32;
    st.shared.u32 [%rd2], 1;
    bar.sync 0;
    @!%p0 bra READER;
    bar.arrive 1, 64;
    st.shared.u32 [%rd1], 5;
    bra DONE;
READER:
    bar.sync 1, 64;
    ld.shared.u32 %r3, [%rd1];
DONE:)",
                                .threads = 64});
    REQUIRE(late);
    CHECK(late->kind == FaultKind::shared_race);
}

TEST_CASE("emulator checks: asynchronous copies") {
    const std::string copy = kTile +
                             "mul.wide.u32 %rd4, %thread, 16;\nadd.u64 %rd5, %rd1, %rd4;\nadd.u64 %rd6, %in, %rd4;\n"
                             "cp.async.cg.shared.global [%rd5], [%rd6], 16;\ncp.async.commit_group;\n";
    const std::string wait = "cp.async.wait_group 0;\n";
    const std::string load = "ld.shared.u32 %r3, [%rd5];\nst.global.u32 [%own_out], %r3;\n";
    std::vector<std::uint32_t> input(256);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::uint32_t>(1000 + i);
    const auto with = [&](const std::string& body, AsyncMode mode, const Checks& checks = {}) {
        return PtxRun{.body = body, .input = input, .async_mode = mode, .checks = checks};
    };
    for (const AsyncMode mode : {AsyncMode::eager, AsyncMode::late}) {
        const auto right = words(run_ptx(with(copy + wait + load, mode)));
        CHECK(right[0] == 1000);
        CHECK(right[31] == 1000 + 4 * 31);
        CHECK_THAT(text_of(with(copy + load, mode), FaultKind::copy_in_flight),
                   ContainsSubstring("no thread has waited for"));
        CHECK_THAT(text_of(with(copy + "cp.async.wait_group 1;\n" + load, mode), FaultKind::copy_in_flight),
                   ContainsSubstring("cp.async.cg.shared.global"));
        CHECK_THAT(text_of(with(copy + "st.shared.u32 [%rd5], 1;\n", mode), FaultKind::copy_in_flight),
                   ContainsSubstring("writes offset 0"));
        CHECK_THAT(
            text_of(with(copy + "cp.async.cg.shared.global [%rd5], [%rd6], 16;\n", mode), FaultKind::copy_in_flight),
            ContainsSubstring("writes offset 0"));
    }
    // Unchecked, the modes differ where a wait is missing: that is what they are for.
    const Checks off{.shared_written = false, .races = false, .copies_in_flight = false};
    CHECK(words(run_ptx(with(copy + load, AsyncMode::eager, off)))[0] == 1000);
    CHECK(words(run_ptx(with(copy + load, AsyncMode::late, off)))[0] == 0);
    // Another warp needs a barrier behind the wait as well.
    const std::string other = "xor.b32 %r2, %thread, 32;\nmul.wide.u32 %rd7, %r2, 16;\nadd.u64 %rd7, %rd1, %rd7;\n";
    PtxRun two = with(copy + other + wait + "ld.shared.u32 %r3, [%rd7];", AsyncMode::late);
    two.threads = 64;
    const auto race = fault_of(two);
    REQUIRE(race);
    CHECK((race->kind == FaultKind::shared_race || race->kind == FaultKind::copy_in_flight ||
           race->kind == FaultKind::never_written_shared));
    two.body = copy + other + wait + "bar.sync 0;\nld.shared.u32 %r3, [%rd7];";
    CHECK_FALSE(fault_of(two));
}
