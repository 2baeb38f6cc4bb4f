#pragma once

#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/store/store_location.hpp"

#include <chrono>
#include <string>

namespace jitgemm::tuning {

/// Version of the tables, kept in PRAGMA user_version.
inline constexpr int kStoreSchema = 3;

/// Opens a store for writing, made with its tables when it is not there. One that is damaged or no store at all is
/// renamed to "...damaged-<time>" with a warning, and a new one begun. Throws TuningStoreError, also for a store of a
/// higher schema, which is left as it is.
[[nodiscard]] sqlite::Database open_store(const StoreLocation& location, std::chrono::milliseconds patience);

/// Runs `work`; what SQLite says becomes a store's error, which callers outside know.
template <typename Work>
auto as_store_errors(Work work) {
    try {
        return work();
    } catch (const sqlite::SqliteError& error) {
        throw TuningStoreError(std::string("tuning store ") + error.what());
    }
}

/// Throws TuningStoreError where a newer version made this database, or has brought it up to date meanwhile.
void refuse_newer_store(sqlite::Database& database, const std::string& path);

/// Whether nobody has made tables in it yet: an empty file, which a start that was cut short or a full disk leaves.
[[nodiscard]] bool is_unmade(sqlite::Database& database, const std::string& schema = "main");
/// Why the tables of an open database ("main", or one attached) are none this version reads; empty when they are.
/// `path` is what the answer calls it. Throws SqliteError, is_damage() among others.
[[nodiscard]] std::string schema_flaw(sqlite::Database& database, const std::string& path,
                                      const std::string& schema = "main");
/// The same, and whether SQLite's quick_check, which reads the whole file, finds damage.
[[nodiscard]] std::string store_flaw(sqlite::Database& database, const std::string& path,
                                     const std::string& schema = "main");

}  // namespace jitgemm::tuning
