#pragma once

#include "generator/text/nearest_name.hpp"
#include "runtime/c_api/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace jitgemm::c_api {

/// The row of a table with this word. Throws InvalidArgument with the nearest one: "unknown option 'divice': expected
/// ...".
template <typename Table, typename Row>
[[nodiscard]] const Row& find_row(const Table& table, std::string_view Row::*word, std::string_view kind,
                                  std::string_view wanted) {
    const auto found = std::ranges::find(table, wanted, word);
    if (found != table.end()) return *found;
    std::vector<std::string_view> known;
    for (const Row& row : table) known.push_back(row.*word);
    throw InvalidArgument(fmt::format("unknown {} '{}': {}", kind, wanted, expected_one_of(wanted, known)));
}

}  // namespace jitgemm::c_api
