#pragma once

#include "jitgemm/data_type.hpp"

#include <span>

namespace jitgemm {

/// The types of A and B that kernel families multiply. The others make sound problems, which no family serves yet.
[[nodiscard]] std::span<const DataType> served_types();

}  // namespace jitgemm
