#pragma once

#include "generator/base/kernel_argument.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// A matrix of a problem as it lies in memory: `runs` rows (or columns) of `run` contiguous elements, `pitch` elements apart. Each is
/// the argument that has the number.
struct MatrixStorage {
    DataType type;
    ArgumentRole run;
    ArgumentRole runs;
    ArgumentRole pitch;
    int alignment;  ///< of each run, bytes
};

/// Of role a, b, c or d of a resolved spec; c of a spec that has one.
[[nodiscard]] MatrixStorage storage_of(ArgumentRole role, const GemmSpec& spec);

/// m, n, k or a leading dimension of a resolved spec.
[[nodiscard]] std::int64_t extent(ArgumentRole role, const GemmSpec& spec);

}  // namespace jitgemm
