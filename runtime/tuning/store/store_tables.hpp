#pragma once

#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// \file The statements of a store's tables, each within the caller's transaction.

namespace jitgemm::tuning {

// ---- sweeps ---------------------------------------------------------------------------------------------------------

[[nodiscard]] std::optional<SweepRow> find_sweep(sqlite::Database& database, const SweepKey& key);
[[nodiscard]] std::int64_t insert_sweep(sqlite::Database& database, const SweepKey& key, std::int64_t now);

/// The row of a problem. It is made if there is none yet.
[[nodiscard]] std::int64_t problem_row(sqlite::Database& database, std::int64_t sweep, const GemmSpec& spec);

/// Makes the trial's row if there is none yet. Throws Error for a second sample of a round.
void put_entry(sqlite::Database& database, std::int64_t problem, const TrialEntry& entry);
void put_sweep_winner(sqlite::Database& database, std::int64_t problem, const Winner& winner);

[[nodiscard]] std::vector<ProblemRecord> read_problems(sqlite::Database& database, std::int64_t sweep);

// ---- winners: which one stays when two are for one problem ----------------------------------------------------------

/// The rows of one database's table (`schema`: "main", or an attached one's name). An empty class means all. A row that
/// this version cannot read is skipped with a warning.
[[nodiscard]] std::vector<Winner> read_winners(sqlite::Database& database, const std::string& device_class,
                                               const std::string& schema = "main");
/// The winner of this problem that was searched in the same way (WinnerMap).
[[nodiscard]] std::optional<Winner> find_winner(sqlite::Database& database, const Winner& like);
void put_winner(sqlite::Database& database, const Winner& winner);
/// Stores it unless the one that was searched in the same way is better (is_better). Returns whether it did.
bool offer_winner(sqlite::Database& database, Winner winner);
/// The keys of the removed winners.
[[nodiscard]] std::vector<std::string> forget_winners(sqlite::Database& database, const std::string& device_class,
                                                      const std::optional<GemmSpec>& spec);

// ---- another store --------------------------------------------------------------------------------------------------

/// Copies the records that the store in file `other` has and `database` lacks, in one transaction (TuningStore::merge).
[[nodiscard]] TuningStore::MergeResult merge_store_file(sqlite::Database& database, const std::string& other);

}  // namespace jitgemm::tuning
