#pragma once

#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// \file The tables of sweeps: their statements, each within the caller's transaction.

namespace jitgemm::tuning {

[[nodiscard]] std::optional<SweepRow> find_sweep(sqlite::Database& database, const SweepKey& key);
[[nodiscard]] std::int64_t insert_sweep(sqlite::Database& database, const SweepKey& key, std::int64_t now);

/// The row of a problem, made when there is none yet.
[[nodiscard]] std::int64_t problem_row(sqlite::Database& database, std::int64_t sweep, const GemmSpec& spec);

/// Makes the trial's row when there is none yet. Throws Error for a sample of a round that the trial has already.
void put_entry(sqlite::Database& database, std::int64_t problem, const TrialEntry& entry);
void put_sweep_winner(sqlite::Database& database, std::int64_t problem, const Winner& winner);

[[nodiscard]] std::vector<ProblemRecord> read_problems(sqlite::Database& database, std::int64_t sweep);

}  // namespace jitgemm::tuning
