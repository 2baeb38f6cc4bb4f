#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <nlohmann/json_fwd.hpp>

namespace jitgemm {

/// The fields that name a problem in every document: type, layout, m, n, k ... (docs/problems.md).
[[nodiscard]] nlohmann::ordered_json to_json(const GemmSpec& spec);

}  // namespace jitgemm
