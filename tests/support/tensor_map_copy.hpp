#pragma once

#include "generator/base/tensor_map.hpp"
#include "runtime/context/context_state.hpp"

#include <cstdint>
#include <string>

namespace jitgemm::testing {

/// A kernel that copies A (m, k), row-major bf16, to D (m, n = k), box by box through shared memory: one TMA load, one
/// TMA store. It has all that the launch model knows: tensor maps by value, as many blocks as the GPU holds, which take
/// tiles from a counter that they leave at zero, and a launch that may begin before the one before it has ended.
class TensorMapCopy {
public:
    /// Compiles and loads it on the context's device. Boxes of a swizzle are as wide as it spans, without one 64 bytes;
    /// `rows` rows.
    TensorMapCopy(ContextState& context, TensorMapSwizzle swizzle, int rows);

    /// For a matrix of that size, its rows `lda` and `ldd` elements apart.
    [[nodiscard]] GemmKernel kernel(std::int64_t rows, std::int64_t columns, std::int64_t lda, std::int64_t ldd) const;
    /// B is never read; a launch wants an address all the same.
    [[nodiscard]] static GemmArguments arguments(DevicePointer a, DevicePointer d) {
        return {.a = a, .b = 0x100, .d = d};
    }

    [[nodiscard]] int box_rows() const { return rows_; }
    [[nodiscard]] int box_columns() const { return columns_; }
    [[nodiscard]] const KernelSource& source() const { return *loaded_.source; }

private:
    ContextState& context_;
    int rows_;
    int columns_;
    LoadedKernel loaded_;
};

}  // namespace jitgemm::testing
