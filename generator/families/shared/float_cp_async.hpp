#pragma once

#include <string>

namespace jitgemm {

/// Vectors of floats that a kernel copies by cp.async. Copies of 16 bytes bypass L1; narrower ones do not.
struct FloatVectors {
    bool wide = false;
    bool narrow = false;

    void add(int floats) { (floats == 4 ? wide : narrow) = true; }
    [[nodiscard]] bool any() const { return wide || narrow; }
};

/// The generated include simt_cp_async.cuh: `cp_async<kFloats>` for vectors that exist or not, and
/// `cp_async_cut<kFloats>` for vectors that the edge of the matrix may cut. Each is there if the kernel has these
/// vectors.
[[nodiscard]] std::string float_cp_async(const FloatVectors& whole, const FloatVectors& cut);

}  // namespace jitgemm
