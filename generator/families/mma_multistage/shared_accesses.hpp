#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/mma_atom.hpp"

#include <vector>

namespace jitgemm {

/// Every kind of shared-memory instruction of the kernel with its wavefronts, in the order of the data: the copies of A
/// and B into the pipeline, ldmatrix, and the epilogue's stores and loads. All warps, k-blocks and passes of an inner
/// tile are counted. Addresses are those of shared_layout.cuh, copy_*.cuh, shared_to_registers.cuh and
/// epilogue_shared.cuh. If the config breaks rules, only the sensible part is returned.
[[nodiscard]] std::vector<SharedAccess> mma_multistage_shared_accesses(const GemmSignature& signature,
                                                                       const MmaMultistageConfig& config);

/// One of these: a tile's copy into shared memory, per k-tile. Lanes take neighbouring vectors of a row, and threads go
/// down the rows pass by pass.
[[nodiscard]] SharedAccess copy_access(Operand operand, const OperandGeometry& geometry, SharedLayout layout,
                                       int threads);

/// One of these: the epilogue reads each warp's strip of mma.m rows back, as the vectors that it stores to D. A vector
/// above 16 bytes takes several loads.
[[nodiscard]] SharedAccess epilogue_load(const TileShape& warp, const TileShape& mma,
                                         const TensorCoreGeometry& geometry, EpiloguePairs pairs = EpiloguePairs::none);

/// The mainloop's time in shared memory over its time without bank conflicts. A legal swizzle has no conflicts: 128
/// bytes of neighbouring vectors, or the 8 rows of a matrix, fill all banks. Every candidate is checked here, so only
/// padded tiles are counted; tests count all.
[[nodiscard]] double mma_multistage_conflict_slowdown(const GemmSignature& signature,
                                                      const MmaMultistageConfig& config);

}  // namespace jitgemm
