#pragma once

#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store.hpp"

#include <optional>
#include <string>
#include <vector>

/// \file The table of winners: which one stays when two are for one problem, and the statements.

namespace jitgemm::tuning {

/// The rows of one database's table (`schema`: "main", or an attached one's name); an empty class means all. A row that
/// this version cannot read is passed over with a warning.
[[nodiscard]] std::vector<Winner> read_winners(sqlite::Database& database, const std::string& device_class,
                                               const std::string& schema = "main");
/// The one of this problem that was searched alike (WinnerMap).
[[nodiscard]] std::optional<Winner> find_winner(sqlite::Database& database, const Winner& like);
void put_winner(sqlite::Database& database, const Winner& winner);
/// Puts it unless the one that was searched alike is the better (is_better); whether it did.
bool offer_winner(sqlite::Database& database, Winner winner);
/// Those forgotten, each told by its key.
[[nodiscard]] std::vector<std::string> forget_winners(sqlite::Database& database, const std::string& device_class,
                                                      const std::optional<GemmSpec>& spec);

}  // namespace jitgemm::tuning
