#include "runtime/tuning/store/store_tables.hpp"

#include "runtime/tuning/store/sql_fields.hpp"
#include "runtime/tuning/store/store_file.hpp"
#include "runtime/tuning/store/store_schema.hpp"
#include "runtime/tuning/store/winner_map.hpp"

#include <fmt/format.h>

namespace jitgemm::tuning {
namespace {

using sqlite::Database;

// A sweep is the same in both stores when its identity is; what a copy learnt since the last merge is taken too.
constexpr std::string_view kSweepPairs = R"sql(
WITH sweep_pairs (theirs, ours) AS (
    SELECT t.id, o.id FROM other.sweeps t JOIN main.sweeps o ON o.identity = t.identity
), problem_pairs (theirs, ours) AS (
    SELECT t.id, o.id FROM sweep_pairs s JOIN other.problems t ON t.sweep = s.theirs
    JOIN main.problems o ON o.sweep = s.ours AND o.spec = t.spec
), trial_pairs (theirs, ours) AS (
    SELECT t.id, o.id FROM problem_pairs p JOIN other.trials t ON t.problem = p.theirs
    JOIN main.trials o ON o.problem = p.ours AND o.kernel = t.kernel
)
)sql";

constexpr std::string_view kFinished = R"sql(
UPDATE main.sweeps SET finished = (SELECT finished FROM other.sweeps t WHERE t.identity = sweeps.identity)
WHERE finished = 0 AND identity IN (SELECT identity FROM other.sweeps WHERE finished <> 0)
)sql";

constexpr std::string_view kProblems = R"sql(
INSERT OR IGNORE INTO main.problems (sweep, spec)
SELECT ours, spec FROM other.problems JOIN sweep_pairs ON theirs = sweep ORDER BY problems.id
)sql";

constexpr std::string_view kTrials = R"sql(
INSERT INTO main.trials (problem, kernel, predicted_us, same_as)
SELECT ours, kernel, predicted_us, same_as FROM other.trials JOIN problem_pairs ON theirs = problem WHERE true
ORDER BY trials.id
ON CONFLICT (problem, kernel) DO UPDATE SET predicted_us = excluded.predicted_us, same_as = excluded.same_as
WHERE predicted_us = 0 OR (same_as = '' AND excluded.same_as <> '')
)sql";

// Measured winners stay: a later winner of a sweep replaces an earlier one only if it is complete and that one isn't.
constexpr std::string_view kSweepWinners = R"sql(
INSERT OR REPLACE INTO main.sweep_winners (problem, {columns})
SELECT ours, {values} FROM other.sweep_winners t JOIN problem_pairs ON theirs = problem
WHERE NOT EXISTS (SELECT 1 FROM main.sweep_winners o WHERE o.problem = ours AND o.complete >= t.complete)
)sql";

int changes_by(Database& database, const std::string& sql) {
    const std::int64_t before = database.total_changes();
    database.execute(sql);
    return static_cast<int>(database.total_changes() - before);
}

int merge_sweep_rows(Database& database) {
    return changes_by(database,
                      fmt::format("INSERT OR IGNORE INTO main.sweeps (identity, device_class, request, "
                                  "started, finished, {}) SELECT identity, device_class, request, started, "
                                  "finished, {} FROM other.sweeps ORDER BY id",
                                  column_list<Versions>(), stored_columns<Versions>(database, "other", "sweeps")));
}

template <typename Record>
void merge_of_trials(Database& database, std::string_view table) {
    database.execute(fmt::format(
        "{} INSERT OR IGNORE INTO main.{} (trial, {}) SELECT ours, {} FROM other.{} "
        "JOIN trial_pairs ON theirs = trial",
        kSweepPairs, table, column_list<Record>(), stored_columns<Record>(database, "other", table), table));
}

int merge_sweeps(Database& database) {
    const int taken = merge_sweep_rows(database);
    database.execute(std::string(kFinished));
    database.execute(fmt::format("{}{}", kSweepPairs, kProblems));
    database.execute(fmt::format("{}{}", kSweepPairs, kTrials));
    merge_of_trials<CompileOutcome>(database, "compiles");
    merge_of_trials<VerifyOutcome>(database, "verifications");
    merge_of_trials<Sample>(database, "samples");
    database.execute(std::string(kSweepPairs) +
                     fmt::format(kSweepWinners, fmt::arg("columns", column_list<Winner>()),
                                 fmt::arg("values", stored_columns<Winner>(database, "other", "sweep_winners"))));
    return taken;
}

void merge_winner(Database& database, const Winner& theirs, TuningStore::MergeResult& result) {
    const std::optional<Winner> ours = find_winner(database, theirs);
    if (ours && json_line(*ours) == json_line(theirs)) return;
    if (ours) ++result.conflicts;
    if (ours && !is_better(theirs, *ours)) return;
    put_winner(database, theirs);
    ++result.winners;
}

TuningStore::MergeResult merge_tables(Database& database, const std::string& other) {
    const sqlite::Attachment attachment(database, other, "other");
    if (is_unmade(database, "other")) return {};
    if (const std::string flaw = store_flaw(database, other, "other"); !flaw.empty()) throw TuningStoreError(flaw);
    sqlite::Transaction transaction(database);
    TuningStore::MergeResult result;
    result.sweeps = merge_sweeps(database);
    for (const Winner& theirs : read_winners(database, {}, "other")) merge_winner(database, theirs, result);
    transaction.commit();
    return result;
}

}  // namespace

TuningStore::MergeResult merge_store_file(Database& database, const std::string& other) {
    try {
        return merge_tables(database, other);
    } catch (const sqlite::SqliteError& error) {  // which of the two files it is about, SQLite does not say
        throw sqlite::SqliteError(fmt::format("merging {}: {}", other, error.what()), error.code());
    }
}

}  // namespace jitgemm::tuning
