// A tuning store survives faults of disks, other processes and power.

#include "runtime/tuning/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tuning_records.hpp"
#include "tests/support/without_locks.hpp"

#include <sqlite3.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

/// SQLite itself, to do to a file what the store would not.
class RawDatabase {
public:
    explicit RawDatabase(const std::string& path) {
        sqlite3* database = nullptr;
        REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
        database_.reset(database);
    }
    void execute(const std::string& sql) {
        REQUIRE(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    }

private:
    struct Closer {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    std::unique_ptr<sqlite3, Closer> database_;
};

/// A child process that does the work and ends with its answer.
pid_t start(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
        ::_exit(work());
    } catch (const std::exception&) {
        ::_exit(99);
    }
}

int answer_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void add_round(TuningStore& store, std::int64_t sweep, const std::string& kernel, int round) {
    store.add(sweep, kTunedSpec, {{kernel, Sample{round, 10.0 + round, {}, {}}}});
}

std::size_t samples_in(const TuningStore& store, std::int64_t sweep) {
    std::size_t count = 0;
    for (const ProblemRecord& problem : store.read_sweep(sweep))
        for (const Trial& trial : problem.trials) count += trial.samples.size();
    return count;
}

/// A store that fills several pages.
void fill(const std::string& directory) {
    TuningStore store(directory);
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    for (int kernel = 0; kernel < 40; ++kernel) add_round(store, sweep, "kernel_" + std::to_string(kernel), 0);
    REQUIRE(store.add_winners({winner_for(kTunedSpec)}) == 1);
}

std::vector<std::string> set_aside(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("tuning.sqlite.damaged-")) names.push_back(entry.path().string());
    }
    return names;
}

}  // namespace

// ---- damage ---------------------------------------------------------------------------------------------------------

TEST_CASE("a damaged store is set aside with a warning, and a new one begun") {
    const TemporaryFolder folder;
    const std::string file = folder / "tuning.sqlite";
    fill(folder.path());
    std::string bytes = text_in(file);
    REQUIRE(bytes.size() > 3 * 4096);
    SECTION("garbage") { bytes = std::string(9000, 'x'); }
    SECTION("truncated") { bytes.resize(bytes.size() / 2); }
    SECTION("bytes flipped in the middle") {
        for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 4096; ++i)
            bytes[i] = static_cast<char>(~bytes[i]);
    }
    SECTION("bytes flipped in its header") {
        for (std::size_t i = 0; i < 16; ++i) bytes[i] = static_cast<char>(~bytes[i]);
    }
    put_text(file, bytes);
    CHECK(stored_winners(folder.path()).winners.size() <= 1);  // a reader takes it as it is, or says so
    REQUIRE(set_aside(folder.path()).empty());

    const CapturedLog captured;
    TuningStore store(folder.path());
    REQUIRE(captured.lines_with("renamed to " + file + ".damaged-") == 1);
    REQUIRE(set_aside(folder.path()).size() == 1);
    REQUIRE(text_in(set_aside(folder.path()).front()) == bytes);
    REQUIRE(store.winners().empty());
    REQUIRE(store.add_winners({winner_for(kTunedSpec)}) == 1);
    REQUIRE(TuningStore(folder.path()).winners().size() == 1);
    REQUIRE(captured.lines_with("renamed to") == 1);
}

TEST_CASE("a newer version's store is never moved nor written to: writers end with the sentence that readers say") {
    const TemporaryFolder folder;
    fill(folder.path());
    RawDatabase(folder / "tuning.sqlite").execute("PRAGMA user_version = 4");
    const StoredWinners stored = stored_winners(folder.path());
    REQUIRE(stored.winners.empty());
    REQUIRE(stored.problems.size() == 1);
    REQUIRE_THAT(stored.problems[0], Says("schema", "4", "3"));
    REQUIRE(set_aside(folder.path()).empty());
    const std::string bytes = text_in(folder / "tuning.sqlite");
    const CapturedLog captured;
    REQUIRE_THROWS_AS(TuningStore(folder.path()), TuningStoreError);
    REQUIRE_THROWS_WITH(TuningStore(folder.path()), Says("schema", "4", "3"));
    REQUIRE(captured.text().empty());
    REQUIRE(set_aside(folder.path()).empty());
    REQUIRE(text_in(folder / "tuning.sqlite") == bytes);
    TuningStore other(folder / "other");
    REQUIRE_THROWS_WITH(other.merge(folder.path()), ContainsSubstring("has schema 4"));
}

TEST_CASE("a store that a newer version brings up to date while it is open is written to no more") {
    const TemporaryFolder folder;
    TuningStore store(folder.path());
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    add_round(store, sweep, "kernel", 0);
    RawDatabase(folder / "tuning.sqlite").execute("PRAGMA user_version = 4");
    REQUIRE_THROWS_WITH(add_round(store, sweep, "kernel", 1), ContainsSubstring("has schema 4"));
    REQUIRE_THROWS_AS(store.add_winners({winner_for(kTunedSpec)}), TuningStoreError);
    REQUIRE_THROWS_AS(store.forget({}, {}), TuningStoreError);
    RawDatabase(folder / "tuning.sqlite").execute("PRAGMA user_version = 3");
    REQUIRE(samples_in(store, sweep) == 1);
}

TEST_CASE("a damaged store is replaced where there are no locks, too") {
    const TemporaryFolder folder;
    put_text(folder / "tuning.sqlite", std::string(9000, 'x'));
    const WithoutLocks none(ENOLCK);
    REQUIRE(TuningStore(folder.path()).winners().empty());
    REQUIRE(set_aside(folder.path()).size() == 1);
    REQUIRE_FALSE(std::filesystem::exists(folder / "tuning.sqlite.lock"));
}

/// As the first schema had it: no word of how a winner was searched, and one winner per problem.
void lower_to_first_schema(const std::string& file) {
    RawDatabase(file).execute(R"sql(
        CREATE TABLE before AS SELECT device_class, spec, kernel, median_us, low_us, high_us, heuristic_kernel,
            heuristic_us, cublaslt_us, protocol, complete, candidates_timed, versions_library, versions_templates,
            versions_nvrtc, versions_driver, device_name, unix_time FROM winners;
        DROP TABLE winners;
        ALTER TABLE before RENAME TO winners;
        CREATE UNIQUE INDEX one_per_problem ON winners (device_class, spec);
        ALTER TABLE sweep_winners DROP COLUMN hot;
        ALTER TABLE sweep_winners DROP COLUMN narrowed;
        ALTER TABLE samples DROP COLUMN reference_us;
        ALTER TABLE samples DROP COLUMN sustained_us;
        ALTER TABLE samples DROP COLUMN reference_sustained_us;
        PRAGMA user_version = 1)sql");
}

TEST_CASE(
    "a store of a lower schema is read, merged and brought up to date. How its winners were searched is not known") {
    const TemporaryFolder folder;
    fill(folder.path());
    Winner expected = winner_for(kTunedSpec);
    {
        TuningStore store(folder.path());
        store.set_winner(store.begin_sweep(kSweepKey), expected);
    }
    lower_to_first_schema(folder / "tuning.sqlite");
    expected.narrowed = kNarrowedUnknown;
    REQUIRE(lines(stored_winners(folder.path()).winners) == lines({expected}));
    TuningStore other(folder / "other");
    REQUIRE(other.merge(folder.path()).winners == 1);
    REQUIRE(lines(other.winners()) == lines({expected}));
    REQUIRE(samples_in(other, 1) == 40);
    REQUIRE(lines({*other.read_sweep(2).at(0).winner}) == lines({expected}));

    const CapturedLog captured;
    TuningStore store(folder.path());
    REQUIRE(captured.text().empty());
    REQUIRE(lines(store.winners()) == lines({expected}));
    REQUIRE(samples_in(store, 1) == 40);
    REQUIRE(store.add_winners({winner_for(kTunedSpec)}) == 1);
    REQUIRE(store.winners().size() == 2);  // the old one stands beside the new one
    add_round(store, 1, "kernel_0", 1);
    REQUIRE(TuningStore(folder.path()).winners().size() == 2);
}

TEST_CASE("a store of the second schema, whose samples know of no sustained times, goes on") {
    const TemporaryFolder folder;
    fill(folder.path());
    RawDatabase(folder / "tuning.sqlite").execute(R"sql(
        ALTER TABLE samples DROP COLUMN sustained_us;
        ALTER TABLE samples DROP COLUMN reference_sustained_us;
        PRAGMA user_version = 2)sql");
    TuningStore store(folder.path());
    REQUIRE(samples_in(store, 1) == 40);
    const std::vector<ProblemRecord> problems = store.read_sweep(1);
    for (const Trial& trial : problems.at(0).trials)
        for (const Sample& sample : trial.samples) CHECK((sample.us > 0 && sample.sustained_us == 0));
    Sample both{.round = 1, .us = 11, .before = {}, .after = {}};
    both.sustained_us = 12;
    store.add(1, kTunedSpec, {{"kernel_0", both}, {"kernel_0", SampleEnd{1, {}, true, 13, 14}}});
    const Sample kept = store.read_sweep(1).at(0).trials.at(0).samples.back();
    CHECK(kept.sustained_us == 12);
    CHECK(kept.reference_us == 13);
    CHECK(kept.reference_sustained_us == 14);
}

TEST_CASE("another program's database is set aside, not written into") {
    const TemporaryFolder folder;
    RawDatabase(folder / "tuning.sqlite").execute("CREATE TABLE songs (title TEXT)");
    const CapturedLog captured;
    REQUIRE(TuningStore(folder.path()).add_winners({winner_for(kTunedSpec)}) == 1);
    REQUIRE(captured.lines_with("is a database of something else") == 1);
    RawDatabase(set_aside(folder.path()).at(0)).execute("INSERT INTO songs VALUES ('still here')");
}

TEST_CASE("a store in which nobody has made tables yet has no winners, and is none of something else") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "theirs");
    put_text(folder / "theirs/tuning.sqlite", "");
    const StoredWinners stored = stored_winners(folder / "theirs");
    CHECK(stored.winners.empty());
    CHECK(stored.problems.empty());
    TuningStore ours(folder / "ours");
    CHECK(ours.merge(folder / "theirs").winners == 0);
    const CapturedLog captured;
    CHECK(TuningStore(folder / "theirs").add_winners({winner_for(kTunedSpec)}) == 1);
    CHECK(captured.text().empty());
    CHECK(stored_winners(folder / "theirs").winners.size() == 1);
}

TEST_CASE("a damaged store is not merged") {
    const TemporaryFolder folder;
    fill(folder / "theirs");
    std::string bytes = text_in(folder / "theirs/tuning.sqlite");
    bytes.resize(bytes.size() / 2);
    put_text(folder / "theirs/tuning.sqlite", bytes);
    TuningStore ours(folder / "ours");
    REQUIRE_THROWS_WITH(ours.merge(folder / "theirs"), ContainsSubstring("theirs/tuning.sqlite"));
    REQUIRE(ours.winners().empty());
    REQUIRE_FALSE(ours.find_sweep(kSweepKey).has_value());
}

TEST_CASE("a winner this version cannot read is passed over, the others kept") {
    const TemporaryFolder folder;
    const GemmSpec other = resolved({.m = 64, .n = 64, .k = 64});
    REQUIRE(TuningStore(folder.path()).add_winners({winner_for(kTunedSpec), winner_for(other)}) == 2);
    RawDatabase(folder / "tuning.sqlite").execute("UPDATE winners SET protocol = 'lukewarm' WHERE spec LIKE '%m=64 %'");
    const CapturedLog captured;
    REQUIRE(stored_winners(folder.path()).winners.size() == 1);
    REQUIRE(captured.lines_with("unknown protocol 'lukewarm'") == 1);
}

TEST_CASE(
    "records of earlier versions are found by the text of their problem, and problems that none serves passed over") {
    const TemporaryFolder folder;
    {
        TuningStore store(folder.path());
        const std::int64_t sweep = store.begin_sweep(kSweepKey);
        store.add(sweep, kOtherSpec, {{"kernel", VerifyOutcome{Verdict::fine, "exact"}}});
        store.add(sweep, kTunedSpec, {{"kernel", VerifyOutcome{Verdict::fine, "exact"}}});
        REQUIRE(store.add_winners({winner_for(kTunedSpec)}) == 1);
    }
    RawDatabase database(folder / "tuning.sqlite");
    const std::string of_before =
        "gemm-v1 m=4096 n=512 k=1024 a=bf16 b=bf16 c=none d=bf16 acc=f32 layout=tn d-layout=t lda=1024 ldb=1024 ldc=0 "
        "ldd=512 align-a=16 align-b=16 align-c=0 align-d=16";
    database.execute("UPDATE winners SET spec = '" + of_before + "'");
    database.execute("UPDATE problems SET spec = '" + of_before + "' WHERE spec LIKE '%m=4096 %'");
    database.execute("UPDATE problems SET spec = 'gemm-v2 m=17 n=4096 k=4096 batch=2' WHERE spec LIKE '%m=17 %'");
    const CapturedLog captured;
    TuningStore store(folder.path());
    const std::vector<ProblemRecord> problems = store.read_sweep(1);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].spec == kTunedSpec);
    CHECK(problems[0].trials.at(0).verified.has_value());
    CHECK(captured.lines_with("batch is '2'") == 1);
    REQUIRE(store.winners().size() == 1);
    CHECK(store.winners()[0].spec == kTunedSpec);
    CHECK(store.add_winners({winner_for(kTunedSpec, 0, 9)}) == 1);  // takes the place of the earlier one
    CHECK(store.winners().size() == 1);
}

/// Another user, to whom a folder may be closed: root writes wherever it likes.
void become_somebody_else() {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(98);
}

TEST_CASE("what a writer had not committed when it died is not shown to those who cannot roll it back") {
    const TemporaryFolder folder;
    const std::string file = folder / "tuning.sqlite";
    {
        TuningStore store(folder.path(), {.location = StoreLocation{file, Journal::rollback}});
        REQUIRE(store.add_winners({winner_for(kTunedSpec, 0, 9)}) == 1);
    }
    const pid_t writer = start([&] {
        sqlite3* database = nullptr;  // never closed: the process dies in the middle of its transaction
        const char* const words =
            "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; UPDATE winners SET median_us = 1;"
            "CREATE TABLE filler (bytes); INSERT INTO filler WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
            "FROM n WHERE i < 200) SELECT randomblob(4000) FROM n";
        const bool done = sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
                          sqlite3_exec(database, words, nullptr, nullptr, nullptr) == SQLITE_OK;
        return done ? 0 : 1;
    });
    REQUIRE(answer_of(writer) == 0);
    REQUIRE(std::filesystem::file_size(file + "-journal") > 0);
    for (const std::string& name : {file, file + "-journal"}) ::chmod(name.c_str(), 0444);
    ::chmod(folder.path().c_str(), 0555);
    const pid_t reader = start([&] {
        become_somebody_else();
        const StoredWinners stored = stored_winners(folder.path());
        if (!stored.winners.empty()) return stored.winners[0].median_us == 9 ? 10 : 11;
        return stored.problems.size() == 1 && stored.problems[0].find(file) != std::string::npos ? 0 : 12;
    });
    const int answer = answer_of(reader);
    ::chmod(folder.path().c_str(), 0700);
    for (const std::string& name : {file, file + "-journal"}) ::chmod(name.c_str(), 0600);
    REQUIRE(answer == 0);
    REQUIRE(stored_winners(folder.path()).winners.at(0).median_us == 9);  // whoever can, rolls it back
}

// ---- a full disk, a lock --------------------------------------------------------------------------------------------

TEST_CASE("on a full disk an add throws, and what was stored stays") {
    const TemporaryFolder folder;
    fill(folder.path());
    const std::size_t limit = std::filesystem::file_size(folder / "tuning.sqlite") + 100'000;
    const pid_t child = start([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        TuningStore store(folder.path());
        const std::int64_t sweep = store.begin_sweep(kSweepKey);
        const rlimit smallest{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &smallest);
        for (int round = 0; round < 1000; ++round) {
            try {
                add_round(store, sweep, "kernel", round);
            } catch (const TuningStoreError& error) {
                const bool named = std::string(error.what()).find(folder / "tuning.sqlite") != std::string::npos;
                const bool kept = samples_in(store, sweep) == static_cast<std::size_t>(round);
                return named && kept && round > 0 ? 0 : 2;
            }
        }
        return 1;  // never full
    });
    REQUIRE(answer_of(child) == 0);
    const CapturedLog captured;
    TuningStore store(folder.path());
    REQUIRE(captured.text().empty());
    REQUIRE(store.winners().size() == 1);
    const std::int64_t sweep = store.find_sweep(kSweepKey)->id;
    const auto stored = static_cast<int>(samples_in(store, sweep));
    REQUIRE(stored > 0);
    add_round(store, sweep, "kernel", stored);  // and it goes on where there is room again
}

TEST_CASE("a store that cannot be opened says the system's reason, and which setting names another folder") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "tuning.sqlite");
    REQUIRE_THROWS_WITH(TuningStore(folder.path()),
                        ContainsSubstring("Is a directory") && ContainsSubstring("JITGEMM_TUNING_DIR"));
    const std::vector<std::string> problems = stored_winners(folder.path()).problems;
    REQUIRE(problems.size() == 1);
    REQUIRE_THAT(problems.front(), ContainsSubstring("Is a directory") && ContainsSubstring("JITGEMM_TUNING_DIR"));
}

TEST_CASE("a store in a folder that cannot be written says so, not that there is no file") {
    const TemporaryFolder folder;
    ::chmod(folder.path().c_str(), 0755);
    const std::string sealed = folder / "sealed";
    REQUIRE(::mkdir(sealed.c_str(), 0555) == 0);
    const pid_t child = start([&] {
        constexpr uid_t kNobody = 65534;
        if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 3;  // root may write everywhere
        try {
            TuningStore store(sealed);
        } catch (const TuningStoreError& error) {
            return std::string(error.what()).find("Permission denied") != std::string::npos ? 0 : 2;
        }
        return 1;
    });
    REQUIRE(answer_of(child) == 0);
}

TEST_CASE("a store that is locked for longer than the patience says so") {
    const TemporaryFolder folder;
    fill(folder.path());
    TuningStore store(folder.path(), {.patience = std::chrono::milliseconds(200), .location = {}});
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    RawDatabase other(folder / "tuning.sqlite");
    other.execute("BEGIN IMMEDIATE");
    const auto before = std::chrono::steady_clock::now();
    REQUIRE_THROWS_WITH(add_round(store, sweep, "kernel", 0),
                        ContainsSubstring(folder / "tuning.sqlite") && Says("held", "200"));
    REQUIRE(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(200));
    REQUIRE(store.winners().size() == 1);  // reading does not wait
    REQUIRE(stored_winners(folder.path()).problems.empty());
    other.execute("COMMIT");
    add_round(store, sweep, "kernel", 0);
}

TEST_CASE("a writer waits for another") {
    const TemporaryFolder folder;
    fill(folder.path());
    TuningStore store(folder.path());
    const std::int64_t sweep = store.begin_sweep(kSweepKey);
    RawDatabase other(folder / "tuning.sqlite");
    other.execute("BEGIN IMMEDIATE");
    std::thread holder([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        other.execute("COMMIT");
    });
    add_round(store, sweep, "kernel", 0);
    holder.join();
    REQUIRE(samples_in(store, sweep) == 1);
}

// ---- processes ------------------------------------------------------------------------------------------------------

TEST_CASE("several processes make one store and write it at once") {
    constexpr int kWriters = 4;
    constexpr int kRounds = 50;
    const Journal journal = GENERATE(Journal::wal, Journal::rollback);
    const TemporaryFolder folder;
    const StoreSettings settings{.location = StoreLocation{folder / "tuning.sqlite", journal}};
    std::vector<pid_t> children;
    for (int writer = 0; writer < kWriters; ++writer) {
        children.push_back(start([&] {
            TuningStore store(folder.path(), settings);
            SweepKey key = kSweepKey;
            key.request = "writer " + std::to_string(writer);
            const std::int64_t sweep = store.begin_sweep(key);
            for (int round = 0; round < kRounds; ++round) add_round(store, sweep, "kernel", round);
            return 0;
        }));
    }
    for (const pid_t child : children) CHECK(answer_of(child) == 0);
    const TuningStore store(folder.path(), settings);
    for (int writer = 0; writer < kWriters; ++writer) {
        SweepKey key = kSweepKey;
        key.request = "writer " + std::to_string(writer);
        REQUIRE(samples_in(store, store.find_sweep(key)->id) == kRounds);
    }
    REQUIRE(set_aside(folder.path()).empty());
}

TEST_CASE("a sweep that another process is just making is read as of one moment") {
    const TemporaryFolder folder;
    const TuningStore store(folder.path());
    const pid_t child = start([&] {
        TuningStore written(folder.path());
        const std::int64_t sweep = written.begin_sweep(kSweepKey);
        for (int kernel = 0; kernel < 300; ++kernel) add_round(written, sweep, "kernel_" + std::to_string(kernel), 0);
        return 0;
    });
    std::size_t seen = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (seen < 300 && std::chrono::steady_clock::now() < deadline) {
        const std::size_t samples = samples_in(store, 1);
        REQUIRE(samples >= seen);
        seen = samples;
    }
    REQUIRE(answer_of(child) == 0);
    REQUIRE(seen == 300);
}

TEST_CASE("several processes that find a damaged store set it aside once") {
    const TemporaryFolder folder;
    fill(folder.path());
    put_text(folder / "tuning.sqlite", std::string(9000, 'x'));
    std::vector<pid_t> children;
    for (int writer = 0; writer < 4; ++writer) {
        children.push_back(start([&] {
            const CapturedLog captured("off");
            return TuningStore(folder.path()).begin_sweep(kSweepKey) > 0 ? 0 : 1;
        }));
    }
    for (const pid_t child : children) CHECK(answer_of(child) == 0);
    REQUIRE(set_aside(folder.path()).size() == 1);
    REQUIRE(TuningStore(folder.path()).find_sweep(kSweepKey)->id == 4);  // each wrote into the new one
}

TEST_CASE("what a killed writer was told is stored, is stored") {
    const TemporaryFolder folder;
    static_cast<void>(TuningStore(folder.path()));
    std::minstd_rand random(7);
    for (int run = 0; run < 20; ++run) {
        SweepKey key = kSweepKey;
        key.request = "run " + std::to_string(run);
        int told[2];
        REQUIRE(::pipe(told) == 0);
        const pid_t child = start([&] {
            TuningStore store(folder.path());
            const std::int64_t sweep = store.begin_sweep(key);
            for (int round = 0;; ++round) {
                add_round(store, sweep, "kernel", round);
                if (::write(told[1], "x", 1) != 1) return 1;
            }
        });
        ::close(told[1]);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
        ::kill(child, SIGKILL);
        REQUIRE(answer_of(child) == -SIGKILL);
        std::size_t acknowledged = 0;
        for (char mark = 0; ::read(told[0], &mark, 1) == 1;) ++acknowledged;
        ::close(told[0]);

        const TuningStore store(folder.path());
        const auto sweep = store.find_sweep(key);
        const std::size_t stored = sweep ? samples_in(store, sweep->id) : 0;
        INFO("run " << run << ": " << acknowledged << " told, " << stored << " stored");
        REQUIRE((stored == acknowledged || stored == acknowledged + 1));  // the one in flight may have got there
    }
    REQUIRE(set_aside(folder.path()).empty());
}
