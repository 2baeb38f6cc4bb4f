#pragma once

#include "runtime/cli/ladder/report.hpp"

#include <string>

namespace jitgemm::cli {

/// One self-contained page: charts, a table, and for each rung its figures, its generated source and what changed in it
/// against the rung before.
[[nodiscard]] std::string ladder_page(const LadderReport& report);

}  // namespace jitgemm::cli
