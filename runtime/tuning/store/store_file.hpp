#pragma once

#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/store/store_location.hpp"

#include <chrono>
#include <string>

namespace jitgemm::tuning {

/// Version of the tables, kept in PRAGMA user_version.
inline constexpr int kStoreSchema = 3;

/// Opens a store for writing; it is made with its tables if it does not exist. A damaged one, or a file that is no
/// store, is renamed to "...damaged-<time>" with a warning, and a new one is begun. Throws TuningStoreError, also for a
/// store with a higher schema, which stays as it is.
[[nodiscard]] sqlite::Database open_store(const StoreLocation& location, std::chrono::milliseconds patience);

/// Runs `work`. SQLite's errors become a store's errors, which outside callers know.
template <typename Work>
auto as_store_errors(Work work) {
    try {
        return work();
    } catch (const sqlite::SqliteError& error) {
        throw TuningStoreError(std::string("tuning store ") + error.what());
    }
}

/// Throws TuningStoreError if a newer version made this database, or has upgraded it meanwhile.
void refuse_newer_store(sqlite::Database& database, const std::string& path);

/// Whether it has no tables yet: an empty file, which a start that was cut short or a full disk leaves.
[[nodiscard]] bool is_unmade(sqlite::Database& database, const std::string& schema = "main");
/// Why this version cannot read the tables of an open database ("main", or an attached one); empty if it can. `path` is
/// its name in the answer. Throws SqliteError, also for damage.
[[nodiscard]] std::string schema_flaw(sqlite::Database& database, const std::string& path,
                                      const std::string& schema = "main");
/// The same, and any damage that SQLite's quick_check finds. It reads the whole file.
[[nodiscard]] std::string store_flaw(sqlite::Database& database, const std::string& path,
                                     const std::string& schema = "main");

}  // namespace jitgemm::tuning
