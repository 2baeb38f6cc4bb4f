#pragma once

#include "generator/base/renderer.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"

#include <functional>
#include <map>
#include <string>

namespace jitgemm {

/// \file What the kernels of 16-bit operands on tensor cores have in common when they are rendered.

using Macros = std::map<std::string, int, std::less<>>;

struct TensorCoreTiling {
    int stages = 0;
    int staged_columns = 0;  ///< of D, that a warp lays into shared memory; 0: none
};

/// The lines of params.cuh that follow from the tiles: threads, atoms, and where tiles lie in shared memory.
[[nodiscard]] std::string tiling_lines(const TensorCoreGeometry& g, const TensorCoreTiling& tiling);

/// How copies to shared memory are cached on their way.
struct CpAsyncCaching {
    bool through_l1 = false;  ///< 16-byte copies; narrower ones always are
    int l2_prefetch = 128;    ///< bytes that L2 is asked to fetch along; 0: none
};

/// All that templates/multistage/global_to_shared.cuh needs: layouts of A and B as macros, the pieces copy_a.cuh and
/// copy_b.cuh, the aliases of copies.inl, and cp_async.cuh in the widths that are used.
void add_copies(RenderInput& input, const TensorCoreGeometry& g, const CpAsyncCaching& caching);

}  // namespace jitgemm
