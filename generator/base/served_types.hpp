#pragma once

#include "jitgemm/data_type.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// The types of A and B that kernel families multiply. Problems with other types are valid, but no family serves them
/// yet.
[[nodiscard]] std::span<const DataType> served_types();
/// Why no family serves the types of A and B; empty if they are served. Every family checks this first.
[[nodiscard]] std::vector<std::string> unserved_types(const GemmSpec& spec);
/// Why no family serves this problem of elements of 8 bits, as it was asked for.
[[nodiscard]] std::vector<std::string> unserved_8_bits(const GemmSpec& asked);

}  // namespace jitgemm
