#pragma once

#include <string>

namespace jitgemm::tuning {

/// The statements that make an empty store. Columns carry the names of the structs' fields (records.hpp).
[[nodiscard]] std::string store_schema();

}  // namespace jitgemm::tuning
