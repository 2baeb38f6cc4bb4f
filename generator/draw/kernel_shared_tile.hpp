#pragma once

#include "generator/families/shared/anatomy.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/copy_atom.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace jitgemm {

/// A 16-byte chunk whose address a lane gives to ldmatrix.
struct LaneChunk {
    int row = 0;     ///< row of shared memory
    int chunk = 0;   ///< chunk of this row
    int offset = 0;  ///< bytes into the stage
};

/// One operand's tile in a stage of shared memory, and the first ldmatrix that warp 0 issues on it.
struct KernelSharedTile {
    Operand operand = Operand::a;
    bool k_major = true;
    int rows = 0;             ///< of shared memory: M or N when K-major, else K
    int chunks = 0;           ///< 16-byte chunks in a row
    int pitch_bytes = 0;      ///< from one row to the next
    int span_bytes = 0;       ///< bytes within which chunks are permuted; 0: rows are padded instead
    std::vector<int> offset;  ///< bytes into the stage of each chunk, row by row
    LdmatrixChoice ldmatrix;
    std::vector<LaneChunk> lanes;  ///< 32; those from 8·x on repeat the first ones
    Wavefronts wavefronts;         ///< of this ldmatrix

    [[nodiscard]] int offset_of(int row, int chunk) const {
        return offset[static_cast<std::size_t>(row) * static_cast<std::size_t>(chunks) +
                      static_cast<std::size_t>(chunk)];
    }
};

/// The tile of a kernel that has an LdmatrixPipeline.
[[nodiscard]] KernelSharedTile kernel_shared_tile(Operand operand, const KernelAnatomy& anatomy);

/// The first of the four banks of a chunk at this offset: 0, 4 … 28.
[[nodiscard]] int first_bank(int offset);

/// Rows by chunks, coloured by bank, the lanes' chunks outlined; after the first rows the pattern repeats.
[[nodiscard]] std::string shared_tile_html(const KernelSharedTile& tile);

}  // namespace jitgemm
