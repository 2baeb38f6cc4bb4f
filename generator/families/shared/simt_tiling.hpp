#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/parameter_map.hpp"

#include <cstdint>
#include <optional>

namespace jitgemm {

/// \file The common part of the plain SIMT families: threads do f32 multiply-adds, each for one element of D or a tile
/// of them. A family says how its config tiles the problem. Grid, owner, constraints, anatomy and cost follow from
/// that.

inline constexpr int kPanelElementBytes = 4;  ///< panels in shared memory hold f32, whatever the types of A and B

/// How a config divides the problem. Thread t of a block holds elements (t_m + i · threads_m, t_n + j · threads_n) of
/// the block tile. Neighbouring threads therefore hold neighbouring elements.
struct SimtTiling {
    TileShape block;                ///< block tile of D, m by n
    std::optional<int> depth;       ///< K of the panels of A and B in shared memory; unset in families without panels
    std::optional<TileShape> tile;  ///< thread tile, m by n; unset in families whose threads hold one element
    std::optional<int> grid;        ///< most blocks of a grid-stride loop, 0: one per block tile; unset: no loop
    bool along_n = true;            ///< neighbouring threads lie along a row of D, else along a column

    [[nodiscard]] TileShape thread_tile() const { return tile.value_or(TileShape{1, 1, 0}); }
};

/// Everything that follows from signature and tiling. templates/ladder/simt_panels.cuh has the same numbers for shared
/// memory.
struct SimtGeometry {
    TileShape block;  ///< k: of K in shared memory at a time, 0 without shared memory
    TileShape tile;
    int threads_m = 0;  ///< of a block; 0 if the thread tile does not divide the block tile
    int threads_n = 0;
    int threads = 0;
    int warp_m = 0;  ///< threads of a warp along M and along N
    int warp_n = 0;
    bool a_k_major = true;  ///< K is contiguous, in global memory and in shared memory
    bool b_k_major = true;
    int pitch_a = 0;  ///< elements from one row of the panel in shared memory to the next; 0 without shared memory
    int pitch_b = 0;
    std::int64_t shared_bytes = 0;
    int accumulator_registers = 0;
    int fragment_registers = 0;  ///< elements of A and B a thread multiplies at once

    [[nodiscard]] bool uses_shared() const { return block.k > 0; }
    [[nodiscard]] int warps() const { return threads / 32; }
    [[nodiscard]] int registers() const;  ///< per thread, estimated
};

/// It never throws: the constraints report divisions with a remainder.
[[nodiscard]] SimtGeometry simt_geometry(const GemmSignature& signature, const SimtTiling& tiling);

[[nodiscard]] GridRule simt_grid(const SimtTiling& tiling);

}  // namespace jitgemm
