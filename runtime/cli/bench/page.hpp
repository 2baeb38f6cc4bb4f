#pragma once

#include "runtime/cli/output.hpp"

#include <string>

namespace jitgemm::cli {

/// The page of `bench --report`, from the verb's JSON document. For each peer it shows the speed-up of each problem
/// (the slowest first), the geometric mean, the number of lost problems and the worst of them. A table has all rows.
[[nodiscard]] std::string bench_page(const Json& document);

}  // namespace jitgemm::cli
