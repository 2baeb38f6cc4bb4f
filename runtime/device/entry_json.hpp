#pragma once

#include "generator/base/kernel_source.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace jitgemm {

/// All that a launch of the entry needs, as meta.json of an export and --json have it: function, threads, shared memory, cluster,
/// every field of the grid's rule, and the arguments in order.
[[nodiscard]] nlohmann::ordered_json to_json(const KernelEntry& entry);

/// The names that C and JSON have for them: "lda"; "pointer", "i32"; "a".
[[nodiscard]] std::string_view to_string(ArgumentRole role);
[[nodiscard]] std::string_view to_string(ArgumentKind kind);
[[nodiscard]] std::string_view to_string(GridMatrix matrix);

}  // namespace jitgemm
