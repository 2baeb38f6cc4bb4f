#pragma once

#include <cstddef>
#include <cstdint>

namespace jitgemm {

/// Values of m and the kernel of a set that serves them. `multiple` divides each of them. Where an operand lies along
/// m, alignments depend on m: a value of m belongs to the ranges of the largest multiple that divides it.
struct KernelRange {
    std::int64_t first_m = 1;
    std::int64_t last_m = 1;
    std::int64_t multiple = 1;
    std::size_t kernel = 0;  ///< index into the kernels of the set
    friend bool operator==(const KernelRange&, const KernelRange&) = default;
};

}  // namespace jitgemm
