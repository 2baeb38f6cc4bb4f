#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/pipeline_choices.hpp"

#include <cstdint>

namespace jitgemm {

/// The way of one operand's tile: from global memory in vectors, into rows of shared memory.
struct OperandGeometry {
    bool k_major = true;  ///< shared memory holds it with K contiguous, as global memory does
    bool async = true;    ///< copies by cp.async, else through registers
    bool shifted = true;  ///< through registers only: aligned loads, shifted into place (alignment below 16 bytes)
    int element_bytes = 0;
    int vector_bytes = 16;
    int tile_rows = 0;    ///< rows of shared memory: M/N extents when K-major, else K
    int row_bytes = 0;    ///< bytes of data in a row
    int pitch_bytes = 0;  ///< row_bytes plus padding
    int stage_bytes = 0;
    int vectors_per_row = 0;
    int passes = 0;  ///< vectors that a thread copies of each tile; 0 if threads do not divide into rows
};

/// Whether fragments of the operand are loaded word by word, not by ldmatrix.
[[nodiscard]] inline bool loads_words(const OperandGeometry& operand) {
    return operand.element_bytes == 4 && !operand.k_major;
}

/// The numbers from which an operand's geometry follows.
struct OperandTraits {
    int element_bytes = 0;
    bool k_major = true;
    int alignment = 16;        ///< bytes
    int mn_extent = 0;         ///< of the block tile: M or N
    int block_k = 0;           ///< and K
    int padding_bytes = 0;     ///< after each row of shared memory
    int threads = 0;           ///< of a block
    bool may_be_async = true;  ///< cp.async may be used if the alignment allows it
};
[[nodiscard]] OperandGeometry operand_geometry(const OperandTraits& traits);

/// 32-bit registers of a thread for its vectors of this operand in flight; 0 with cp.async.
[[nodiscard]] int staging_registers(const OperandGeometry& operand);

/// Byte offset in a stage of a 16-byte chunk of a row of shared memory, as templates/multistage/shared_layout.cuh
/// places it.
[[nodiscard]] int chunk_offset(const OperandGeometry& operand, SharedLayout layout, int row, int chunk);

/// Numbers that follow from the signature and the config of a kernel on tensor cores (mma.sync, wmma).
struct TensorCoreGeometry {
    int warps_m = 0, warps_n = 0, threads = 0;
    int k_blocks = 0;
    int tiles_m = 0, tiles_n = 0;   ///< mma atoms of a warp tile
    int accumulator_registers = 0;  ///< a thread's sums of its warp tile, and partial sums if promoted
    int fragment_registers = 0;     ///< a thread's A and B fragments, double buffering included
    int staging_registers = 0;      ///< a thread's vectors in flight through registers
    OperandGeometry a, b;
    int vector_d = 0;      ///< elements the epilogue stores at once
    int staged_bytes = 0;  ///< of an element in the epilogue's shared memory; 0: stores come from the fragments
    int staged_pitch = 0;  ///< bytes from one of its rows to the next
    std::int64_t pipeline_bytes = 0;
    std::int64_t epilogue_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< the larger of pipeline and epilogue

    /// An estimate of ptxas's registers, within a few.
    [[nodiscard]] int registers() const;
};

/// Numbers that follow from the tiles and the size of an element of A and B: warps, threads, k-blocks, atoms,
/// fragments.
[[nodiscard]] TensorCoreGeometry tiled_geometry(const TileShape& block, const TileShape& warp, const TileShape& mma,
                                                int element_bytes, bool double_buffer);

/// Blocks of this geometry that fit an SM at once, by the estimated registers; 0 if none fits.
[[nodiscard]] int resident_blocks(const TensorCoreGeometry& geometry, const Arch& arch);

}  // namespace jitgemm
