#pragma once

#include "generator/base/kernel_entry.hpp"

#include <nlohmann/json_fwd.hpp>

namespace jitgemm {

/// Everything that a launch of the entry needs, for meta.json of an export and for --json: function, threads, shared
/// memory, cluster, every field of the grid's rule, and the arguments in order.
[[nodiscard]] nlohmann::ordered_json to_json(const KernelEntry& entry);

}  // namespace jitgemm
