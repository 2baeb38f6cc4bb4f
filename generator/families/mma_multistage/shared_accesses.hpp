#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/mma_atom.hpp"

#include <vector>

namespace jitgemm {

/// Every kind of shared-memory instruction of the kernel with its wavefronts, in the order data flows: the copies of A
/// and B into the pipeline, ldmatrix out of it, the epilogue's stores and loads. All warps, k-blocks and passes of an
/// inner tile are counted; addresses are those of shared_layout.cuh, copy_*.cuh, shared_to_registers.cuh and
/// epilogue_shared.cuh. A config that breaks rules gives whatever part of it makes sense.
[[nodiscard]] std::vector<SharedAccess> mma_multistage_shared_accesses(const GemmSignature& signature,
                                                                       const MmaMultistageConfig& config);

/// Of these, a tile's copy into shared memory, per k-tile: vectors of one row lie side by side in lanes; threads go
/// down the rows, pass by pass.
[[nodiscard]] SharedAccess copy_access(Operand operand, const OperandGeometry& geometry, SharedLayout layout,
                                       int threads);

/// And what the epilogue reads back of each warp's strip of mma.m rows: the vectors of rows it stores to D. Vectors
/// above 16 bytes take several loads each.
[[nodiscard]] SharedAccess epilogue_load(const TileShape& warp, const TileShape& mma,
                                         const TensorCoreGeometry& geometry);

/// Times longer the mainloop keeps shared memory busy than without bank conflicts. Swizzled tiles never have any where
/// the swizzle is legal: 128 bytes of neighbouring vectors, like the 8 rows of a matrix, fill all banks. Tests count
/// all of them; here, where every candidate comes by, only padded tiles are counted.
[[nodiscard]] double mma_multistage_conflict_slowdown(const GemmSignature& signature,
                                                      const MmaMultistageConfig& config);

}  // namespace jitgemm
