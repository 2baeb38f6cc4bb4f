#pragma once

#include "generator/draw/kernel_rasterization.hpp"
#include "generator/draw/kernel_shared_map.hpp"
#include "generator/draw/kernel_tiling.hpp"
#include "generator/families/family.hpp"

namespace jitgemm {

/// \file What can be drawn of a kernel of any family, from its anatomy and from who owns which element of D.

/// The block tile by warps. Atoms are the family's mma or thread tiles; where those are single elements, warp tiles.
[[nodiscard]] KernelTiling anatomy_tiling(const GemmSpec& spec, const KernelConfig& config,
                                          const KernelAnatomy& anatomy);

/// Order of the blocks, each block's tile found through Family::owner. Beyond 2^22 tiles, and for kernels whose blocks take
/// more tiles than one, the first wave's footprint is left at 0.
[[nodiscard]] KernelRasterization anatomy_rasterization(const GemmSpec& spec, const KernelConfig& config,
                                                        const KernelAnatomy& anatomy, const CostEstimate& cost,
                                                        const GpuModel& gpu);

/// Bytes of the pipeline's stages and of the epilogue.
[[nodiscard]] KernelSharedMap anatomy_shared_map(const KernelAnatomy& anatomy, const Arch& arch, int blocks_per_sm);

}  // namespace jitgemm
