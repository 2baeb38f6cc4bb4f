#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/simt_long_k/config.hpp"

#include <cstdint>

namespace jitgemm {

inline constexpr int kLongKQuad = 4;          ///< k that a thread takes at a time
inline constexpr int kLongKReduceWarps = 32;  ///< of a block that adds up the sums of blocks

/// The way of one operand's tile. It has the same rows in shared memory as in global memory: a row holds block_k k of a
/// row or column of a K-major matrix, or the block tile's elements of one k.
struct SimtLongKOperand {
    bool k_major = true;
    int thread = 0;  ///< elements of a thread along M or N
    int lanes = 0;   ///< of a warp along M or N
    int vector = 1;  ///< elements a thread copies at once
    int piece = 1;   ///< neighbours along M or N that a thread loads from shared memory at once
    int rows = 0;    ///< of the tile
    int columns = 0;
    int pitch = 0;  ///< floats from one row to the next
    int stage_floats = 0;
    int vectors_per_row = 0;
    int rows_per_pass = 0;    ///< rows that all threads copy at once
    int passes_per_step = 0;  ///< passes in a step of the k-tile; the copies are spread over the steps
    int copies = 0;           ///< of a thread in a step
};

/// Everything that follows from signature and config alone. render.cpp prints the part that the kernel needs.
/// templates/simt_long_k/simt_long_k_copy.cuh computes passes and parts itself.
struct SimtLongKGeometry {
    int threads = 0;
    int steps = 0;       ///< steps of four k that a thread takes in a k-tile
    int pitch_k = 1;     ///< from one of these four k to the next
    int lane_pitch = 4;  ///< from one lane's first k to the next lane's
    SimtLongKOperand a, b;
    int part_pitch = 0;  ///< floats between the sums of two threads that share the same elements, in shared memory
    std::int64_t pipeline_bytes = 0;
    std::int64_t sums_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< sums overlay the stages
    int accumulator_registers = 0;
    int fragment_registers = 0;

    /// An estimate of ptxas's registers.
    [[nodiscard]] int registers() const;
};

/// It never throws: the constraints report divisions with a remainder.
[[nodiscard]] SimtLongKGeometry geometry(const GemmSignature& signature, const SimtLongKConfig& config);

/// The grid of the second entry: a block has 32 columns of a row of D.
[[nodiscard]] GridRule long_k_reduce_grid();

/// The first element and the first k of a lane within its warp.
struct LongKLane {
    int m = 0;
    int n = 0;
    int k = 0;
};
[[nodiscard]] LongKLane long_k_lane(const SimtLongKConfig& config, int lane);

/// The lane that has the block tile's element `place` along M or N, and the element's index there.
struct LongKElement {
    int lane = 0;
    int element = 0;
};
[[nodiscard]] LongKElement long_k_element(const SimtLongKOperand& operand, int place);

}  // namespace jitgemm
