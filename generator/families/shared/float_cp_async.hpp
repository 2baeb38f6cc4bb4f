#pragma once

#include <string>

namespace jitgemm {

/// Vectors of floats that a kernel copies by cp.async: 16 bytes pass L1 by, narrower ones don't.
struct FloatVectors {
    bool wide = false;
    bool narrow = false;

    void add(int floats) { (floats == 4 ? wide : narrow) = true; }
    [[nodiscard]] bool any() const { return wide || narrow; }
};

/// The generated include simt_cp_async.cuh: `cp_async<kFloats>` of vectors that are there or not,
/// `cp_async_cut<kFloats>` of vectors that the edge of the matrix may cut, each if there are any.
[[nodiscard]] std::string float_cp_async(const FloatVectors& whole, const FloatVectors& cut);

}  // namespace jitgemm
