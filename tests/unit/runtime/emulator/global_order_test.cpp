// Global memory between the blocks of a launch: what one has written another may read behind a release and an acquire
// alone.

#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

#include <fmt/format.h>

using namespace jitgemm;
using emulator::FaultKind;
using testing::fault_of;
using testing::PtxRun;
using testing::run_ptx;

namespace {

// Each thread has a word of data. Flags lie behind; they begin as 0xeeeeeeee.
const std::string kPlace = "mul.wide.u32 %rd3, %thread, 4;\nadd.u64 %rd3, %rd3, %out;\nsetp.eq.u32 %p2, %thread, 0;\n";
const std::string kData = "st.global.u32 [%rd3], 7;\n";
const std::string kRead = "ld.global.u32 %r6, [%rd3];\nst.global.u32 [%rd3+512], %r6;\n";

std::string set_flag(const std::string& store, int flag = 0) {
    return fmt::format("@%p2 {} [%out+{}], 1;\n", store, 1024 + 4 * flag);
}
std::string wait_for_flag(const std::string& load, int flag = 0) {
    return fmt::format("{{\n.reg .pred no;\nAGAIN:\n{} %r5, [%out+{}];\nsetp.ne.u32 no, %r5, 1;\n@no bra AGAIN;\n}}\n",
                       load, 1024 + 4 * flag);
}
const std::string kRelease = set_flag("st.release.gpu.global.u32");
const std::string kAcquire = wait_for_flag("ld.acquire.gpu.global.u32");

/// The first block does one thing, those behind it another, one after the other.
PtxRun of_blocks(const std::string& first, const std::string& others, std::int64_t blocks = 2, int threads = 32) {
    return {.body = kPlace + "mov.u32 %r0, %ctaid.x;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra OTHERS;\n" + first +
                    "bra.uni MET;\nOTHERS:\n" + others + "MET:\n",
            .threads = threads,
            .blocks = blocks,
            .work_limit = 1'000'000,
            .host_threads = 1};
}

bool is_right(const PtxRun& run) {
    const auto fault = fault_of(run);
    if (fault) UNSCOPED_INFO(fault->text);
    return !fault;
}

bool is_race(const PtxRun& run) {
    const auto fault = fault_of(run);
    if (fault) UNSCOPED_INFO(fault->text);
    return fault && fault->kind == FaultKind::global_race;
}

}  // namespace

TEST_CASE("emulator global order: a release and an acquire of one word order what blocks write and read") {
    const PtxRun run = of_blocks(kData + kRelease, kAcquire + kRead);
    CHECK(is_right(run));
    CHECK(words(run_ptx(run))[16] == 7);
    CHECK(is_race(of_blocks(kData, kRead)));
    CHECK(is_race(of_blocks(kData + kRelease, kRead)));
    CHECK(is_race(of_blocks(kRelease + kData, kAcquire + kRead)));
    CHECK(is_race(of_blocks(kData + set_flag("st.relaxed.gpu.global.u32"), kAcquire + kRead)));
    CHECK(is_race(of_blocks(kData + kRelease, wait_for_flag("ld.relaxed.gpu.global.u32") + kRead)));
    CHECK(is_race(of_blocks(kData + kRelease, wait_for_flag("ld.volatile.global.u32") + kRead)));
    CHECK(is_race(of_blocks(kData + kRelease, wait_for_flag("ld.global.u32") + kRead)));
    const auto fault = fault_of(of_blocks(kData, kRead));
    CHECK((fault && fault->text.find("written by warp 0 of block (0,0,0)") != std::string::npos));
    PtxRun unchecked = of_blocks(kData, kRead);
    unchecked.checks.races = false;
    CHECK(is_right(unchecked));
}

TEST_CASE("emulator global order: a scope of less than the GPU orders nothing between blocks") {
    CHECK(is_race(of_blocks(kData + set_flag("st.release.cta.global.u32"), kAcquire + kRead)));
    CHECK(is_race(of_blocks(kData + set_flag("st.release.cluster.global.u32"), kAcquire + kRead)));
    CHECK(is_race(of_blocks(kData + kRelease, wait_for_flag("ld.acquire.cta.global.u32") + kRead)));
    CHECK(is_right(
        of_blocks(kData + set_flag("st.release.sys.global.u32"), wait_for_flag("ld.acquire.sys.global.u32") + kRead)));
}

TEST_CASE("emulator global order: fences order what relaxed accesses beside them do not") {
    const std::string set = set_flag("st.relaxed.gpu.global.u32");
    const std::string wait = wait_for_flag("ld.relaxed.gpu.global.u32");
    for (const std::string fence : {"fence.acq_rel.gpu;\n", "fence.sc.sys;\n", "membar.gl;\n"}) {
        INFO(fence);
        CHECK(is_right(of_blocks(kData + fence + set, wait + fence + kRead)));
        CHECK(is_right(of_blocks(kData + fence + set, kAcquire + kRead)));
        CHECK(is_right(of_blocks(kData + kRelease, wait + fence + kRead)));
        CHECK(is_race(of_blocks(fence + kData + set, wait + fence + kRead)));
        CHECK(is_race(of_blocks(kData + fence + set, fence + wait + kRead)));
    }
    const std::string narrow = "fence.acq_rel.cta;\n";
    CHECK(is_race(of_blocks(kData + narrow + set, wait + narrow + kRead)));
}

TEST_CASE("emulator global order: atomics release and acquire as loads and stores do") {
    const std::string none = "atom.acquire.gpu.global.or.b32 %r5, [%out+1024], 0;\n";
    const std::string exchange = "@%p2 atom.release.gpu.global.exch.b32 %r7, [%out+1024], 1;\n";
    CHECK(is_right(of_blocks(kData + exchange, kAcquire + kRead)));
    CHECK(is_right(of_blocks(kData + exchange, none + kRead)));
    CHECK(is_right(of_blocks(kData + set_flag("red.release.gpu.global.max.u32"), none + kRead)));
    CHECK(is_race(of_blocks(kData + set_flag("red.global.max.u32"), none + kRead)));
    CHECK(is_right(of_blocks(kData + "membar.gl;\n" + set_flag("red.global.max.u32"), none + kRead)));
    CHECK(is_race(of_blocks(kData + exchange, "atom.global.or.b32 %r5, [%out+1024], 0;\n" + kRead)));
}

TEST_CASE("emulator global order: what a block has acquired it releases as well, and its barriers tell its warps") {
    const std::string second = set_flag("st.release.gpu.global.u32", 1);
    const std::string middle =
        "setp.ne.u32 %p3, %r0, 1;\n@%p3 bra LAST;\n" + kAcquire + second + "bra.uni MET;\nLAST:\n";
    CHECK(is_right(of_blocks(kData + kRelease, middle + wait_for_flag("ld.acquire.gpu.global.u32", 1) + kRead, 3)));
    CHECK(is_race(of_blocks(kData + kRelease, middle + kRead, 3)));

    const std::string one_warp = "setp.ge.u32 %p3, %thread, 32;\n@%p3 bra SKIP;\n" + kAcquire + "SKIP:\n";
    const std::string sync = "bar.sync 0;\n";
    CHECK(is_right(of_blocks(kData + sync + kRelease, one_warp + sync + kRead, 2, 64)));
    CHECK(is_race(of_blocks(kData + kRelease + sync, one_warp + sync + kRead, 2, 64)));
    CHECK(is_race(of_blocks(kData + sync + kRelease, one_warp + kRead, 2, 64)));
}

TEST_CASE("emulator global order: warps of one block are ordered by its barriers") {
    const std::string other = "xor.b32 %r8, %thread, 32;\nmul.wide.u32 %rd3, %r8, 4;\nadd.u64 %rd3, %rd3, %out;\n";
    CHECK(is_right(of_blocks(kData + "bar.sync 0;\n" + other + kRead, "", 1, 64)));
    CHECK(is_race(of_blocks(kData + other + kRead, "", 1, 64)));
}

TEST_CASE("emulator global order: a flag that another block may set later is first read as it was before") {
    const std::string once = "ld.acquire.gpu.global.u32 %r5, [%out+1024];\n@%p2 st.global.u32 [%out+2040], %r5;\n";
    const PtxRun run = of_blocks(kData + kRelease, once + once, 2);
    CHECK(words(run_ptx(run), 6)[63] == 1);
    CHECK(words(run_ptx(of_blocks(kData + kRelease, once)), 6)[63] == 0xEEEEEEEE);
}
