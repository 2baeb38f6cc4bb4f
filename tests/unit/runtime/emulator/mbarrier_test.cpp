// mbarriers: what they count, against values worked out by hand from the PTX ISA; what they order; and each misuse.

#include "tests/catch.hpp"
#include "tests/support/every_order.hpp"

#include <fmt/format.h>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::FaultKind;
using testing::fault_of;
using testing::is_right;
using testing::make_mbarrier;
using testing::run_tma;
using testing::text_of;
using testing::TmaRun;
using testing::wait_mbarrier;
using Words = std::vector<std::uint32_t>;

namespace {

Words words_of(const TmaRun& run) {
    const auto result = run_tma(run);
    Words words(result.output.size() / 4);
    std::memcpy(words.data(), result.output.data(), words.size() * 4);
    return words;
}

/// A run of one thread that makes a barrier for that many arrivals and stores what `body` leaves in %r20 on.
TmaRun alone(int arrivals, const std::string& body, int results = 0) {
    std::string text = make_mbarrier(0, arrivals) + body;
    for (int i = 0; i < results; ++i) text += fmt::format("st.global.u32 [%out+{}], %r{};\n", 4 * i, 20 + i);
    return {.body = text, .output_bytes = static_cast<std::size_t>(4 * results), .threads = 1};
}

/// Whether the phase of that parity is complete goes to %r<result>.
std::string test(int parity, int result) {
    return fmt::format("mbarrier.test_wait.parity.shared::cta.b64 %p1, [bars], {};\nselp.u32 %r{}, 1, 0, %p1;\n",
                       parity, result);
}

const std::string kArrive = "mbarrier.arrive.shared::cta.b64 _, [bars];\n";

}  // namespace

TEST_CASE("emulator mbarrier: a fresh one has completed the phase of parity 1, and not that of parity 0") {
    CHECK(words_of(alone(1, test(0, 20) + test(1, 21), 2)) == Words{0, 1});
}

TEST_CASE("emulator mbarrier: a phase is complete when all arrivals are there, and the next one begins") {
    const std::string two_more = "mbarrier.arrive.release.cta.shared::cta.b64 _, [bars], 2;\n";
    CHECK(words_of(alone(3,
                         kArrive + test(0, 20) + two_more + test(0, 21) + test(1, 22) + kArrive + test(1, 23) +
                             two_more + test(1, 24) + test(0, 25),
                         6)) == Words{0, 1, 0, 0, 1, 0});
}

TEST_CASE("emulator mbarrier: a state tells its own phase from the next") {
    const std::string body = R"(
    mbarrier.arrive.b64 %rd1, [%rd10];
    mbarrier.test_wait.b64 %p1, [%rd10], %rd1;
    selp.u32 %r20, 1, 0, %p1;
    mbarrier.arrive.b64 %rd2, [%rd10];
    mbarrier.test_wait.acquire.cta.b64 %p1, [%rd10], %rd2;
    selp.u32 %r21, 1, 0, %p1;
    mbarrier.arrive.b64 %rd3, [%rd10];
    mbarrier.try_wait.b64 %p1, [%rd10], %rd2, 100;
    selp.u32 %r22, 1, 0, %p1;
    mbarrier.test_wait.b64 %p1, [%rd10], %rd3;
    selp.u32 %r23, 1, 0, %p1;
)";
    const std::string generic = "mov.u64 %rd9, bars;\ncvta.shared.u64 %rd10, %rd9;\n";
    CHECK(words_of(alone(2, generic + body, 4)) == Words{0, 1, 1, 0});
    const std::string late = generic + "mbarrier.arrive.b64 %rd1, [%rd10];\nmbarrier.arrive.b64 _, [%rd10];\n" +
                             "mbarrier.test_wait.b64 %p1, [%rd10], %rd1;\n";
    CHECK_THAT(text_of(alone(1, late), FaultKind::mbarrier), ContainsSubstring("a state of phase 0, where phase 2"));
}

TEST_CASE("emulator mbarrier: bytes that are expected hold a phase open, in whatever order they come") {
    const std::string expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 64;\n";
    const std::string come = "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [bars], 32;\n";
    CHECK(words_of(alone(1, expect + test(0, 20) + come + test(0, 21) + come + test(0, 22), 3)) == Words{0, 0, 1});
    CHECK(words_of(alone(1, come + test(0, 20) + come + test(0, 21) + expect + test(0, 22), 3)) == Words{0, 0, 1});
    const std::string expect_only = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bars], 32;\n";
    CHECK(words_of(alone(1, expect_only + kArrive + test(0, 20) + come + test(0, 21), 2)) == Words{0, 1});
}

TEST_CASE("emulator mbarrier: a fault says which count leaves its range") {
    const auto fault = [](int arrivals, const std::string& body) {
        return text_of(alone(arrivals, body), FaultKind::mbarrier);
    };
    CHECK_THAT(fault(0, ""), ContainsSubstring("an mbarrier for 0 arrivals: 1 to 1048575"));
    CHECK_THAT(fault(1 << 20, ""), ContainsSubstring("an mbarrier for 1048576 arrivals"));
    CHECK_THAT(fault(2, "mbarrier.arrive.shared::cta.b64 _, [bars], 3;"),
               ContainsSubstring("3 arrivals more, where phase 0 lacks 2 of 2 arrivals and 0 bytes"));
    CHECK_THAT(fault(2, "mbarrier.arrive.shared::cta.b64 _, [bars], 0;"), ContainsSubstring("0 arrivals at once"));
    CHECK_THAT(fault(1,
                     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 1048575;\n"
                     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bars], 1;\n"),
               ContainsSubstring("1 bytes more are expected, where phase 0 lacks 0 of 1 arrivals and 1048575 bytes"));
    CHECK_THAT(fault(1,
                     "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [bars], 1048575;\n"
                     "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [bars], 16;\n"),
               ContainsSubstring("has 1048575 bytes that no thread has expected yet"));
    CHECK_THAT(fault(1, "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bars], 2;"), ContainsSubstring("parity of 2"));
}

TEST_CASE("emulator mbarrier: only an mbarrier can be used as one, and as nothing else") {
    const std::string none = "mbarrier.arrive.shared::cta.b64 _, [bars+8];";
    CHECK_THAT(text_of(alone(1, none), FaultKind::mbarrier), ContainsSubstring("there is no mbarrier at offset 16392"));
    CHECK_THAT(text_of(alone(1, "mbarrier.inval.shared::cta.b64 [bars];\n" + kArrive), FaultKind::mbarrier),
               ContainsSubstring("mbarrier.inval has ended it"));
    for (const std::string body : {"st.shared.u32 [bars+4], 0;", "ld.shared.u64 %rd1, [bars];",
                                   "mbarrier.init.shared::cta.b64 [bars], 1;", "atom.shared.add.u32 %r1, [bars], 1;"}) {
        CHECK_THAT(text_of(alone(1, body), FaultKind::mbarrier), ContainsSubstring("which is an mbarrier's"));
    }
    const std::string again =
        "mbarrier.inval.shared::cta.b64 [bars];\nst.shared.u32 [bars], 7;\nld.shared.u32 %r20, [bars];\n";
    CHECK(words_of(alone(1, again, 1)) == Words{7});
    text_of(alone(1, "mbarrier.inval.shared::cta.b64 [bars];\nld.shared.u32 %r20, [bars];"),
            FaultKind::never_written_shared);
    text_of(alone(1, "mbarrier.init.shared::cta.b64 [bars+12], 1;"), FaultKind::misaligned);
}

TEST_CASE("emulator mbarrier: an arrival hands over what was written before it, a wait takes it") {
    // Every warp stores a word, arrives, waits, and reads its neighbour's.
    const std::string store =
        "mov.u32 %r10, tile;\nmad.lo.u32 %r11, %thread, 4, %r10;\nst.shared.u32 [%r11], %thread;\n";
    const std::string load = R"(
    add.u32 %r1, %thread, 32;
    and.b32 %r1, %r1, 127;
    mad.lo.u32 %r2, %r1, 4, %r10;
    ld.shared.u32 %r3, [%r2];
    mul.wide.u32 %rd1, %thread, 4;
    add.u64 %rd1, %rd1, %out;
    st.global.u32 [%rd1], %r3;
)";
    const auto with = [&](const std::string& arrive, const std::string& wait) {
        return TmaRun{
            .body = make_mbarrier(0, 128) + store + arrive + wait + load, .output_bytes = 512, .threads = 128};
    };
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        TmaRun run = with(kArrive, wait_mbarrier(0, 0));
        run.order_seed = seed;
        const Words words = words_of(run);
        for (std::uint32_t thread = 0; thread < 128; ++thread) REQUIRE(words[thread] == (thread + 32) % 128);
    }
    TmaRun no_wait = with(kArrive, "");
    no_wait.checks.shared_written = false;
    CHECK_THAT(text_of(no_wait, FaultKind::shared_race), ContainsSubstring("no barrier between"));
    const std::string relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bars];\n";
    text_of(with(relaxed, wait_mbarrier(0, 0)), FaultKind::shared_race);
}

TEST_CASE("emulator mbarrier: a ring of slots goes round, its producer as far ahead as there are slots") {
    // Warp 0 writes 1, 2 … 12 to two slots; warp 1 adds them up. Barriers 0 and 1 say full, 2 and 3 empty.
    const std::string make = make_mbarrier(0, 32) + make_mbarrier(1, 32) + make_mbarrier(2, 32) + make_mbarrier(3, 32);
    const std::string ring = R"(
    mov.u32 %r1, 0;
    mov.u32 %r20, 0;
    and.b32 %r9, %thread, 31;
    setp.ge.u32 %p2, %thread, 32;
NEXT:
    and.b32 %r2, %r1, 1;
    shr.u32 %r3, %r1, 1;
    and.b32 %r3, %r3, 1;
    mov.u32 %r4, bars;
    mad.lo.u32 %r4, %r2, 8, %r4;
    mov.u32 %r5, tile;
    mad.lo.u32 %r5, %r2, 128, %r5;
    mad.lo.u32 %r5, %r9, 4, %r5;
    add.u32 %r1, %r1, 1;
    @%p2 bra CONSUME;
    xor.b32 %r6, %r3, 1;
EMPTY:
    mbarrier.TEST.parity.shared::cta.b64 %p1, [%r4+16], %r6;
    @!%p1 bra EMPTY;
    st.shared.u32 [%r5], %r1;
    mbarrier.arrive.shared::cta.b64 _, [%r4];
    bra AGAIN;
CONSUME:
    mbarrier.TEST.parity.shared::cta.b64 %p1, [%r4], %r3;
    @!%p1 bra CONSUME;
    ld.shared.u32 %r7, [%r5];
    add.u32 %r20, %r20, %r7;
    mbarrier.arrive.shared::cta.b64 _, [%r4+16];
AGAIN:
    setp.lt.u32 %p3, %r1, 12;
    @%p3 bra NEXT;
    @!%p2 bra END;
    mad.wide.u32 %rd1, %r9, 4, %out;
    st.global.u32 [%rd1], %r20;
END:
)";
    const std::string verb = GENERATE("try_wait", "test_wait");
    std::string body = ring;
    for (auto at = body.find("TEST"); at != std::string::npos; at = body.find("TEST")) body.replace(at, 4, verb);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const TmaRun run{.body = make + body, .output_bytes = 128, .threads = 64, .order_seed = seed};
        CHECK(words_of(run) == Words(32, 78));
        TmaRun overrun = run;  // the producer does not ask whether its slot is empty
        overrun.body.replace(overrun.body.find("@!%p1 bra EMPTY;"), 16, "");
        CHECK(fault_of(overrun));
    }
}

TEST_CASE("emulator mbarrier: a deadlock is told with what the barrier lacks and who waits where") {
    TmaRun run = alone(2, kArrive + wait_mbarrier(0, 0));
    CHECK_THAT(
        text_of(run, FaultKind::deadlock),
        ContainsSubstring("the mbarrier at offset 16384 of shared memory: phase 0 lacks 1 of 2 arrivals and 0 bytes") &&
            ContainsSubstring("warp 0 waits at PTX line") && ContainsSubstring("try_wait"));
    run.body = make_mbarrier(0, 1) + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 48;\nSPIN:\n" +
               "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bars], 0;\n@!%p1 bra SPIN;\n";
    CHECK_THAT(text_of(run, FaultKind::deadlock), ContainsSubstring("phase 0 lacks 0 of 1 arrivals and 48 bytes"));
}

TEST_CASE("emulator mbarrier: one that no barrier has told of is not to be used") {
    const std::string init = "setp.eq.u32 %p1, %thread, 0;\n@%p1 mbarrier.init.shared::cta.b64 [bars], 64;\n";
    const std::string arrive = "setp.ge.u32 %p2, %thread, 32;\n@%p2 mbarrier.arrive.shared::cta.b64 _, [bars];\n";
    const TmaRun run{.body = init + arrive, .threads = 64};
    CHECK_THAT(fault_of(run)->text, ContainsSubstring("warp 0 has initialized with no barrier between"));
    CHECK(!fault_of(TmaRun{.body = init + "bar.sync 0;\n" + arrive, .threads = 64}));
}

TEST_CASE("emulator mbarrier: blocks of a cluster arrive at each other's") {
    const std::string make = R"(
    setp.eq.u32 %p2, %thread, 0;
    @%p2 mbarrier.init.shared::cta.b64 [bars], 64;
)";
    const std::string fence = "@%p2 fence.mbarrier_init.release.cluster;\n";
    const std::string relaxed = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";
    const std::string sync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    const std::string meet = R"(
    mov.u32 %r1, bars;
    mov.u32 %r2, 0;
    mapa.shared::cluster.u32 %r3, %r1, %r2;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
    setp.ne.u32 %p1, %rank, 0;
    @%p1 bra END;
)" + wait_mbarrier(0, 0) + "st.global.u32 [%out], %rank;\nEND:\n";
    const auto with = [&](const std::string& body) {
        return TmaRun{.body = body, .output_bytes = 4, .blocks = 2, .cluster = {2, 1, 1}};
    };
    CHECK(words_of(with(make + fence + relaxed + meet + sync)) == Words{0});
    CHECK(words_of(with(make + sync + meet + sync)) == Words{0});
    CHECK_THAT(text_of(with(make + relaxed + meet + sync), FaultKind::shared_race),
               ContainsSubstring("warp 0 of block (0,0,0) has initialized with no barrier between"));
    // Block 0 ends when it knows of the other's arrival, not before.
    CHECK(words_of(with(make + sync + meet)) == Words{0});
    std::string no_wait = meet;
    no_wait.replace(no_wait.find(wait_mbarrier(0, 0)), wait_mbarrier(0, 0).size(), "");
    CHECK_THAT(text_of(with(make + sync + no_wait), FaultKind::block_ended), ContainsSubstring("block (0,0,0)"));
    const std::string foreign = R"(
    mov.u64 %rd1, bars;
    cvta.shared.u64 %rd1, %rd1;
    mov.u32 %r2, 1;
    mapa.u64 %rd2, %rd1, %r2;
    mbarrier.test_wait.parity.b64 %p3, [%rd2], 0;
)";
    CHECK_THAT(text_of(with(make + sync + foreign + sync), FaultKind::mbarrier), ContainsSubstring("of another block"));
}

namespace {

/// The first warp does one thing and the second another, with an mbarrier whose phase is 32 arrivals: a whole warp's.
TmaRun of_two(const std::string& first, const std::string& second) {
    return {.body = make_mbarrier(0, 32) + "setp.ge.u32 %p4, %thread, 32;\n@%p4 bra SECOND;\n" + first +
                    "bra.uni MET;\nSECOND:\n" + second + "MET:\n",
            .threads = 64};
}

}  // namespace

TEST_CASE("emulator mbarrier: a wait by parity is for a phase that no later one can have followed") {
    const std::string sync = "bar.sync 1, 64;\n";
    CHECK(is_right(of_two(wait_mbarrier(0, 0) + sync + wait_mbarrier(0, 1), kArrive + sync + kArrive)));
    // A warp may know of phases by a barrier with one that has waited for them.
    CHECK(is_right(
        of_two(sync + wait_mbarrier(0, 1), kArrive + wait_mbarrier(0, 0) + kArrive + wait_mbarrier(0, 1) + sync)));
    const std::string late = text_of(of_two(wait_mbarrier(0, 0), kArrive + kArrive), FaultKind::mbarrier);
    CHECK_THAT(late, ContainsSubstring("parity 0"));
}
