#include "runtime/tuning/store/store.hpp"

#include "runtime/tuning/store/record_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tuning_records.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

#include <sys/stat.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

Sample sample_of(int round, double us) {
    const DeviceReading reading{1755, 2619, 690.5, 61, 0x8000000000000004};
    return {round, us, reading, {1700, 2619, 700.25, 62, 4}};
}

std::string problem_lines(const std::vector<ProblemRecord>& problems) {
    std::string text;
    for (const ProblemRecord& problem : problems) {
        text += to_string(problem.spec) + "\n";
        for (const Trial& trial : problem.trials) text += json_line(trial) + "\n";
        if (problem.winner) text += json_line(*problem.winner) + "\n";
    }
    return text;
}

/// One sweep with a bit of everything.
std::int64_t fill(TuningStore& store) {
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    store.add(sweep, kTunedSpec,
              {{"one", PredictedCompile{11.5, {Verdict::fine, "", 40, 168, 16, {"C7510 \"note\""}, "abc"}}}});
    store.add(sweep, kTunedSpec,
              {{"two", PredictedCompile{12.5, {Verdict::compile_failed, "line 3: no", 4, 0, 0, {}, ""}}}});
    store.add(sweep, kTunedSpec, {{"three", PredictedCompile{13.5, {Verdict::fine, "", 41, 168, 16, {}, "abc"}}}});
    store.add(sweep, kTunedSpec, {{"three", SameCode{"one"}}});
    store.add(sweep, kTunedSpec, {{"one", VerifyOutcome{Verdict::fine, "exact"}}});
    store.add(sweep, kTunedSpec, {{"one", sample_of(0, 0.1)}});
    store.add(sweep, kTunedSpec, {{"one", sample_of(1, 1.0 / 3)}});
    store.add(sweep, kOtherSpec, {{"four", VerifyOutcome{Verdict::crashed, "illegal access"}}});
    store.set_winner(sweep, winner_for(kTunedSpec));
    return sweep;
}

/// A new store with winners of both problems on an H200, and of one on the emulator.
TuningStore store_of_two_classes(const TemporaryFolder& folder) {
    TuningStore store(folder.path());
    REQUIRE(store.add_winners({winner_for(kTunedSpec), on_class(kEmulatorClass, winner_for(kTunedSpec)),
                               winner_for(kOtherSpec)}) == 3);
    return store;
}

}  // namespace

TEST_CASE("a store holds what it was given, when it is opened again") {
    const TemporaryFolder folder;
    std::int64_t sweep = 0;
    {
        TuningStore store(folder / "a/b");
        sweep = fill(store);
    }
    const TuningStore store(folder / "a/b");
    const std::vector<ProblemRecord> problems = store.read_sweep(sweep);
    REQUIRE(problems.size() == 2);
    REQUIRE(problems[0].spec == kTunedSpec);
    REQUIRE(problems[1].spec == kOtherSpec);
    const std::vector<Trial>& trials = problems[0].trials;
    REQUIRE(trials.size() == 3);
    REQUIRE(trials[0].kernel == "one");  // in the order first recorded
    REQUIRE(trials[0].predicted_us == 11.5);
    REQUIRE(trials[0].compile->warnings == std::vector<std::string>{"C7510 \"note\""});
    REQUIRE(trials[0].compile->text_hash == "abc");
    REQUIRE(trials[0].verified->message == "exact");
    REQUIRE(trials[0].times_us() == std::vector<double>{0.1, 1.0 / 3});
    REQUIRE(trials[0].samples[1].before.throttle == 0x8000000000000004);
    REQUIRE(trials[0].samples[1].after.power_watts == 700.25);
    REQUIRE(trials[1].verdict() == Verdict::compile_failed);
    REQUIRE(trials[1].message() == "line 3: no");
    REQUIRE_FALSE(trials[1].verified.has_value());
    REQUIRE(trials[2].verdict() == Verdict::same_code);
    REQUIRE(problems[1].trials[0].verdict() == Verdict::crashed);
    REQUIRE(json_line(*problems[0].winner) == json_line(winner_for(kTunedSpec)));
    REQUIRE_FALSE(problems[1].winner.has_value());
    REQUIRE(lines(store.winners(kH200Class)) == lines(std::vector{winner_for(kTunedSpec)}));
}

TEST_CASE("the folder is the user's alone") {
    const TemporaryFolder folder;
    const TuningStore store(folder / "store");
    struct stat status {};
    REQUIRE(::stat((folder / "store").c_str(), &status) == 0);
    REQUIRE((status.st_mode & 0777) == 0700);
    REQUIRE(store.path() == folder / "store/tuning.sqlite");
}

TEST_CASE("a sweep is found by all of its key, the latest first") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    REQUIRE_FALSE(store.find_sweep(kSweepKey).has_value());
    const std::int64_t first = store.begin_sweep(kSweepKey);
    const std::int64_t second = store.begin_sweep(kSweepKey);
    REQUIRE(first != second);
    REQUIRE(store.find_sweep(kSweepKey)->id == second);
    REQUIRE(store.find_sweep(kSweepKey)->finished == 0);
    REQUIRE(store.find_sweep(kSweepKey)->started > 1'700'000'000);
    store.finish_sweep(second);
    REQUIRE(store.find_sweep(kSweepKey)->finished != 0);
    SweepKey other = kSweepKey;
    SECTION("device class") { other.device_class = "emulator-sm_80"; }
    SECTION("request") { other.request += "; cold"; }
    SECTION("templates") { other.versions.templates = "edited"; }
    SECTION("driver") { other.versions.driver = 131; }
    REQUIRE_FALSE(store.find_sweep(other).has_value());
}

TEST_CASE("nothing is measured twice") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    const std::int64_t sweep = fill(store);
    REQUIRE_THROWS_WITH(store.add(sweep, kTunedSpec, {{"one", sample_of(1, 5)}}),
                        ContainsSubstring("measurement of round 1"));
    REQUIRE(store.read_sweep(sweep)[0].trials[0].times_us() == std::vector<double>{0.1, 1.0 / 3});
    store.add(store.begin_sweep(kSweepKey), kTunedSpec, {{"one", sample_of(1, 5)}});  // another sweep is another trial
}

TEST_CASE("a sample gets its last reading at the end of its round, or goes with the round") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    const DeviceReading before{1755, 2619, 690.5, 61, 4};
    const DeviceReading after{1700, 2619, 700.25, 62, 0x8000000000000004};
    const auto samples = [&] { return store.read_sweep(sweep).at(0).trials.at(0).samples; };
    store.add(sweep, kTunedSpec, {{"one", Sample{0, 1.5, before, {}}}, {"one", Sample{1, 2.5, before, {}}}});
    REQUIRE(samples().size() == 2);
    REQUIRE(samples()[0].after.power_watts == 0);

    store.add(sweep, kTunedSpec, {{"one", SampleEnd{0, after, true}}, {"one", SampleEnd{1, after, false}}});
    REQUIRE(samples().size() == 1);
    REQUIRE(json_line(samples()[0]) == json_line(Sample{0, 1.5, before, after}));

    store.add(sweep, kTunedSpec, {{"one", Sample{1, 3.5, before, {}}}});  // its round is free again
    REQUIRE(samples()[1].us == 3.5);
    REQUIRE_THROWS_WITH(
        store.add(sweep, kTunedSpec, {{"two", Sample{0, 1, {}, {}}}, {"one", Sample{1, 4.5, before, {}}}}),
        ContainsSubstring("measurement of round 1"));
    REQUIRE(store.read_sweep(sweep)[0].trials.size() == 1);  // all or none
}

TEST_CASE("a sweep that is none is refused") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    REQUIRE_THROWS_AS(store.add(77, kTunedSpec, {{"one", sample_of(0, 5)}}), TuningStoreError);
    REQUIRE(store.read_sweep(77).empty());
}

TEST_CASE("an unresolved spec is the resolved one") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    store.add(sweep, {.m = 4096, .n = 512, .k = 1024}, {{"one", VerifyOutcome{}}});
    store.add(sweep, kTunedSpec, {{"one", VerifyOutcome{Verdict::wrong, "D(0, 0)"}}});
    REQUIRE(store.read_sweep(sweep).size() == 1);
    REQUIRE(store.read_sweep(sweep)[0].trials[0].verdict() == Verdict::wrong);
}

TEST_CASE("a winner gives way to a better one that was searched alike: finished before unfinished, then the faster") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    const auto stored = [&] { return store.winners().at(0).median_us; };
    Winner unfinished = winner_for(kTunedSpec, 0, 10);
    unfinished.complete = false;
    store.set_winner(sweep, unfinished);
    unfinished.median_us = 11;
    unfinished.candidates_timed += 8;  // the same search, further on: the first's 10 may have been luck
    store.set_winner(sweep, unfinished);
    REQUIRE(stored() == 11);
    store.set_winner(sweep, winner_for(kTunedSpec, 0, 12));  // complete: slower, and more to be trusted
    REQUIRE(stored() == 12);
    store.set_winner(sweep, unfinished);
    REQUIRE(stored() == 12);
    REQUIRE(store.read_sweep(sweep)[0].winner->median_us == 11);  // what the sweep stored last
    store.set_winner(sweep, winner_for(kTunedSpec, 1, 13));
    REQUIRE(stored() == 12);
    Winner older = winner_for(kTunedSpec, 1, 13);
    older.unix_time -= 3600;
    REQUIRE(store.add_winners({older}) == 0);
    REQUIRE(store.add_winners({winner_for(kTunedSpec, 1, 9)}) == 1);
    REQUIRE(stored() == 9);
    REQUIRE(store.winners().size() == 1);
}

TEST_CASE("winners that were searched otherwise stand beside each other, whoever comes first") {
    const Winner whole = winner_for(kTunedSpec, 0, 10);
    Winner other = winner_for(kTunedSpec, 1, 5);
    SECTION("a part of the candidates") { other.narrowed = "max-candidates=1"; }
    SECTION("another protocol") { other.protocol = Protocol::cold; }
    SECTION("hot operands") { other.hot = true; }
    SECTION("other versions") { other.versions.driver = 120; }
    for (const std::vector<Winner>& order : {std::vector{whole, other}, std::vector{other, whole}}) {
        const TemporaryFolder folder;
        TuningStore store(folder.path());
        for (const Winner& winner : order) REQUIRE(store.add_winners({winner}) == 1);
        REQUIRE(store.winners().size() == 2);
        const std::string stored = lines(store.winners());
        REQUIRE(stored.find(lines({whole})) != std::string::npos);
        REQUIRE(stored.find(lines({other})) != std::string::npos);
        REQUIRE(store.forget({}, kTunedSpec) == 2);
    }
}

TEST_CASE("winners are those of a class, sorted") {
    const TemporaryFolder folder;
    const TuningStore store = store_of_two_classes(folder);
    REQUIRE(store.winners().size() == 3);
    REQUIRE(store.winners()[0].device_class == kEmulatorClass);
    REQUIRE(store.winners(kH200Class).size() == 2);
    REQUIRE(store.winners("sm_80").empty());
}

TEST_CASE("winners are forgotten by class, by problem, or all") {
    const TemporaryFolder folder;
    TuningStore store = store_of_two_classes(folder);
    REQUIRE(store.forget(kH200Class, kOtherSpec) == 1);
    REQUIRE(store.forget(kH200Class, kOtherSpec) == 0);
    REQUIRE(store.forget("", kTunedSpec) == 2);
    REQUIRE(store.winners().empty());
    REQUIRE(store.add_winners({winner_for(kTunedSpec), on_class(kEmulatorClass, winner_for(kTunedSpec))}) == 2);
    REQUIRE(store.forget(kEmulatorClass, std::nullopt) == 1);
    REQUIRE(store.forget("", std::nullopt) == 1);
}

// ---- merging --------------------------------------------------------------------------------------------------------

TEST_CASE("merging takes over everything, and the second time nothing") {
    const TemporaryFolder folder;
    TuningStore ours(folder / "ours");
    static_cast<void>(ours.begin_sweep(kSweepKey));  // so that row numbers differ
    static_cast<void>(ours.begin_sweep(kSweepKey));
    TuningStore theirs(folder / "theirs");
    const std::int64_t sweep = fill(theirs);
    theirs.finish_sweep(sweep);
    const auto merged = ours.merge(folder / "theirs");
    REQUIRE(merged.sweeps == 1);
    REQUIRE(merged.winners == 1);
    REQUIRE(merged.conflicts == 0);
    const SweepRow row = *ours.find_sweep(kSweepKey);
    REQUIRE(row.finished != 0);
    REQUIRE(problem_lines(ours.read_sweep(row.id)) == problem_lines(theirs.read_sweep(sweep)));
    const auto again = ours.merge(theirs.path());  // the file itself this time
    REQUIRE(again.sweeps == 0);
    REQUIRE(again.winners == 0);
    REQUIRE(again.conflicts == 0);
    REQUIRE(problem_lines(ours.read_sweep(row.id)) == problem_lines(theirs.read_sweep(sweep)));
}

TEST_CASE("what a sweep learnt since the last merge is taken over by the next") {
    const TemporaryFolder folder;
    TuningStore ours(folder / "ours");
    TuningStore theirs(folder / "theirs");
    const std::int64_t sweep = fill(theirs);
    static_cast<void>(ours.merge(folder / "theirs"));
    theirs.add(sweep, kTunedSpec, {{"one", sample_of(2, 7)}});
    theirs.add(sweep, kOtherSpec, {{"four", SameCode{"one"}}});
    theirs.add(sweep, kOtherSpec, {{"five", PredictedCompile{3, {}}}});
    theirs.finish_sweep(sweep);
    REQUIRE(ours.merge(folder / "theirs").sweeps == 0);
    const SweepRow row = *ours.find_sweep(kSweepKey);
    REQUIRE(row.finished != 0);
    REQUIRE(problem_lines(ours.read_sweep(row.id)) == problem_lines(theirs.read_sweep(sweep)));
}

TEST_CASE("of two winners the faster complete one is kept, whoever is merged into whom") {
    const TemporaryFolder folder;
    TuningStore ours(folder / "ours");
    TuningStore theirs(folder / "theirs");
    Winner incomplete = winner_for(kOtherSpec, 0, 1);
    incomplete.complete = false;
    REQUIRE(ours.add_winners({winner_for(kTunedSpec, 1, 9), winner_for(kOtherSpec, 0, 8)}) == 2);
    REQUIRE(theirs.add_winners({winner_for(kTunedSpec, 2, 7), incomplete}) == 2);
    const auto merged = ours.merge(folder / "theirs");
    REQUIRE(merged.conflicts == 2);
    REQUIRE(merged.winners == 1);
    REQUIRE(ours.winners().size() == 2);
    REQUIRE(theirs.merge(folder / "ours").winners == 1);
    REQUIRE(lines(ours.winners()) == lines(theirs.winners()));
    REQUIRE(lines(ours.winners()).find(winner_for(kTunedSpec, 2).kernel) != std::string::npos);
    REQUIRE(ours.merge(folder / "theirs").conflicts == 0);
}

TEST_CASE("what cannot be merged is refused and changes nothing") {
    const TemporaryFolder folder;
    TuningStore store(folder / "store");
    static_cast<void>(fill(store));
    const std::string before = lines(store.winners());
    SECTION("a store that is not there") {
        REQUIRE_THROWS_WITH(store.merge(folder / "nowhere"), ContainsSubstring("no tuning store at"));
        REQUIRE_FALSE(std::filesystem::exists(folder / "nowhere"));
    }
    SECTION("itself") { REQUIRE_THROWS_WITH(store.merge(store.path()), ContainsSubstring("into itself")); }
    SECTION("garbage") {
        put_text(folder / "garbage.sqlite", std::string(9000, 'x'));
        REQUIRE_THROWS_AS(store.merge(folder / "garbage.sqlite"), TuningStoreError);
        REQUIRE(text_in(folder / "garbage.sqlite") == std::string(9000, 'x'));
    }
    REQUIRE(lines(store.winners()) == before);
    store.add(store.begin_sweep(kSweepKey), kTunedSpec, {{"one", sample_of(0, 1)}});  // no lock stays behind
}

// ---- where it lies --------------------------------------------------------------------------------------------------

TEST_CASE("network file systems are told by their number") {
    // As stat -f --format=%t prints them.
    for (const std::uint64_t network : {0x6969ULL, 0xff534d42ULL, 0xfe534d42ULL, 0xbd00bd0ULL, 0x47504653ULL,
                                        0x65735546ULL, 0xc36400ULL, 0x1021997ULL})
        REQUIRE(is_network_file_system(network));
    for (const std::uint64_t local : {0xef53ULL, 0x58465342ULL, 0x9123683eULL, 0x1021994ULL, 0x794c7630ULL})
        REQUIRE_FALSE(is_network_file_system(local));  // ext4, XFS, btrfs, tmpfs, overlayfs
    REQUIRE(store_location("/d", 0xef53, "node1").path == "/d/tuning.sqlite");
    REQUIRE(store_location("/d", 0xef53, "node1").journal == Journal::wal);
    REQUIRE(store_location("/d", 0x6969, "node1.a/b").path == "/d/tuning-node1.a_b.sqlite");
    REQUIRE(store_location("/d", 0x6969, "node1").journal == Journal::rollback);
}

TEST_CASE("hosts that share a folder write a file each and read all winners") {
    const TemporaryFolder folder;
    const auto on_host = [&](const char* host) {
        return TuningStore(folder.path(), {.location = store_location(folder.path(), 0x6969, host)});
    };
    TuningStore one = on_host("one");
    TuningStore two = on_host("two");
    Winner faster = winner_for(kTunedSpec, 1, 5);
    REQUIRE(one.add_winners({winner_for(kTunedSpec, 0, 6)}) == 1);
    REQUIRE(two.add_winners({faster, winner_for(kOtherSpec)}) == 2);
    REQUIRE_FALSE(std::filesystem::exists(one.path() + "-wal"));
    REQUIRE(one.path() != two.path());
    REQUIRE(lines(one.winners()) == lines(two.winners()));
    REQUIRE(one.winners().size() == 2);
    REQUIRE(lines(one.winners()).find(faster.kernel) != std::string::npos);
    REQUIRE(stored_winners(folder.path()).winners.size() == 2);
    REQUIRE(one.forget("", kTunedSpec) == 1);
    REQUIRE(two.winners().size() == 1);
}

TEST_CASE("a stale winner of another host hides no valid one") {
    const TemporaryFolder folder;
    TuningStore one(folder.path(), {.location = store_location(folder.path(), 0x6969, "one")});
    TuningStore two(folder.path(), {.location = store_location(folder.path(), 0x6969, "two")});
    Winner stale = winner_for(kTunedSpec, 1, 5);
    stale.versions.templates = "of long ago";
    REQUIRE(one.add_winners({winner_for(kTunedSpec, 0, 6)}) == 1);
    REQUIRE(two.add_winners({stale}) == 1);
    REQUIRE(lines(one.winners()).find(lines({winner_for(kTunedSpec, 0, 6)})) != std::string::npos);
    REQUIRE(one.winners().size() == 2);
}

TEST_CASE("reading makes nothing") {
    const TemporaryFolder folder;
    REQUIRE(stored_winners(folder / "nowhere").winners.empty());
    REQUIRE(stored_winners(folder / "nowhere").problems.empty());
    REQUIRE_FALSE(std::filesystem::exists(folder / "nowhere"));
    TuningStore(folder / "store").add_winners({winner_for(kTunedSpec)});
    REQUIRE(stored_winners(folder / "store").winners.size() == 1);
    const auto files = std::distance(std::filesystem::directory_iterator(folder / "store"), {});
    REQUIRE(files == 1);  // no journal stays
}

TEST_CASE("a store in a folder that cannot be written can be read") {
    const TemporaryFolder folder;
    static_cast<void>(TuningStore(folder / "store").add_winners({winner_for(kTunedSpec)}));
    ::chmod((folder / "store/tuning.sqlite").c_str(), 0400);
    ::chmod((folder / "store").c_str(), 0500);
    const StoredWinners stored = stored_winners(folder / "store");
    ::chmod((folder / "store").c_str(), 0700);
    REQUIRE(stored.problems.empty());
    REQUIRE(stored.winners.size() == 1);
}

TEST_CASE("a folder that cannot be made is named") {
    const TemporaryFolder folder;
    put_text(folder / "file", "x");
    REQUIRE_THROWS_WITH(TuningStore(folder / "file/store"), ContainsSubstring(folder / "file"));
    REQUIRE_THROWS_AS(TuningStore(folder / "file"), TuningStoreError);
    REQUIRE_THROWS_WITH(TuningStore(""), ContainsSubstring("JITGEMM_TUNING_DIR"));
}
