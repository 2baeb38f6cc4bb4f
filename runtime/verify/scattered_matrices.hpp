#pragma once

#include "runtime/verify/guarded_matrix.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm {

/// \file Matrices of GemmSpec::pointers: an address of its own for each. They lie in one allocation, in random order.

/// The form of the operand's matrices, with gaps between them. All are aligned alike.
[[nodiscard]] MatrixForm scattered(MatrixForm form);

/// The place of each problem's matrix among the matrices of the allocation.
[[nodiscard]] std::vector<std::int64_t> random_places(std::int64_t problems, std::uint64_t seed);

/// The address of each problem's matrix, where the first of the allocation lies at `first`.
[[nodiscard]] std::vector<std::uint64_t> addresses_at(const MatrixForm& form, DevicePointer first,
                                                      const std::vector<std::int64_t>& places);

}  // namespace jitgemm
