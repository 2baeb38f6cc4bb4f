// Mistakes of copies through a tensor map, and of code that uses their bytes: each is planted and found.

#include "tests/catch.hpp"
#include "tests/support/every_order.hpp"

#include <fmt/format.h>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::AsyncMode;
using emulator::FaultKind;
using testing::counting_input;
using testing::fault_of;
using testing::is_right;
using testing::make_mbarrier;
using testing::text_of;
using testing::TmaRun;
using testing::wait_mbarrier;

namespace {

const TiledTensorMap kMap{.type = DataType::bf16,
                          .rank = 2,
                          .extents = {64, 16},
                          .pitches = {128},
                          .box = {64, 8},
                          .swizzle = TensorMapSwizzle::span128};

/// Map 0 reads the input, map 1 writes the output.
TmaRun with(const std::string& body, int threads = 64) {
    return {.body = body,
            .maps = {kMap, kMap},
            .of_output = {false, true},
            .input = counting_input(2048),
            .output_bytes = 2048,
            .threads = threads};
}

const std::string kMake = make_mbarrier(0, 1) + "setp.eq.u32 %p0, %thread, 0;\n";
const std::string kExpect = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 1024;\n";
const std::string kLoad =
    "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%map0, {0, 0}], "
    "[bars];\n";
const std::string kWait = wait_mbarrier(0, 0);
const std::string kRead = "ld.shared.u32 %r1, [tile+8];\n";
const std::string kStore =
    "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map1, {0, 0}], [tile];\n"
    "@%p0 cp.async.bulk.commit_group;\n";
const std::string kStored = "@%p0 cp.async.bulk.wait_group.read 0;\n";
const std::string kFence = "fence.proxy.async.shared::cta;\n";
const std::string kSync = "bar.sync 0;\n";

/// Every thread of 64 fills its part of the box.
const std::string kFill = R"(
    mov.u32 %r10, tile;
    mad.lo.u32 %r10, %thread, 16, %r10;
    st.shared.v4.u32 [%r10], {%thread, %thread, %thread, %thread};
)";

/// Two accesses that nothing orders: which comes first, and so what is told, depends on the order of the warps.
bool is_race(TmaRun run) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        run.order_seed = seed;
        const auto fault = fault_of(run);
        if (!fault || (fault->kind != FaultKind::copy_in_flight && fault->kind != FaultKind::shared_race)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("emulator TMA checks: what a load brings is not there before a wait") {
    CHECK(is_right(with(kMake + kExpect + kLoad + kWait + kRead)));
    CHECK(is_right(with(kMake + kLoad + kExpect + kWait + kRead)));
    const std::string read = text_of(with(kMake + kExpect + kLoad + kSync + kRead + kWait), FaultKind::copy_in_flight);
    CHECK_THAT(read, ContainsSubstring("which an asynchronous copy in flight writes"));
    CHECK_THAT(read, ContainsSubstring("cp.async.bulk.tensor.2d.shared::cta.global"));
    text_of(with(kMake + kExpect + kLoad + kSync + "st.shared.u32 [tile+8], 1;\n" + kWait), FaultKind::copy_in_flight);
    text_of(with(kMake + kExpect + kLoad + kLoad + kWait), FaultKind::copy_in_flight);
}

TEST_CASE("emulator TMA checks: each warp waits for itself, or is told by one that has") {
    const std::string second = "setp.ge.u32 %p2, %thread, 32;\n@%p2 bra AFTER;\n" + kWait + "AFTER:\n";
    CHECK(is_right(with(kMake + kExpect + kLoad + second + kSync + kRead)));
    CHECK(is_race(with(kMake + kExpect + kLoad + kSync + second + kRead)));
}

TEST_CASE("emulator TMA checks: a wait at another mbarrier, or for another phase, tells nothing") {
    const std::string other = "@%p0 mbarrier.arrive.shared::cta.b64 _, [bars+8];\n";
    text_of(with(kMake + make_mbarrier(1, 1) + kExpect + kLoad + other + wait_mbarrier(1, 0) + kRead + kWait),
            FaultKind::copy_in_flight);
    // The phase before the first counts as complete. Once the first is, the same parity asks for the second.
    TmaRun other_phase = with(kMake + kExpect + kLoad + kSync + wait_mbarrier(0, 1) + kRead + kWait);
    other_phase.async_mode = AsyncMode::late;
    CHECK(fault_of(other_phase)->kind == FaultKind::copy_in_flight);
    other_phase.async_mode = AsyncMode::eager;
    CHECK(fault_of(other_phase)->kind == FaultKind::mbarrier);
}

TEST_CASE("emulator TMA checks: a load must not overwrite what others may still read") {
    const std::string before = kFill + kSync + kRead;
    CHECK(is_right(with(kMake + before + kSync + kExpect + kLoad + kWait)));
    CHECK(is_race(with(kMake + before + kExpect + kLoad + kWait)));
}

TEST_CASE("emulator TMA checks: a block does not end while a load is in flight") {
    const std::string text = text_of(with(kMake + kExpect + kLoad), FaultKind::copy_in_flight);
    CHECK_THAT(text, ContainsSubstring("ends while an asynchronous copy is in flight"));
    CHECK_THAT(text, ContainsSubstring("the mbarrier at offset 16384"));
}

TEST_CASE("emulator TMA checks: bytes that are expected and do not come are a deadlock") {
    const std::string more = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 1040;\n";
    CHECK_THAT(text_of(with(kMake + more + kLoad + kWait), FaultKind::deadlock),
               ContainsSubstring("phase 0 lacks 0 of 1 arrivals and 16 bytes"));
    const std::string less = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 512;\n";
    CHECK_THAT(text_of(with(kMake + less + kLoad + kWait), FaultKind::deadlock),
               ContainsSubstring("has 512 bytes that no thread has expected yet"));
}

TEST_CASE("emulator TMA checks: a store reads what the writers have fenced before a barrier, no less") {
    CHECK(is_right(with(kMake + kFill + kFence + kSync + kStore + kStored)));
    CHECK(is_right(with(kMake + kFill + kSync + kFence + kStore + kStored)));
    CHECK(is_right(with(kMake + kFill + "fence.proxy.async;\n" + kSync + kStore + kStored)));
    const std::string text = text_of(with(kMake + kFill + kSync + kStore + kStored), FaultKind::proxy_fence);
    CHECK_THAT(text, ContainsSubstring("with no fence.proxy.async between"));
    CHECK_THAT(text, ContainsSubstring("st.shared.v4.u32"));
    text_of(with(kMake + kFence + kFill + kSync + kStore + kStored), FaultKind::proxy_fence);
    text_of(with(kMake + kFill + "fence.proxy.async.global;\n" + kSync + kStore + kStored), FaultKind::proxy_fence);
    const std::string one = "@%p0 " + kFence;  // of one warp of two
    text_of(with(kMake + kFill + one + kSync + kStore + kStored), FaultKind::proxy_fence);
    TmaRun no_barrier = with(kMake + kFill + kFence + kStore + kStored);
    no_barrier.checks.shared_written = false;
    text_of(no_barrier, FaultKind::shared_race);
    text_of(with(kMake + kStore + kStored), FaultKind::never_written_shared);
    CHECK(is_right(with(kMake + kExpect + kLoad + kWait + kStore + kStored)));  // what TMA wrote needs no fence
}

TEST_CASE("emulator TMA checks: what a store reads is left alone until its thread has waited and a barrier tells so") {
    const std::string begin = kMake + kFill + kFence + kSync + kStore;
    const std::string again = "st.shared.u32 [%r10], 7;\n";
    CHECK(is_right(with(begin + kStored + kSync + again)));
    CHECK(is_right(with(begin + kRead + kStored)));
    CHECK_THAT(text_of(with(begin + kSync + again + kStored), FaultKind::copy_in_flight),
               ContainsSubstring("in flight"));
    text_of(with(begin + "@%p0 cp.async.bulk.wait_group.read 1;\n" + kSync + again + kStored),
            FaultKind::copy_in_flight);
    CHECK(is_race(with(begin + kStored + again)));
    // Two stores may read the same bytes. The wait for the first one leaves the other in flight.
    const std::string first_done = "@%p0 cp.async.bulk.wait_group.read 1;\n";
    CHECK(is_right(with(begin + kStore + kStored + kSync + again)));
    text_of(with(begin + kStore + first_done + kSync + again + kStored), FaultKind::copy_in_flight);
}

TEST_CASE("emulator TMA checks: a thread does not end while its store reads") {
    const std::string begin = kMake + kFill + kFence + kSync + kStore;
    CHECK_THAT(text_of(with(begin), FaultKind::copy_in_flight),
               ContainsSubstring("the thread ends while its bulk copy may still read shared memory"));
    const std::string open = "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map1, {0, 8}], [tile];\n";
    text_of(with(begin + open + kStored), FaultKind::copy_in_flight);  // in no group
}

TEST_CASE("emulator TMA checks: an mbarrier is made known to copies by a fence") {
    const std::string make = "setp.eq.u32 %p0, %thread, 0;\n@%p0 mbarrier.init.shared::cta.b64 [bars], 1;\n";
    CHECK_THAT(text_of(with(make + kSync + kExpect + kLoad + kWait), FaultKind::proxy_fence),
               ContainsSubstring("no fence.mbarrier_init and no fence.proxy.async followed its mbarrier.init"));
    CHECK(is_right(with(make + kFence + kSync + kExpect + kLoad + kWait)));
    CHECK_THAT(
        text_of(with(kMake + "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], "
                             "[%map0, {0, 0}], [bars+8];"),
                FaultKind::mbarrier),
        ContainsSubstring("there is no mbarrier at offset 16392"));
}

TEST_CASE("emulator TMA checks: coordinates, addresses and maps that a GPU does not take") {
    const auto load = [](const std::string& destination, const std::string& source, int rank = 2) {
        return with(
            kMake + kExpect +
                fmt::format("@%p0 cp.async.bulk.tensor.{}d.shared::cta.global.mbarrier::complete_tx::bytes [{}], "
                            "[{}], [bars];\n",
                            rank, destination, source),
            32);
    };
    const auto store = [](const std::string& coordinates) {
        return with(
            kMake + kExpect + kLoad + kWait +
                fmt::format("@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map1, {{{}}}], [tile];\n",
                            coordinates) +
                "@%p0 cp.async.bulk.commit_group;\n" + kStored,
            32);
    };
    const auto prefetch = [](const std::string& source, int rank = 2) {
        return with(kMake + fmt::format("@%p0 cp.async.bulk.prefetch.tensor.{}d.L2.global.tile [{}];\n", rank, source),
                    32);
    };
    CHECK(is_right(prefetch("%map0, {0, 0}")));
    CHECK_THAT(text_of(prefetch("%map0, {4, 0}"), FaultKind::illegal_instruction),
               ContainsSubstring("begins at element 4 of 2 bytes"));
    CHECK_THAT(text_of(prefetch("%map0, {0, 0, 0}", 3), FaultKind::tensor_map),
               ContainsSubstring("a map of rank 2 in an instruction of 3d"));
    CHECK_THAT(text_of(prefetch("%in, {0, 0}"), FaultKind::tensor_map), ContainsSubstring("are no tensor map"));
    CHECK_THAT(text_of(load("tile", "%map0, {4, 0}"), FaultKind::illegal_instruction),
               ContainsSubstring("begins at element 4 of 2 bytes"));
    text_of(load("tile", "%map0, {-4, 0}"), FaultKind::illegal_instruction);
    text_of(store("4, 0"), FaultKind::illegal_instruction);
    CHECK_THAT(text_of(store("-8, 0"), FaultKind::illegal_instruction), ContainsSubstring("-8 in dimension 0"));
    CHECK_THAT(text_of(store("0, -1"), FaultKind::illegal_instruction), ContainsSubstring("-1 in dimension 1"));
    CHECK(is_right(store("64, 16")));
    CHECK_THAT(text_of(load("tile+64", "%map0, {0, 0}"), FaultKind::misaligned), ContainsSubstring("multiple of 128"));
    text_of(load("tile+16384", "%map0, {0, 0}"), FaultKind::out_of_range);
    CHECK_THAT(text_of(load("tile", "%map0, {0, 0, 0}", 3), FaultKind::tensor_map),
               ContainsSubstring("a map of rank 2 in an instruction of 3d"));
    CHECK_THAT(text_of(load("tile", "%in, {0, 0}"), FaultKind::tensor_map), ContainsSubstring("are no tensor map"));
    text_of(load("tile", "%map0+32, {0, 0}"), FaultKind::misaligned);
    text_of(load("tile", "%map1+64, {0, 0}"), FaultKind::out_of_range);
    CHECK_THAT(text_of(with("prefetch.tensormap [%in];"), FaultKind::tensor_map), ContainsSubstring("no tensor map"));
}

TEST_CASE("emulator TMA checks: a map that is larger than its buffer faults where a box reaches beyond") {
    TmaRun run = with(kMake + kExpect + kLoad + kWait);
    run.maps[0].extents[1] = 17;
    CHECK(is_right(run));
    run.body = kMake + kExpect +
               "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%map0, {0, 9}], "
               "[bars];\n";
    CHECK_THAT(text_of(run, FaultKind::out_of_range), ContainsSubstring("0 bytes past its end (2048 bytes)"));
}

TEST_CASE("emulator TMA checks: what nobody has written is not loaded, what is to be stored once is") {
    const auto undefined = [](const std::string& body) {
        TmaRun run = with(kMake + body);
        run.undefined = true;
        return run;
    };
    CHECK_THAT(text_of(undefined(kExpect + kLoad + kWait), FaultKind::never_written_global),
               ContainsSubstring("reads 128 bytes of global memory: 128 of them were never written"));
    const std::string store = kFill + kFence + kSync + kStore + kStored;
    const std::string other = kSync + "st.shared.u32 [%r10+4], 99;\n" + kFence + kSync + kStore + kStored;
    CHECK(is_right(undefined(store + kStore + kStored)));  // the same once more
    text_of(undefined(store + other), FaultKind::second_store);
    std::string load = kLoad;  // what is stored is written
    load.replace(load.find("%map0"), 5, "%map1");
    CHECK(is_right(undefined(store + kSync + kExpect + load + kWait)));
}

TEST_CASE("emulator TMA checks: a multicast goes to blocks there are, and a copy's mbarrier lies where it goes") {
    const std::string sync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    const auto pair = [&](const std::string& body) {
        TmaRun run = with(kMake + sync + body + sync, 32);
        run.blocks = 2;
        run.cluster = {2, 1, 1};
        return run;
    };
    const std::string multicast =
        "mov.u16 %rs1, {};\n@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster [tile], [%map0, {{0, 0}}], [bars], %rs1;\n";
    CHECK_THAT(text_of(pair(kExpect + fmt::format(fmt::runtime(multicast), 5)), FaultKind::out_of_range),
               ContainsSubstring("a multicast to blocks 0x0005 of a cluster of 2"));
    const std::string apart = R"(
    mov.u32 %r1, tile;
    xor.b32 %r2, %rank, 1;
    mapa.shared::cluster.u32 %r1, %r1, %r2;
    @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%map0, {0, 0}], [bars];
)";
    CHECK_THAT(text_of(pair(apart), FaultKind::mbarrier), ContainsSubstring("mbarrier of block (1,0,0)"));
    // To the other block's memory and mbarrier: that block expects the bytes and waits.
    const std::string across = R"(
    mov.u32 %r1, tile;
    mov.u32 %r3, bars;
    xor.b32 %r2, %rank, 1;
    mapa.shared::cluster.u32 %r1, %r1, %r2;
    mapa.shared::cluster.u32 %r3, %r3, %r2;
    @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%map0, {0, 0}], [%r3];
)";
    CHECK(is_right(pair(kExpect + across + kWait + kRead)));
}
