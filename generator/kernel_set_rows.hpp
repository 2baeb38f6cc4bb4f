#pragma once

#include "generator/base/problem.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace jitgemm {

/// The spec with the alignments that this m gives its operands. Its m is 0. Throws what resolved() throws.
[[nodiscard]] GemmSpec aligned_at(const GemmSpec& spec, std::int64_t m);

/// Whether `spec` asks for no more alignment than `aligned`, which aligned_at() made for some m, gives.
[[nodiscard]] bool is_aligned_for(const GemmSpec& spec, const GemmSpec& aligned);

[[nodiscard]] Problem problem_at(GemmSpec spec, std::int64_t m);

/// Values of m with the same alignments: multiples of `multiple` that are no multiples of `next`.
struct RowClass {
    std::int64_t multiple = 1;
    std::int64_t next = 0;  ///< 0: there is none

    [[nodiscard]] bool holds(std::int64_t m) const { return m % multiple == 0 && (next == 0 || m % next != 0); }
    /// The least value from m on, and the largest up to m.
    [[nodiscard]] std::int64_t at_or_after(std::int64_t m) const;
    [[nodiscard]] std::int64_t at_or_before(std::int64_t m) const;
};

/// The classes that the range has, the largest multiple first. Alignments end at 16 bytes, so there are five at most.
[[nodiscard]] std::vector<RowClass> row_classes(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m);

}  // namespace jitgemm
