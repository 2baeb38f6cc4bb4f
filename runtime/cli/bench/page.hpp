#pragma once

#include "runtime/cli/output.hpp"

#include <string>

namespace jitgemm::cli {

/// The page of `bench --report`, of the verb's JSON document: for each peer how much faster each problem ran, the
/// slowest first; the geometric mean, how many problems lost and the furthest behind; and a table of all rows.
[[nodiscard]] std::string bench_page(const Json& document);

}  // namespace jitgemm::cli
