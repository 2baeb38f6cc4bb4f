#pragma once

#include "runtime/tuning/store/sql_fields.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

/// \file The tables of a store. Columns have the names of the structs' fields (records.hpp). A new field is therefore a
/// column that a store of a lower version lacks: it is read as the field's default, and the next writer adds it.

namespace jitgemm::tuning {

/// The statements that make an empty store.
[[nodiscard]] std::string store_schema();

/// "device_class, spec, protocol, ...": the columns that identify a winner (WinnerMap), the table's primary key.
[[nodiscard]] std::string winner_key(std::string_view separator = ", ");

struct Column {
    std::string name;
    std::string_view type;
};

template <typename Value>
[[nodiscard]] std::string_view column_type() {
    if constexpr (std::integral<Value> && !Worded<Value>)
        return "INTEGER";
    else if constexpr (std::floating_point<Value> && !Worded<Value>)
        return "REAL";
    else
        return "TEXT";
}

template <typename Record>
[[nodiscard]] std::vector<Column> columns_of(const std::string& prefix = "") {
    std::vector<Column> columns;
    const auto add = [&]<typename Value>(const Field<Record, Value>& field) {
        const std::string name = prefix + std::string(field.name);
        if constexpr (HasFields<Value>) {
            for (Column& column : columns_of<Value>(name + "_")) columns.push_back(std::move(column));
        } else {
            columns.push_back({name, column_type<Value>()});
        }
    };
    std::apply([&](const auto&... fields) { (add(fields), ...); }, kFields<Record>);
    return columns;
}

/// For a SELECT of `wanted` from a table of any version: existing columns by name, missing ones as their defaults.
[[nodiscard]] std::string stored_columns(sqlite::Database& database, std::string_view schema, std::string_view table,
                                         const std::vector<Column>& wanted);
template <typename Record>
[[nodiscard]] std::string stored_columns(sqlite::Database& database, std::string_view schema, std::string_view table) {
    return stored_columns(database, schema, table, columns_of<Record>());
}

/// Upgrades the tables of a lower version, within the caller's transaction.
void upgrade_store(sqlite::Database& database);

}  // namespace jitgemm::tuning
