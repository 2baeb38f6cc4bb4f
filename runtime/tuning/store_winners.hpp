#pragma once

#include "runtime/tuning/sqlite.hpp"

#include <optional>
#include <string>
#include <vector>

/// \file The table of winners: which one stays when two are for one problem, and the statements.

namespace jitgemm::tuning {

/// Whether a newly found winner takes an older one's place: always, except an incomplete one a complete one's of the
/// same versions.
[[nodiscard]] bool replaces(const Winner& found, const Winner& old);

/// The rows of one database's table (`schema`: "main", or an attached one's name); an empty class means all. A row that
/// this version cannot read is passed over with a warning.
[[nodiscard]] std::vector<Winner> read_winners(sqlite::Database& database, const std::string& device_class,
                                               const std::string& schema = "main");
[[nodiscard]] std::optional<Winner> find_winner(sqlite::Database& database, const Winner& problem);
void put_winner(sqlite::Database& database, const Winner& winner);
/// Puts it where replaces() says so; whether it did.
bool offer_winner(sqlite::Database& database, Winner winner);
/// The specs forgotten.
[[nodiscard]] std::vector<std::string> forget_winners(sqlite::Database& database, const std::string& device_class,
                                                      const std::optional<GemmSpec>& spec);

}  // namespace jitgemm::tuning
