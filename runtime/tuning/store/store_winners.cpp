#include "runtime/tuning/store/store_tables.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/sql_fields.hpp"
#include "runtime/tuning/store/store_file.hpp"
#include "runtime/tuning/store/store_schema.hpp"
#include "runtime/tuning/store/winner_map.hpp"

#include <fmt/format.h>

#include <exception>

namespace jitgemm::tuning {
namespace {

using sqlite::Database;
using sqlite::Statement;

/// Reading never waits for a write-ahead log's writer, and for a rollback journal's only as long as a commit takes.
constexpr std::chrono::milliseconds kReadersPatience{2000};

constexpr std::string_view kWhereClass = "WHERE (?1 = '' OR device_class = ?1)";

void read_winners_of(const std::string& path, const std::string& device_class, WinnerMap& winners) {
    Database database(path, sqlite::Access::read, kReadersPatience);
    if (is_unmade(database)) return;
    if (const std::string flaw = schema_flaw(database, path); !flaw.empty()) throw TuningStoreError(flaw);
    for (Winner& winner : read_winners(database, device_class)) winners.add(std::move(winner));
}

/// The winner in the row at hand, its spec resolved; nothing, and a line in the log, for one this version cannot read.
std::optional<Winner> winner_in(const Statement& row, const std::string& path) {
    try {
        auto winner = read_record<Winner>(row);
        winner.spec = resolved(winner.spec);
        return winner;
    } catch (const sqlite::SqliteError&) {
        throw;
    } catch (const Error& error) {
        log().warn("tuning store {}: a winner is skipped: {}", path, error.what());
        return std::nullopt;
    }
}

}  // namespace

std::vector<Winner> read_winners(Database& database, const std::string& device_class, const std::string& schema) {
    Statement rows =
        database.prepare(fmt::format("SELECT {} FROM {}.winners {} ORDER BY device_class, spec",
                                     stored_columns<Winner>(database, schema, "winners"), schema, kWhereClass));
    rows.bind(device_class);
    std::vector<Winner> winners;
    while (rows.step()) {
        if (auto winner = winner_in(rows, database.path())) winners.push_back(*std::move(winner));
    }
    return winners;
}

std::optional<Winner> find_winner(Database& database, const Winner& like) {
    Statement row = database.prepare(fmt::format("SELECT {} FROM winners WHERE ({}) = ({}, {})", column_list<Winner>(),
                                                 winner_key(), "?, ?, ?, ?, ?", placeholders<Versions>()));
    row.bind(like.device_class, to_string(like.spec), to_string(like.protocol), like.hot, like.narrowed);
    bind_value(row, like.versions);
    return row.step() ? winner_in(row, database.path()) : std::nullopt;
}

void put_winner(Database& database, const Winner& winner) {
    Statement insert = database.prepare(
        fmt::format("INSERT OR REPLACE INTO winners ({}) VALUES ({})", column_list<Winner>(), placeholders<Winner>()));
    bind_value(insert, winner);
    insert.run();
}

bool offer_winner(Database& database, Winner winner) {
    winner.spec = resolved(winner.spec);
    const std::optional<Winner> old = find_winner(database, winner);
    if (old && !is_better(winner, *old)) return false;
    put_winner(database, winner);
    return true;
}

std::vector<std::string> forget_winners(Database& database, const std::string& device_class,
                                        const std::optional<GemmSpec>& spec) {
    Statement gone = database.prepare(fmt::format("DELETE FROM winners {} AND (?2 = '' OR spec = ?2) RETURNING {}",
                                                  kWhereClass, winner_key(" || ' ' || ")));
    gone.bind(device_class, spec ? to_string(resolved(*spec)) : std::string());
    std::vector<std::string> forgotten;
    while (gone.step()) forgotten.push_back(gone.text(0));
    return forgotten;
}

StoredWinners stored_winners(const std::string& directory, const std::string& device_class) {
    WinnerMap winners;
    StoredWinners stored;
    for (const std::string& path : store_files(directory)) {
        try {
            as_store_errors([&] { read_winners_of(path, device_class, winners); });
        } catch (const std::exception& error) {
            stored.problems.emplace_back(error.what());
        }
    }
    stored.winners = winners.sorted();
    return stored;
}

}  // namespace jitgemm::tuning
