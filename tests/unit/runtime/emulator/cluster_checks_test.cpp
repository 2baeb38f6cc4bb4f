// Blocks of a cluster must not disturb each other. Each fault is planted, is found in every order, and names the
// culprit. Launches of clusters that do not fit are refused.

#include "runtime/emulator/fault.hpp"
#include "tests/catch.hpp"
#include "tests/support/every_order.hpp"

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::Checks;
using emulator::FaultKind;
using testing::fault_of;
using testing::is_right;
using testing::PtxRun;
using testing::run_ptx;
using testing::text_of;
using testing::words;

namespace {

const std::string kArrive = "barrier.cluster.arrive.release.aligned;\n";
const std::string kRelaxed = "barrier.cluster.arrive.relaxed.aligned;\n";
const std::string kWait = "barrier.cluster.wait.acquire.aligned;\n";
const std::string kSync = kArrive + kWait;

/// %r10 is the thread's own word of the tile, %r11 the block's rank, %r13 that word of the other block of two; %p0 is
/// set in block 0, %p1 in block 1.
const std::string kTile = R"(
    mov.u32 %r10, tile;
    mad.lo.u32 %r10, %thread, 4, %r10;
    mov.u32 %r11, %cluster_ctarank;
    xor.b32 %r12, %r11, 1;
    mapa.shared::cluster.u32 %r13, %r10, %r12;
    setp.eq.u32 %p0, %r11, 0;
    setp.eq.u32 %p1, %r11, 1;
)";
const std::string kStore = "st.shared.u32 [%r10], %thread;\n";
const std::string kLoad = "ld.shared.u32 %r1, [%r10];\n";
const std::string kPeerLoad = "ld.shared::cluster.u32 %r2, [%r13];\n";
const std::string kPeerStore = "st.shared::cluster.u32 [%r13], %thread;\n";

PtxRun pair(const std::string& body, const Checks& checks = {}, int threads = 32) {
    return {.body = kTile + body, .threads = threads, .blocks = 2, .checks = checks, .cluster = {2, 1, 1}};
}

}  // namespace

TEST_CASE("emulator cluster checks: a block's write and another's read need a cluster barrier between") {
    CHECK(is_right(pair(kStore + kSync + kPeerLoad + kSync)));
    const Checks no_written{.shared_written = false};
    const std::string text = text_of(pair(kStore + kPeerLoad + kSync, no_written), FaultKind::shared_race);
    CHECK_THAT(text, ContainsSubstring("no cluster barrier between"));
    CHECK_THAT(text, ContainsSubstring("'s shared memory"));
    CHECK_THAT(text, ContainsSubstring("by warp 0 of block ("));
    // A barrier of the block orders nothing among blocks.
    text_of(pair(kStore + "bar.sync 0;\n" + kPeerLoad + kSync, no_written), FaultKind::shared_race);
    // A relaxed arrival hands nothing over; the other block's, which does, is no help.
    text_of(pair(kStore + kRelaxed + kWait + kPeerLoad + kSync), FaultKind::shared_race);
    CHECK_FALSE(fault_of(pair(kStore + kPeerLoad + kSync, {.shared_written = false, .races = false})));
}

TEST_CASE("emulator cluster checks: what comes between arrival and wait is not ordered") {
    text_of(pair(kArrive + kStore + kWait + kPeerLoad + kSync), FaultKind::shared_race);
    text_of(pair(kStore + kSync + kPeerLoad + kArrive + kStore + kWait + kSync), FaultKind::shared_race);
    CHECK(is_right(pair(kStore + kSync + kPeerLoad + kSync + kStore)));
    CHECK(is_right(pair(kStore + kArrive + "mov.u32 %r5, 1;\n" + kWait + kPeerLoad + kSync)));
}

TEST_CASE("emulator cluster checks: reads before a write of the owner, writes of two blocks, both ways") {
    // The owner writes again although the other block may still read.
    const std::string again = text_of(pair(kStore + kSync + kPeerLoad + kStore + kSync), FaultKind::shared_race);
    CHECK_THAT(again, ContainsSubstring("no cluster barrier between"));
    // Block 1 and block 2 both write block 0's word.
    const std::string both = kTile + "@%p0 st.shared.u32 [%r10], 5;\n" + kSync +
                             "mov.u32 %r20, 0;\nmapa.shared::cluster.u32 %r21, %r10, %r20;\n"
                             "@!%p0 st.shared::cluster.u32 [%r21], %r11;\n" +
                             kSync;
    const std::string two = text_of(PtxRun{.body = both, .blocks = 4, .cluster = {4, 1, 1}}, FaultKind::shared_race);
    CHECK_THAT(two, ContainsSubstring("block (0,0,0)'s shared memory, written by warp 0 of block ("));
    // Written by the other block, read by the owner: without a barrier a race, with one none.
    text_of(pair(kStore + kSync + kPeerStore + kLoad + kSync), FaultKind::shared_race);
    CHECK(is_right(pair(kStore + kSync + kPeerStore + kSync + kLoad)));
    CHECK(is_right(pair(kPeerStore + kSync + kLoad)));
    // One block reaches over, the other touches its own, whichever comes first: block 1 passes the barrier before block
    // 0.
    for (const std::string reaches : {"@%p0 ", "@%p1 "}) {
        const std::string owns = reaches == "@%p0 " ? "@%p1 " : "@%p0 ";
        INFO(reaches << "reaches over");
        text_of(pair(kStore + kSync + reaches + kPeerStore + owns + kLoad + kSync), FaultKind::shared_race);
        text_of(pair(kStore + kSync + reaches + kPeerStore + owns + kStore + kSync), FaultKind::shared_race);
        text_of(pair(kStore + kSync + reaches + kPeerLoad + owns + kStore + kSync), FaultKind::shared_race);
        CHECK(is_right(pair(kStore + kSync + reaches + kPeerLoad + owns + kLoad + kSync)));
        // A read by the writer, or its write of another byte, hides nothing of the write.
        const std::string write = kStore + kSync + reaches + kPeerStore;
        text_of(pair(write + reaches + kPeerLoad + owns + kLoad + kSync), FaultKind::shared_race);
        text_of(pair("mov.u16 %rs1, 1;\n" + write + reaches + "st.shared::cluster.u8 [%r13], %rs1;\n" + owns +
                     "ld.shared.u8 %r2, [%r10+1];\n" + kSync),
                FaultKind::shared_race);
    }
    // Different bytes of one word are no race.
    const std::string bytes =
        "add.u32 %r15, %r13, 1;\ncvt.u16.u32 %rs1, %thread;\nst.shared.u8 [%r10], %rs1;\n"
        "st.shared::cluster.u8 [%r15], %rs1;\n";
    CHECK(is_right(pair(bytes + kSync)));
    text_of(pair(bytes + "st.shared::cluster.u8 [%r13], %rs1;\n" + kSync), FaultKind::shared_race);
    // Atomics meet each other, but no plain access.
    const std::string add = "red.shared::cluster.add.u32 [%r13], 1;\nred.shared.add.u32 [%r10], 1;\n";
    CHECK(is_right(pair(kStore + kSync + add + kSync)));
    text_of(pair(kStore + kSync + add + kLoad + kSync), FaultKind::shared_race);
}

TEST_CASE("emulator cluster checks: order is handed on through a third block and a block's own barrier") {
    // Warp 0 of each block writes, warp 1 reads the other's: bar.sync and then the cluster's barrier lead from one to
    // the other, although every warp arrives for itself.
    const std::string cross = R"(
    setp.lt.u32 %p2, %thread, 32;
    xor.b32 %r14, %thread, 32;
    mov.u32 %r15, tile;
    mad.lo.u32 %r15, %r14, 4, %r15;
    mapa.shared::cluster.u32 %r16, %r15, %r12;
    @%p2 st.shared.u32 [%r10], 1;
    BARRIER
    @!%p2 ld.shared::cluster.u32 %r17, [%r16];
)";
    const auto with = [&](const std::string& barrier) {
        std::string body = cross;
        body.replace(body.find("BARRIER"), 7, barrier);
        return pair(body + kSync, {.shared_written = false}, 64);
    };
    CHECK(is_right(with(kSync)));
    // Only warp 1 releases, which learned of warp 0's write at the block's barrier.
    const std::string one_releases =
        "bar.sync 0;\n@%p2 barrier.cluster.arrive.relaxed.aligned;\n@!%p2 barrier.cluster.arrive.aligned;\n" + kWait;
    CHECK(is_right(with(one_releases)));
    const std::string other_releases =
        "@!%p2 barrier.cluster.arrive.aligned;\n@%p2 barrier.cluster.arrive.relaxed.aligned;\n" + kWait +
        "bar.sync 0;\n";
    text_of(with(other_releases), FaultKind::shared_race);
}

TEST_CASE("emulator cluster checks: bounds, alignment and bytes nobody has written, in another block") {
    const std::string past =
        text_of(pair(kStore + kSync + "ld.shared::cluster.u32 %r2, [%r13+4096];\n" + kSync), FaultKind::out_of_range);
    CHECK_THAT(past, ContainsSubstring("4 bytes at offset 4096 of block ("));
    CHECK_THAT(past, ContainsSubstring("which has 4096 bytes"));
    text_of(pair(kStore + kSync + "ld.shared::cluster.u64 %rd2, [%r13+4];\n" + kSync), FaultKind::misaligned);
    const std::string never = text_of(pair(kSync + kPeerLoad + kSync), FaultKind::never_written_shared);
    CHECK_THAT(never, ContainsSubstring("'s shared memory, which was never written"));
    const std::string rank =
        text_of(pair("mov.u32 %r1, 2;\nmapa.shared::cluster.u32 %r2, %r10, %r1;\n"), FaultKind::out_of_range);
    CHECK_THAT(rank, ContainsSubstring("rank 2 in a cluster whose ranks are 0 to 1"));
    const std::string nobody =
        text_of(pair("add.u32 %r1, %r10, 0x5000000;\nld.shared::cluster.u32 %r2, [%r1];\n"), FaultKind::out_of_range);
    CHECK_THAT(nobody, ContainsSubstring("in no block's shared memory"));
    const std::string space = text_of(pair(kStore + kSync + "ld.shared.u32 %r2, [%r13];\n"), FaultKind::out_of_range);
    CHECK_THAT(space, ContainsSubstring(".shared means .shared::cta"));
    CHECK_THAT(text_of(pair("mov.u64 %rd1, 64;\nmapa.u64 %rd2, %rd1, %r12;\n"), FaultKind::out_of_range),
               ContainsSubstring("generic address 0x40"));
    PtxRun unchecked =
        pair(kStore + kSync + "ld.shared::cluster.u32 %r2, [%r13+4096];\nst.global.u32 [%own_out], %r2;\n" + kSync,
             {.bounds = false});
    CHECK(words(run_ptx(unchecked))[40] == 0);
}

TEST_CASE("emulator cluster checks: a copy in flight is nobody's to read") {
    const std::string copy =
        "mad.lo.u32 %r20, %thread, 12, %r10;\nmul.wide.u32 %rd4, %thread, 16;\nadd.u64 %rd6, %in, %rd4;\n"
        "cp.async.cg.shared.global [%r20], [%rd6], 16;\ncp.async.commit_group;\n";
    const std::string wait = "cp.async.wait_group 0;\n";
    for (const emulator::AsyncMode mode : {emulator::AsyncMode::eager, emulator::AsyncMode::late}) {
        PtxRun early = pair(copy + kSync + kPeerLoad + kSync);
        early.async_mode = mode;
        CHECK_THAT(text_of(early, FaultKind::copy_in_flight), ContainsSubstring("cp.async.cg.shared.global"));
        PtxRun right = pair(copy + wait + kSync + kPeerLoad + kSync);
        right.async_mode = mode;
        CHECK(is_right(right));
    }
}

TEST_CASE("emulator cluster checks: a block must not end before others are done with its shared memory") {
    // Nothing keeps a block while the other reads, whoever comes first.
    const std::string text = text_of(pair(kStore + kSync + kPeerLoad), FaultKind::block_ended);
    CHECK_THAT(text, ContainsSubstring("block (0,0,0)"));
    CHECK_THAT(text, ContainsSubstring("block (1,0,0)"));
    // In order, block 1 passes the barrier first, reads and ends; then block 0 reads.
    const auto ended = fault_of(pair(kStore + kSync + "@%p0 ld.shared::cluster.u32 %r2, [%r13];\n"));
    REQUIRE(ended);
    CHECK_THAT(ended->text,
               ContainsSubstring("of block (0,0,0): reads shared memory of block (1,0,0), which has ended"));
    const auto may_end = fault_of(pair(kStore + kSync + "@%p1 ld.shared::cluster.u32 %r2, [%r13];\n"));
    REQUIRE(may_end);
    CHECK_THAT(
        may_end->text,
        ContainsSubstring("block (0,0,0) ends while warp 0 of block (1,0,0) may still access its shared memory"));
    // A relaxed arrival says nothing of loads that are in flight.
    text_of(pair(kStore + kSync + kPeerLoad + kRelaxed + kWait), FaultKind::block_ended);
    CHECK(is_right(pair(kStore + kSync + kPeerLoad + kSync)));
    CHECK(is_right(pair(kStore + kSync + "@%p0 bra LAST;\n" + kPeerLoad + kSync + "exit;\nLAST:\n" + kSync)));
}

TEST_CASE("emulator cluster checks: arrivals and waits alternate") {
    const std::string twice = text_of(pair(kArrive + kArrive + kWait), FaultKind::barrier_order);
    CHECK_THAT(twice, ContainsSubstring("arrives at the cluster barrier twice"));
    CHECK_THAT(twice, ContainsSubstring("it arrived at PTX line"));
    CHECK_THAT(text_of(pair(kWait), FaultKind::barrier_order), ContainsSubstring("without a barrier.cluster.arrive"));
    text_of(pair(kSync + kWait), FaultKind::barrier_order);
    text_of(pair("setp.lt.u32 %p2, %thread, 7;\n@%p2 barrier.cluster.arrive.aligned;\n"),
            FaultKind::barrier_divergence);
    CHECK(is_right(pair(kSync + kSync + kSync)));
}

TEST_CASE("emulator cluster checks: a barrier that cannot complete is a deadlock, told with who waits") {
    const std::string body =
        "setp.lt.u32 %p2, %thread, 32;\nor.pred %p2, %p2, %p0;\n@%p2 bra WAITS;\nbar.sync 1, 64;\nWAITS:\n" + kSync;
    const std::string text = text_of(pair(body, {}, 64), FaultKind::deadlock);
    CHECK_THAT(text, ContainsSubstring("every warp of cluster (0,0,0) that has not ended waits"));
    CHECK_THAT(text, ContainsSubstring("cluster barrier: 3 of 4 warps have come"));
    CHECK_THAT(text, ContainsSubstring("warp 1 of block (0,0,0) waits at PTX line"));
    CHECK_THAT(text, ContainsSubstring("barrier 1: 32 of 64 threads have come"));
    PtxRun spins = pair("@%p0 bra WAITS;\nLOOP: bra LOOP;\nWAITS:\n" + kSync);
    spins.work_limit = 100000;
    const auto limit = fault_of(spins);
    REQUIRE(limit);
    CHECK(limit->kind == FaultKind::work_limit);
    CHECK_THAT(limit->text, ContainsSubstring("cluster (0,0,0) has executed"));
}

TEST_CASE("emulator clusters: launches that a driver would refuse") {
    const auto module_of = [](const std::string& target, const std::string& directives) {
        return ".version 8.6\n.target " + target + "\n.address_size 64\n.visible .entry k()\n" + directives +
               "\n{ ret; }\n";
    };
    const auto refuse = [&](const emulator::LaunchConfig& config, const std::string& directives = "",
                            const std::string& target = "sm_90") {
        emulator::GlobalMemory memory;
        try {
            const auto program = emulator::load_program(module_of(target, directives));
            static_cast<void>(emulator::launch(*program, config, memory, {}));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refuse({.entry = "k", .grid = {12, 2, 1}, .cluster = {3, 2, 1}}) == "accepted");
    CHECK(refuse({.entry = "k", .grid = {32, 1, 1}, .cluster = {16, 1, 1}}) == "accepted");
    CHECK(refuse({.entry = "k", .grid = {7, 1, 1}, .cluster = {2, 1, 1}}) ==
          "a grid of 7x1x1 blocks does not divide into clusters of 2x1x1: 7 is no multiple of 2");
    CHECK_THAT(refuse({.entry = "k", .grid = {2, 3, 1}, .cluster = {1, 2, 1}}),
               ContainsSubstring("3 is no multiple of 2"));
    CHECK_THAT(refuse({.entry = "k", .grid = {34, 1, 1}, .cluster = {17, 1, 1}}),
               ContainsSubstring("17x1x1 blocks is more than the 16"));
    CHECK_THAT(refuse({.entry = "k", .grid = {6, 3, 1}, .cluster = {6, 3, 1}}), ContainsSubstring("more than the 16"));
    CHECK_THAT(refuse({.entry = "k", .cluster = {0, 1, 1}}),
               ContainsSubstring("0x1x1 blocks: an extent is at least 1"));
    CHECK_THAT(refuse({.entry = "k", .grid = {2, 1, 1}, .cluster = {2, 1, 1}}, "", "sm_80"),
               ContainsSubstring("on sm_80: clusters need sm_90"));
    CHECK(refuse({.entry = "k", .grid = {2, 1, 1}, .cluster = {2, 1, 1}, .compute_capability = 90}, "", "sm_80") ==
          "accepted");
    const std::string needs_two = ".explicitcluster\n.reqnctapercluster 2, 1, 1";
    CHECK(refuse({.entry = "k", .grid = {4, 1, 1}}, needs_two) == "accepted");
    CHECK_THAT(refuse({.entry = "k", .grid = {3, 1, 1}}, needs_two), ContainsSubstring("3 is no multiple of 2"));
    CHECK_THAT(refuse({.entry = "k", .grid = {4, 1, 1}, .cluster = {4, 1, 1}}, needs_two),
               ContainsSubstring("4x1x1 blocks, where k needs 2x1x1"));
    CHECK_THAT(refuse({.entry = "k"}, ".explicitcluster"), ContainsSubstring("launched without a cluster"));
    CHECK_THAT(refuse({.entry = "k", .grid = {8, 1, 1}, .cluster = {8, 1, 1}}, ".maxclusterrank 4"),
               ContainsSubstring("8x1x1 blocks is more than the 4 that k takes"));
}

TEST_CASE("emulator clusters: PTX before sm_90 has no instructions for them") {
    const auto refuse = [](const std::string& body) {
        try {
            static_cast<void>(run_ptx({.body = body, .target = "sm_80"}));
        } catch (const emulator::PtxError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK_THAT(refuse(kArrive), ContainsSubstring("clusters need .target sm_90"));
    CHECK_THAT(refuse("mov.u32 %r1, %cluster_ctarank;"), ContainsSubstring("clusters need .target sm_90"));
    CHECK_THAT(refuse("mapa.shared::cluster.u32 %r1, %r0, %r0;"), ContainsSubstring("clusters need .target sm_90"));
    CHECK_THAT(refuse("barrier.cluster.sync;"), ContainsSubstring("not supported"));
}
