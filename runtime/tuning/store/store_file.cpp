#include "runtime/tuning/store/store_file.hpp"

#include "runtime/support/file_lock.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/store_schema.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>

namespace jitgemm::tuning {
namespace {

using sqlite::Access;
using sqlite::Database;
using sqlite::SqliteError;
using sqlite::Transaction;

constexpr std::chrono::milliseconds kPause{20};

/// Opening may meet another process that is just making the same store, where SQLite does not wait by itself: changing
/// the journal, and recovering a log.
template <typename Work>
auto with_patience(std::chrono::milliseconds patience, Work work) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        try {
            return work();
        } catch (const SqliteError& error) {
            if (!error.is_busy() || std::chrono::steady_clock::now() > deadline) throw;
        }
        std::this_thread::sleep_for(kPause);
    }
}

/// synchronous=EXTRA is FULL with a sync of the folder once the rollback journal is gone.
void set_journal(Database& database, Journal journal) {
    if (journal == Journal::rollback) {
        database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA");
        return;
    }
    database.execute("PRAGMA synchronous = FULL");
    if (const std::string mode = database.text("PRAGMA journal_mode = WAL"); mode != "wal")
        log().debug("{}: no write-ahead log here, journal is {}", database.path(), mode);
}

bool is_empty(Database& database, const std::string& schema = "main") {
    return database.integer(fmt::format("SELECT count(*) FROM {}.sqlite_schema", schema)) == 0;
}

std::int64_t version_of(Database& database, const std::string& schema = "main") {
    return database.integer(fmt::format("PRAGMA {}.user_version", schema));
}

/// The message for a store of a newer version. It is empty for other stores.
std::string newer_schema(Database& database, const std::string& path, const std::string& schema = "main") {
    const std::int64_t version = version_of(database, schema);
    if (version <= kStoreSchema) return {};
    return fmt::format("tuning store {} has schema {}, this version of jitgemm reads up to {}", path, version,
                       kStoreSchema);
}

void make_tables(Database& database) {
    Transaction transaction(database);
    if (!is_empty(database)) return;  // another process was quicker
    database.execute(store_schema());
    transaction.commit();
}

bool is_of_lower_schema(Database& database) {
    const std::int64_t schema = version_of(database);
    return schema >= 1 && schema < kStoreSchema;
}

void bring_up_to_date(Database& database) {
    Transaction transaction(database);
    if (!is_of_lower_schema(database)) return;  // another process was quicker
    upgrade_store(database);
    transaction.commit();
}

Database open_sound(const StoreLocation& location, std::chrono::milliseconds patience) {
    Database database(location.path, Access::create, patience);
    refuse_newer_store(database, location.path);
    set_journal(database, location.journal);
    database.execute("PRAGMA foreign_keys = ON");
    if (is_empty(database)) make_tables(database);
    if (is_of_lower_schema(database)) bring_up_to_date(database);
    return database;
}

struct Opened {
    std::optional<Database> database;
    std::string flaw;  ///< why there is none
};

Opened try_open(const StoreLocation& location, std::chrono::milliseconds patience) {
    try {
        Opened opened{with_patience(patience, [&] { return open_sound(location, patience); }), {}};
        opened.flaw = store_flaw(*opened.database, location.path);
        if (!opened.flaw.empty()) opened.database.reset();
        return opened;
    } catch (const SqliteError& error) {
        if (!error.is_damage()) throw;
        return {std::nullopt, fmt::format("tuning store {}", error.what())};
    }
}

std::string unused_name(const std::string& path) {
    const std::string name = fmt::format("{}.damaged-{:%Y%m%dT%H%M%SZ}", path, fmt::gmtime(std::time(nullptr)));
    return std::filesystem::exists(name) ? fmt::format("{}-{}", name, unique_suffix()) : name;
}

/// Its journals go with it, so that whoever looks into it later finds all there is. They move first: once the store is
/// gone, another process may make a new one, and its journals must stay. SQLite removes journals that lie beside no
/// store.
void set_aside(const std::string& path, const std::string& flaw) {
    const std::string aside = unused_name(path);
    for (const char* const tail : {"-wal", "-shm", "-journal"}) {
        std::error_code ignored;
        std::filesystem::rename(path + tail, aside + tail, ignored);
    }
    std::filesystem::rename(path, aside);
    log().warn("{}; it was renamed to {}, and a new store was made", flaw, aside);
}

/// One process at a time, which looks again: another may have done it meanwhile.
Database replace(const StoreLocation& location, std::chrono::milliseconds patience) {
    std::error_code no_locks_here;
    const auto lock = FileLock::acquire(location.path + ".lock", patience, no_locks_here);
    if (!lock && !no_locks_here)
        throw TuningStoreError(
            fmt::format("tuning store {} is damaged, and another process holds its lock", location.path));
    Opened again = try_open(location, patience);
    if (again.database) return *std::move(again.database);
    set_aside(location.path, again.flaw);
    return with_patience(patience, [&] { return open_sound(location, patience); });
}

/// Ours are plain tables and indexes. A view, a virtual table or a generated column under a name of ours would run
/// whatever its writer made up, endless recursion too, each time that it is read.
bool has_only_tables(Database& database, const std::string& schema) {
    return database.integer(fmt::format(
               "SELECT count(*) FROM {0}.sqlite_schema s WHERE s.type NOT IN ('table', 'index') OR (s.type = 'table' "
               "AND "
               "(s.rootpage = 0 OR EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name, '{0}') c WHERE c.hidden <> 0)))",
               schema)) == 0;
}

}  // namespace

void refuse_newer_store(Database& database, const std::string& path) {
    if (const std::string newer = newer_schema(database, path); !newer.empty())
        throw TuningStoreError(newer + "; update jitgemm, or set JITGEMM_TUNING_DIR to a folder of this version's own");
}

bool is_unmade(Database& database, const std::string& schema) {
    return version_of(database, schema) == 0 && is_empty(database, schema);
}

std::string schema_flaw(Database& database, const std::string& path, const std::string& schema) {
    if (std::string newer = newer_schema(database, path, schema); !newer.empty()) return newer;
    if (version_of(database, schema) < 1 || !has_only_tables(database, schema))
        return fmt::format("tuning store {} is a database of something else", path);
    return {};
}

std::string store_flaw(Database& database, const std::string& path, const std::string& schema) {
    if (std::string flaw = schema_flaw(database, path, schema); !flaw.empty()) return flaw;
    const std::string check = database.text(fmt::format("PRAGMA {}.quick_check(1)", schema));
    return check == "ok" ? std::string() : fmt::format("tuning store {} is damaged: {}", path, check);
}

Database open_store(const StoreLocation& location, std::chrono::milliseconds patience) {
    try {
        return as_store_errors([&] {
            Opened opened = try_open(location, patience);
            return opened.database ? *std::move(opened.database) : replace(location, patience);
        });
    } catch (const std::system_error& error) {
        throw TuningStoreError(fmt::format("tuning store {}: {}", location.path, error.what()));
    }
}

}  // namespace jitgemm::tuning
