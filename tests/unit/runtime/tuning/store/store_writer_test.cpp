#include "runtime/tuning/store/store_writer.hpp"

#include "runtime/tuning/store/sqlite.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tuning_records.hpp"

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

using Clock = std::chrono::steady_clock;

const GemmSpec kSpec = resolved({.m = 4096, .n = 512, .k = 1024});

TrialEntry turn(int round) { return {"kernel", Sample{round, 10.0 + round, {}, {}}}; }

/// A store with a sweep, and another process's lock on it.
struct Bench {
    explicit Bench(std::chrono::milliseconds patience = 30s)
        : store(folder.path(), {.patience = patience, .location = {}}),
          sweep(store.begin_sweep({kH200Class, "request", {}})),
          other(store.path(), sqlite::Access::write, 1s) {}

    /// Rounds on disk; they must be 0, 1, 2 ...
    [[nodiscard]] int stored() const {
        const std::vector<ProblemRecord> problems = TuningStore(folder.path()).read_sweep(sweep);
        if (problems.empty()) return 0;
        const std::vector<Sample>& samples = problems.at(0).trials.at(0).samples;
        for (std::size_t i = 0; i < samples.size(); ++i) REQUIRE(samples[i].round == static_cast<int>(i));
        return static_cast<int>(samples.size());
    }

    TemporaryFolder folder;
    TuningStore store;
    std::int64_t sweep;
    sqlite::Database other;
};

}  // namespace

TEST_CASE("what is given to a store's writer is on disk after a flush, and when the writer goes", "[threads]") {
    Bench bench;
    {
        StoreWriter writer(bench.store, bench.sweep, kSpec);
        for (int round = 0; round < 100; ++round) writer.add({turn(round)});
        writer.flush();
        CHECK(bench.stored() == 100);
        writer.flush();  // nothing to wait for
        writer.add({turn(100)});
    }
    CHECK(bench.stored() == 101);
}

TEST_CASE("a writer writes without being asked to", "[threads]") {
    Bench bench;
    StoreWriter writer(bench.store, bench.sweep, kSpec);
    writer.add({turn(0)});
    const auto deadline = Clock::now() + 20s;
    while (bench.stored() == 0 && Clock::now() < deadline) std::this_thread::sleep_for(5ms);
    CHECK(bench.stored() == 1);
}

TEST_CASE("who measures does not wait for the disk, but for one that is far behind", "[threads]") {
    Bench bench;
    StoreWriter writer(bench.store, bench.sweep, kSpec);
    std::optional<sqlite::Transaction> lock(bench.other);
    const auto begin = Clock::now();
    for (int round = 0; round < 500; ++round) writer.add({turn(round)});
    CHECK(Clock::now() - begin < StoreWriter::kLongestLag);
    CHECK(bench.stored() == 0);

    std::this_thread::sleep_until(begin + StoreWriter::kLongestLag + 100ms);
    std::thread holder([&] {
        std::this_thread::sleep_until(begin + StoreWriter::kLongestLag + 500ms);
        lock.reset();
    });
    writer.add({turn(500)});
    CHECK(Clock::now() - begin >= StoreWriter::kLongestLag + 500ms);
    holder.join();
    writer.flush();
    CHECK(bench.stored() == 501);
}

TEST_CASE("what cannot be written is told with the next word, and nothing is written after it", "[threads]") {
    Bench bench(200ms);
    StoreWriter writer(bench.store, bench.sweep, kSpec);
    writer.add({turn(0)});
    writer.flush();
    std::optional<sqlite::Transaction> lock(bench.other);
    writer.add({turn(1)});
    CHECK_THROWS_WITH(writer.flush(), ContainsSubstring(bench.store.path()) && Says("held", "200"));
    lock.reset();
    CHECK_THROWS_AS(writer.add({turn(2)}), TuningStoreError);
    CHECK_THROWS_AS(writer.flush(), TuningStoreError);
    CHECK(bench.stored() == 1);
}

TEST_CASE("a writer refuses what was measured before", "[threads]") {
    Bench bench;
    StoreWriter writer(bench.store, bench.sweep, kSpec);
    writer.add({turn(0)});
    writer.add({turn(0)});
    CHECK_THROWS_WITH(writer.flush(), Says("measurement", "round 0"));
}
