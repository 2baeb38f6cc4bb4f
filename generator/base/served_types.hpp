#pragma once

#include "jitgemm/data_type.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// The types of A and B that kernel families multiply. The others make sound problems, which no family serves yet.
[[nodiscard]] std::span<const DataType> served_types();
/// Why no family serves the types of A and B: what every family answers first. Empty where they are served.
[[nodiscard]] std::vector<std::string> unserved_types(const GemmSpec& spec);

}  // namespace jitgemm
