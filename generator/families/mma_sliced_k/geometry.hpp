#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/mma_sliced_k/config.hpp"

#include <array>
#include <cstdint>

namespace jitgemm {

/// The k of a k-tile that one warp takes: lines of 128 bytes, which TMA swizzles.
[[nodiscard]] inline int sliced_panel_k(DataType operands) {
    constexpr int kLineBytes = 128;
    return kLineBytes / bytes(operands);
}

/// The instruction: 16 rows of the long operand by 8 of the other one, 32 bytes of each along K.
[[nodiscard]] inline TileShape sliced_mma(DataType operands) {
    constexpr int kRowBytes = 32;
    return {16, 8, kRowBytes / bytes(operands)};
}

/// A warp's part of an operand's k-tile, as TMA writes it (templates/mma_sliced_k/sliced_k_ring.cuh).
struct SlicedPanel {
    int element_bytes = 0;
    bool k_major = true;
    std::array<int, 2> box{};  ///< elements: along the contiguous extent, and across it
    int line_bytes = 0;        ///< of a line of shared memory, which the swizzle spans
    int bytes = 0;
};

/// The config may break any rule: nonsense gives 0 or a number beyond every limit. render.cpp prints the part that the
/// kernel needs.
struct SlicedKGeometry {
    int warps = 0;  ///< each takes a panel of the k-tile
    int threads = 0;
    int panel_k = 0;
    TileShape mma{};
    SlicedPanel of_long, of_few;
    int accumulator_registers = 0;  ///< per thread
    int fragment_registers = 0;
    int vector_d = 1;                 ///< elements of D that a thread stores at once
    std::int64_t stage_bytes = 0;     ///< of a warp
    std::int64_t pipeline_bytes = 0;  ///< of all warps
    std::int64_t sums_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< barriers included

    /// An estimate of ptxas's registers per thread.
    [[nodiscard]] int registers() const { return accumulator_registers + fragment_registers + 40; }
};

/// Floats of a row of sums. The lanes of a warp then write to different banks.
[[nodiscard]] int sums_pitch(const MmaSlicedKConfig& config);

/// geometry() itself exchanges A and B if the config says swap_ab.
[[nodiscard]] SlicedKGeometry geometry(const GemmSignature& signature, const MmaSlicedKConfig& config);

}  // namespace jitgemm
