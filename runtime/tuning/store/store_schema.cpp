#include "runtime/tuning/store/store_schema.hpp"

#include "runtime/tuning/store/store_file.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

namespace jitgemm::tuning {
namespace {

/// "round INTEGER NOT NULL, us REAL NOT NULL, ...".
template <typename Record>
std::string declarations() {
    std::vector<std::string> columns;
    for (const Column& column : columns_of<Record>())
        columns.push_back(fmt::format("{} {} NOT NULL", column.name, column.type));
    return fmt::format("{}", fmt::join(columns, ",\n    "));
}

/// Of a column that a store of a lower version lacks.
std::string_view default_of(const Column& column) {
    static const std::string kUnknown = fmt::format("'{}'", kNarrowedUnknown);
    if (column.name == "narrowed") return kUnknown;
    return column.type == "TEXT" ? "''" : "0";
}

std::set<std::string> column_names_there(sqlite::Database& database, std::string_view schema, std::string_view table) {
    sqlite::Statement rows = database.prepare(fmt::format("PRAGMA {}.table_info({})", schema, table));
    std::set<std::string> names;
    while (rows.step()) names.insert(rows.text(1));
    return names;
}

template <typename Record>
void add_missing_columns(sqlite::Database& database, std::string_view table) {
    const std::set<std::string> there = column_names_there(database, "main", table);
    for (const Column& column : columns_of<Record>()) {
        if (there.contains(column.name)) continue;
        database.execute(fmt::format("ALTER TABLE {} ADD COLUMN {} {} NOT NULL DEFAULT {}", table, column.name,
                                     column.type, default_of(column)));
    }
}

// A sweep's identity is the same in every store it is merged into.
constexpr std::string_view kSweeps = R"sql(
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    device_class TEXT NOT NULL,
    request TEXT NOT NULL,
    {versions},
    started INTEGER NOT NULL,
    finished INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sweeps_by_key ON sweeps (device_class, request);
CREATE TABLE problems (
    id INTEGER PRIMARY KEY,
    sweep INTEGER NOT NULL REFERENCES sweeps,
    spec TEXT NOT NULL,
    UNIQUE (sweep, spec)
);
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    problem INTEGER NOT NULL REFERENCES problems,
    kernel TEXT NOT NULL,
    predicted_us REAL NOT NULL DEFAULT 0,
    same_as TEXT NOT NULL DEFAULT '',
    UNIQUE (problem, kernel)
);
)sql";

constexpr std::string_view kOutcomes = R"sql(
CREATE TABLE compiles (
    trial INTEGER PRIMARY KEY REFERENCES trials,
    {compile}
);
CREATE TABLE verifications (
    trial INTEGER PRIMARY KEY REFERENCES trials,
    {verify}
);
CREATE TABLE samples (
    trial INTEGER NOT NULL REFERENCES trials,
    {sample},
    PRIMARY KEY (trial, round)
) WITHOUT ROWID;
)sql";

// The winner of each sweep, and the winners that serve requests.
constexpr std::string_view kSweepWinnersTable = R"sql(
CREATE TABLE sweep_winners (
    problem INTEGER PRIMARY KEY REFERENCES problems,
    {winner}
);
)sql";

constexpr std::string_view kWinnersTable = R"sql(
CREATE TABLE winners (
    {winner},
    PRIMARY KEY ({key})
) WITHOUT ROWID;
)sql";

std::string winners_table() {
    return fmt::format(kWinnersTable, fmt::arg("winner", declarations<Winner>()), fmt::arg("key", winner_key()));
}

/// Its key may be another, which no ALTER TABLE changes.
void remake_winners(sqlite::Database& database) {
    const std::string values = stored_columns<Winner>(database, "main", "winners");
    database.execute("ALTER TABLE winners RENAME TO winners_before");
    database.execute(winners_table());
    database.execute(fmt::format("INSERT INTO winners ({}) SELECT {} FROM winners_before; DROP TABLE winners_before",
                                 column_list<Winner>(), values));
}

}  // namespace

std::string store_schema() {
    return fmt::format(kSweeps, fmt::arg("versions", declarations<Versions>())) +
           fmt::format(kOutcomes, fmt::arg("compile", declarations<CompileOutcome>()),
                       fmt::arg("verify", declarations<VerifyOutcome>()), fmt::arg("sample", declarations<Sample>())) +
           fmt::format(kSweepWinnersTable, fmt::arg("winner", declarations<Winner>())) + winners_table() +
           fmt::format("PRAGMA user_version = {};\n", kStoreSchema);
}

std::string winner_key(std::string_view separator) {
    std::vector<std::string> columns{"device_class", "spec", "protocol", "hot", "narrowed"};
    for (std::string& column : column_names<Versions>("versions_")) columns.push_back(std::move(column));
    return fmt::format("{}", fmt::join(columns, separator));
}

std::string stored_columns(sqlite::Database& database, std::string_view schema, std::string_view table,
                           const std::vector<Column>& wanted) {
    const std::set<std::string> there = column_names_there(database, schema, table);
    std::vector<std::string> columns;
    for (const Column& column : wanted)
        columns.push_back(there.contains(column.name) ? column.name : std::string(default_of(column)));
    return fmt::format("{}", fmt::join(columns, ", "));
}

void upgrade_store(sqlite::Database& database) {
    add_missing_columns<Versions>(database, "sweeps");
    add_missing_columns<CompileOutcome>(database, "compiles");
    add_missing_columns<VerifyOutcome>(database, "verifications");
    add_missing_columns<Sample>(database, "samples");
    add_missing_columns<Winner>(database, "sweep_winners");
    remake_winners(database);
    database.execute(fmt::format("PRAGMA user_version = {}", kStoreSchema));
}

}  // namespace jitgemm::tuning
