#pragma once

#include "jitgemm/jitgemm.hpp"
#include "tests/support/kernel_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm::testing {

/// The contents of the rows of A and C after the first ones.
enum class OtherRows : std::uint8_t { usual, not_a_number };

/// D's rows, one behind the other without gaps, as the kernel leaves them for operands whose rows depend on their own
/// number alone: equal rows in problems of any m. Rows from `usual_rows` on hold what `others` says. The problems of a
/// batch, whose D is row-major and packed, share A and B, and their rows of D follow one another.
[[nodiscard]] std::vector<std::byte> rows_of_d(Context& context, const GemmKernel& kernel, std::int64_t usual_rows,
                                               OtherRows others);

/// CHECKs that the context's choices for the problem, which must be batch_invariant, leave each row's bits for every m
/// of {1, 2, 7, 16, 33, 64, 128, 500, 4096}, and among rows of NaN. Returns how many kernels they were.
std::size_t check_batch_invariance(Context& context, GemmSpec spec);

}  // namespace jitgemm::testing
