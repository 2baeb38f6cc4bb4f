#pragma once

#include "runtime/tuning/store/record_fields.hpp"
#include "runtime/tuning/store/sqlite.hpp"

#include <fmt/ranges.h>

#include <concepts>
#include <string>
#include <vector>

/// \file Structs ⇄ columns, by the tables that also make JSON of them. A field is a column. A struct within a struct is
/// several columns with its name in front ("before_power_watts"). Words are TEXT, and lists are a JSON array.

namespace jitgemm::tuning {

template <typename Record>
void add_columns(std::vector<std::string>& names, const std::string& prefix) {
    const auto add = [&]<typename Value>(const Field<Record, Value>& field) {
        const std::string name = prefix + std::string(field.name);
        if constexpr (HasFields<Value>) {
            add_columns<Value>(names, name + "_");
        } else {
            names.push_back(name);
        }
    };
    std::apply([&](const auto&... fields) { (add(fields), ...); }, kFields<Record>);
}

template <typename Record>
[[nodiscard]] std::vector<std::string> column_names(const std::string& prefix = "") {
    std::vector<std::string> names;
    add_columns<Record>(names, prefix);
    return names;
}

/// "round, us, before_sm_clock_mhz, ...".
template <typename Record>
[[nodiscard]] std::string column_list(const std::string& prefix = "") {
    return fmt::format("{}", fmt::join(column_names<Record>(prefix), ", "));
}

/// "?, ?, ?", one per column.
template <typename Record>
[[nodiscard]] std::string placeholders() {
    const std::vector<std::string> marks(column_names<Record>().size(), "?");
    return fmt::format("{}", fmt::join(marks, ", "));
}

template <typename Value>
void bind_value(sqlite::Statement& statement, const Value& value) {
    if constexpr (Worded<Value>) {
        statement.bind(WordOf<Value>::text(value));
    } else if constexpr (HasFields<Value>) {
        std::apply([&](const auto&... fields) { (bind_value(statement, value.*fields.member), ...); }, kFields<Value>);
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        statement.bind(json_line(json_of(value)));
    } else {
        statement.bind(value);
    }
}

/// Reads the value of the columns from `column` on, and moves `column` past them.
template <typename Value>
void read_value(const sqlite::Statement& row, int& column, Value& value) {
    if constexpr (Worded<Value>) {
        value = WordOf<Value>::parse(row.text(column++));
    } else if constexpr (HasFields<Value>) {
        std::apply([&](const auto&... fields) { (read_value(row, column, value.*fields.member), ...); },
                   kFields<Value>);
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        read_json(parse_json(row.text(column++)), "a list", value);
    } else if constexpr (std::integral<Value>) {
        value = static_cast<Value>(row.integer(column++));
    } else if constexpr (std::floating_point<Value>) {
        value = row.real(column++);
    } else {
        value = row.text(column++);
    }
}

/// Throws Error for a word that this version does not know.
template <typename Record>
[[nodiscard]] Record read_record(const sqlite::Statement& row, int first_column = 0) {
    Record record{};
    read_value(row, first_column, record);
    return record;
}

}  // namespace jitgemm::tuning
