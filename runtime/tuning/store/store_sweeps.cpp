#include "runtime/tuning/store/store_tables.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/sql_fields.hpp"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>

namespace jitgemm::tuning {
namespace {

using sqlite::Database;
using sqlite::Statement;

/// "INSERT OR REPLACE INTO compiles (trial, ...) VALUES (?, ...)".
template <typename Record>
std::string insertion(std::string_view how, std::string_view table, std::string_view key) {
    return fmt::format("INSERT OR {} INTO {} ({}, {}) VALUES (?, {})", how, table, key, column_list<Record>(),
                       placeholders<Record>());
}

template <typename Record>
void put_outcome(Database& database, std::string_view table, std::string_view key, std::int64_t row,
                 const Record& record) {
    Statement insert = database.prepare(insertion<Record>("REPLACE", table, key));
    insert.bind(row);
    bind_value(insert, record);
    insert.run();
}

std::int64_t found_row(Statement row) { return row.step() ? row.integer(0) : 0; }

/// Made when there is none yet.
std::int64_t trial_row(Database& database, std::int64_t problem, const std::string& kernel) {
    const std::int64_t known = found_row(
        std::move(database.prepare("SELECT id FROM trials WHERE problem = ? AND kernel = ?").bind(problem, kernel)));
    if (known != 0) return known;
    database.prepare("INSERT INTO trials (problem, kernel) VALUES (?, ?)").bind(problem, kernel).run();
    return database.last_row();
}

/// Writes what a sweep learnt of a trial.
struct TrialWriter {
    Database& database;
    const std::string& kernel;
    std::int64_t trial;

    void operator()(const PredictedCompile& compile) const {
        database.prepare("UPDATE trials SET predicted_us = ? WHERE id = ?").bind(compile.predicted_us, trial).run();
        put_outcome(database, "compiles", "trial", trial, compile.outcome);
    }

    void operator()(const SameCode& twin) const {
        database.prepare("UPDATE trials SET same_as = ? WHERE id = ?").bind(twin.same_as, trial).run();
    }

    void operator()(const VerifyOutcome& outcome) const {
        put_outcome(database, "verifications", "trial", trial, outcome);
    }

    void operator()(const Sample& sample) const {
        const std::int64_t before = database.total_changes();
        Statement insert = database.prepare(insertion<Sample>("IGNORE", "samples", "trial"));
        insert.bind(trial);
        bind_value(insert, sample);
        insert.run();
        if (database.total_changes() == before)
            throw Error(fmt::format("{} already has a measurement of round {}", kernel, sample.round));
    }

    void operator()(const SampleEnd& end) const {
        if (!end.counts) {
            database.prepare("DELETE FROM samples WHERE trial = ? AND round = ?").bind(trial, end.round).run();
            return;
        }
        Statement update =
            database.prepare(fmt::format("UPDATE samples SET ({}, reference_us, reference_sustained_us) = ({}, ?, ?) "
                                         "WHERE trial = ? AND round = ?",
                                         column_list<DeviceReading>("after_"), placeholders<DeviceReading>()));
        bind_value(update, end.after);
        update.bind(end.reference_us, end.reference_sustained_us, trial, end.round).run();
    }
};

/// Where a trial's rows go while a sweep is read.
struct TrialPlace {
    std::size_t problem;
    std::size_t trial;
};
using TrialPlaces = std::unordered_map<std::int64_t, TrialPlace>;

/// The place of a problem that this version cannot read.
constexpr std::size_t kPassedOver = std::numeric_limits<std::size_t>::max();

/// Adds the problem of that text; gives its place, or kPassedOver with a line in the log.
std::size_t add_problem(Database& database, const std::string& text, std::vector<ProblemRecord>& problems) {
    try {
        problems.push_back({parse_gemm_spec(text), {}, {}});
        return problems.size() - 1;
    } catch (const SpecError& error) {
        log().warn("tuning store {}: a problem is skipped: {}", database.path(), error.what());
        return kPassedOver;
    }
}

TrialPlaces read_trials(Database& database, std::int64_t sweep, std::vector<ProblemRecord>& problems) {
    TrialPlaces places;
    std::unordered_map<std::int64_t, std::size_t> problem_places;
    Statement rows = database.prepare(
        "SELECT p.id, p.spec, t.id, t.kernel, t.predicted_us, t.same_as FROM problems p LEFT JOIN trials t "
        "ON t.problem = p.id WHERE p.sweep = ? ORDER BY p.id, t.id");
    rows.bind(sweep);
    while (rows.step()) {
        const auto [place, is_new] = problem_places.try_emplace(rows.integer(0));
        if (is_new) place->second = add_problem(database, rows.text(1), problems);
        if (rows.is_null(2)) continue;
        if (place->second == kPassedOver) {
            places[rows.integer(2)] = {kPassedOver, 0};
            continue;
        }
        std::vector<Trial>& trials = problems[place->second].trials;
        places[rows.integer(2)] = {place->second, trials.size()};
        trials.push_back({rows.text(3), rows.real(4), {}, {}, rows.text(5), {}});
    }
    return places;
}

/// Calls `take(trial, record)` for each row of a table whose first column is the trial.
template <typename Record, typename Take>
void read_of_trials(Database& database, std::string_view table, std::int64_t sweep, const TrialPlaces& places,
                    std::vector<ProblemRecord>& problems, Take take) {
    Statement rows = database.prepare(
        fmt::format("SELECT trial, {} FROM {} WHERE trial IN (SELECT t.id FROM trials t JOIN problems p "
                    "ON p.id = t.problem WHERE p.sweep = ?) ORDER BY 1, 2",
                    column_list<Record>(), table));
    rows.bind(sweep);
    while (rows.step()) {
        const auto place = places.find(rows.integer(0));
        if (place == places.end())  // the index says otherwise than the table
            throw TuningStoreError(
                fmt::format("tuning store {} is damaged: its {} belong to no trial", database.path(), table));
        if (place->second.problem == kPassedOver) continue;
        take(problems[place->second.problem].trials[place->second.trial], read_record<Record>(rows, 1));
    }
}

void read_sweep_winners(Database& database, std::int64_t sweep, std::vector<ProblemRecord>& problems) {
    Statement row = database.prepare(fmt::format(
        "SELECT {} FROM sweep_winners WHERE problem = (SELECT id FROM problems WHERE sweep = ? AND spec = ?)",
        column_list<Winner>()));
    for (ProblemRecord& problem : problems) {
        row.bind(sweep, to_string(problem.spec));
        if (row.step()) problem.winner = read_record<Winner>(row);
        row.reset();
    }
}

}  // namespace

std::optional<SweepRow> find_sweep(Database& database, const SweepKey& key) {
    Statement row = database.prepare(
        "SELECT id, started, finished FROM sweeps WHERE device_class = ? AND request = ? AND library = ? AND "
        "templates = ? AND nvrtc = ? AND driver = ? ORDER BY id DESC LIMIT 1");
    row.bind(key.device_class, key.request);
    bind_value(row, key.versions);
    if (!row.step()) return std::nullopt;
    return SweepRow{row.integer(0), key, row.integer(1), row.integer(2)};
}

std::int64_t insert_sweep(Database& database, const SweepKey& key, std::int64_t now) {
    Statement insert = database.prepare(
        fmt::format("INSERT INTO sweeps (identity, started, device_class, request, {}) VALUES (?, ?, ?, ?, {})",
                    column_list<Versions>(), placeholders<Versions>()));
    insert.bind(unique_suffix() + unique_suffix(), now, key.device_class, key.request);
    bind_value(insert, key.versions);
    insert.run();
    return database.last_row();
}

std::int64_t problem_row(Database& database, std::int64_t sweep, const GemmSpec& spec) {
    const std::string text = to_string(resolved(spec));
    const std::int64_t known = found_row(
        std::move(database.prepare("SELECT id FROM problems WHERE sweep = ? AND spec = ?").bind(sweep, text)));
    if (known != 0) return known;
    database.prepare("INSERT INTO problems (sweep, spec) VALUES (?, ?)").bind(sweep, text).run();
    return database.last_row();
}

void put_entry(Database& database, std::int64_t problem, const TrialEntry& entry) {
    const TrialWriter writer{database, entry.kernel, trial_row(database, problem, entry.kernel)};
    std::visit(writer, entry.what);
}

void put_sweep_winner(Database& database, std::int64_t problem, const Winner& winner) {
    put_outcome(database, "sweep_winners", "problem", problem, winner);
}

std::vector<ProblemRecord> read_problems(Database& database, std::int64_t sweep) {
    std::vector<ProblemRecord> problems;
    const TrialPlaces places = read_trials(database, sweep, problems);
    read_of_trials<CompileOutcome>(database, "compiles", sweep, places, problems,
                                   [](Trial& trial, CompileOutcome outcome) { trial.compile = std::move(outcome); });
    read_of_trials<VerifyOutcome>(database, "verifications", sweep, places, problems,
                                  [](Trial& trial, VerifyOutcome outcome) { trial.verified = std::move(outcome); });
    read_of_trials<Sample>(database, "samples", sweep, places, problems,
                           [](Trial& trial, const Sample& sample) { trial.samples.push_back(sample); });
    read_sweep_winners(database, sweep, problems);
    return problems;
}

}  // namespace jitgemm::tuning
