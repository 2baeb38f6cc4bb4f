#pragma once

#include "generator/base/operand.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>

namespace jitgemm::c_api {

/// The lines of an operand. A launch neither reads nor writes the gaps between them.
[[nodiscard]] MemoryRows rows_of(const GemmOperand& operand);

/// From the first byte to one past the last.
[[nodiscard]] std::size_t bytes_of(const GemmOperand& operand);

}  // namespace jitgemm::c_api
