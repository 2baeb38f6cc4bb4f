#include "runtime/tuning/store_schema.hpp"

#include "runtime/tuning/sql_fields.hpp"
#include "runtime/tuning/store_file.hpp"

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <vector>

namespace jitgemm::tuning {
namespace {

template <typename Value>
std::string_view column_type() {
    if constexpr (std::integral<Value> && !Worded<Value>)
        return "INTEGER";
    else if constexpr (std::floating_point<Value> && !Worded<Value>)
        return "REAL";
    else
        return "TEXT";
}

template <typename Record>
void add_declarations(std::vector<std::string>& columns, const std::string& prefix) {
    const auto add = [&]<typename Value>(const Field<Record, Value>& field) {
        const std::string name = prefix + std::string(field.name);
        if constexpr (HasFields<Value>) {
            add_declarations<Value>(columns, name + "_");
        } else {
            columns.push_back(fmt::format("{} {} NOT NULL", name, column_type<Value>()));
        }
    };
    std::apply([&](const auto&... fields) { (add(fields), ...); }, kFields<Record>);
}

/// "round INTEGER NOT NULL, us REAL NOT NULL, ...".
template <typename Record>
std::string declarations() {
    std::vector<std::string> columns;
    add_declarations<Record>(columns, "");
    return fmt::format("{}", fmt::join(columns, ",\n    "));
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

// The winner each sweep found, and the one that serves requests.
constexpr std::string_view kWinners = R"sql(
CREATE TABLE sweep_winners (
    problem INTEGER PRIMARY KEY REFERENCES problems,
    {winner}
);
CREATE TABLE winners (
    {winner},
    PRIMARY KEY (device_class, spec)
) WITHOUT ROWID;
)sql";

}  // namespace

std::string store_schema() {
    return fmt::format(kSweeps, fmt::arg("versions", declarations<Versions>())) +
           fmt::format(kOutcomes, fmt::arg("compile", declarations<CompileOutcome>()),
                       fmt::arg("verify", declarations<VerifyOutcome>()), fmt::arg("sample", declarations<Sample>())) +
           fmt::format(kWinners, fmt::arg("winner", declarations<Winner>())) +
           fmt::format("PRAGMA user_version = {};\n", kStoreSchema);
}

}  // namespace jitgemm::tuning
