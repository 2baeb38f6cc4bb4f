#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/base/grid_rule.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/simt_hierarchical/config.hpp"

#include <cstdint>

namespace jitgemm {

inline constexpr int kFloatBytes = 4;
inline constexpr int kQuad = 4;  ///< elements of a 16-byte access to shared memory

/// The way of one operand's tile. In shared memory it always has one row per k.
struct SimtOperand {
    bool transposed = false;  ///< global memory has K contiguous: copied element by element
    int vector = 1;           ///< elements a thread copies at once
    int pitch = 0;            ///< floats from one row of shared memory to the next
    int stage_floats = 0;
    int threads_per_row = 0;  ///< of the operand in global memory, that copy a row of the tile together
    int rows = 0;             ///< of the tile in global memory
    int rows_per_pass = 0;    ///< 0 if the threads do not divide into rows
    int passes = 0;
    int copies = 0;  ///< of a thread per k-tile
};

/// Everything that follows from signature and config alone. render.cpp prints the part that the kernel needs.
struct SimtHierarchicalGeometry {
    int warps_m = 0, warps_n = 0, threads = 0;
    int lanes_m = 0, lanes_n = 0;
    SimtOperand a, b;
    int accumulator_registers = 0;
    int fragment_registers = 0;
    int staging_registers = 0;
    int vector_d = 0;  ///< elements the epilogue stores at once
    int pitch_d = 0;   ///< floats from one row of the epilogue's buffers to the next; the buffers overlay the k-tiles
    std::int64_t pipeline_bytes = 0;
    std::int64_t epilogue_bytes = 0;  ///< overlays the stages
    std::int64_t shared_bytes = 0;

    /// An estimate of ptxas's registers, within a few.
    [[nodiscard]] int registers() const;
};

/// It never throws: the constraints report divisions with a remainder.
[[nodiscard]] SimtHierarchicalGeometry geometry(const GemmSignature& signature, const SimtHierarchicalConfig& config);

/// The quad of a lane within its warp tile's first quads: lane bit 0 counts along M, the next bits along N.
struct LaneQuad {
    int m = 0;
    int n = 0;
};
[[nodiscard]] LaneQuad lane_quad(const SimtHierarchicalGeometry& geometry, int lane);

/// One block per tile and split, and a second one for each tile that is cut in two.
[[nodiscard]] GridRule hierarchical_grid(const SimtHierarchicalConfig& config);

}  // namespace jitgemm
