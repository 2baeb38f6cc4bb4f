#pragma once

#include "generator/base/renderer.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"

#include <functional>
#include <map>
#include <string>

namespace jitgemm {

/// \file Common parts of the rendering of kernels on tensor cores.

using Macros = std::map<std::string, int, std::less<>>;

struct TensorCoreTiling {
    int stages = 0;
    int staged_columns = 0;  ///< columns of D that a warp stages in shared memory; 0: none
};

/// The lines of params.cuh that follow from the tiles: threads, atoms, and the place of tiles in shared memory.
[[nodiscard]] std::string tiling_lines(const TensorCoreGeometry& g, const TensorCoreTiling& tiling);

/// The caching of copies to shared memory.
struct CpAsyncCaching {
    bool through_l1 = false;  ///< for 16-byte copies; narrower ones always go through L1
    int l2_prefetch = 128;    ///< bytes that L2 prefetches along; 0: none
};

/// The input of templates/multistage/global_to_shared.cuh: layouts of A and B as macros, the pieces copy_a.cuh and
/// copy_b.cuh, the aliases of copies.inl, and cp_async.cuh in the widths that are used.
void add_copies(RenderInput& input, const TensorCoreGeometry& g, const CpAsyncCaching& caching);

}  // namespace jitgemm
