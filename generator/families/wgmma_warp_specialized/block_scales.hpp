#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/renderer.hpp"
#include "generator/epilogue/graph.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"

#include <array>
#include <string>
#include <vector>

namespace jitgemm {

/// TMA writes the parts of a stage's scales to multiples of this many bytes.
inline constexpr int kScaleSlotBytes = 128;

/// Boxes of a k-tile's scales: the producer copies each by itself.
inline constexpr int kMostScaleBoxes = 4;

/// Scales of blocks of one operand, as wgmmas see it. TMA copies those of a k-tile behind the ring, in boxes. A box is
/// for the rows of the tile, or for a part of them. Where a scale is for 128 rows, that part lies within such a block.
/// Threads copy one scale for each row, or for each such part. If pairs are halves of the product, the scales of all
/// first rows lie before those of the second ones, and each half has boxes of its own.
struct WgmmaScale {
    const EpilogueOperand* operand = nullptr;
    bool is_of_rows = true;       ///< of wgmma's A; else of its B
    bool is_by_block = false;     ///< one scale for 128 rows (columns), else one for each
    bool is_k_contiguous = true;  ///< k-blocks lie side by side in memory
    bool is_by_threads = false;   ///< they copy the scales, and there are no boxes
    bool is_shifted = false;      ///< boxes begin at rows of the tile's first 16 bytes: a group begins at any row
    bool has_problems = false;    ///< of a batch, whose problems may have scales of their own
    EpiloguePairs pairs = EpiloguePairs::none;  ///< rows (columns) that make pairs
    int boxes = 0;
    int step = 0;              ///< rows (columns) of the tile from a box to the next
    std::array<int, 2> box{};  ///< elements that lie side by side in memory, and lines of these
    int bytes = 0;             ///< of a stage, with what is left free

    /// By TMA.
    [[nodiscard]] int copied_bytes() const { return is_by_threads ? 0 : boxes * box[0] * box[1] * 4; }
    /// Bytes in shared memory from the scale of a row (column) to the next.
    [[nodiscard]] int stride() const { return is_k_contiguous && !is_by_threads ? box[0] * 4 : 4; }
    /// The number of parts of a tile. Each part has its own scale in shared memory.
    [[nodiscard]] int parts() const { return is_by_block ? boxes : boxes * step; }
    [[nodiscard]] bool is_in_halves() const { return pairs == EpiloguePairs::halves; }
    /// Whether TMA can copy boxes of these to multiples of kScaleSlotBytes.
    [[nodiscard]] bool has_boxes() const {
        if (pairs == EpiloguePairs::none || is_k_contiguous) return true;
        return !is_by_block && (!is_in_halves() || step * 4 % kScaleSlotBytes == 0);
    }
};

/// Those of a text: of rows first. The signature is the product's as it is multiplied.
[[nodiscard]] std::vector<WgmmaScale> block_scales(const GemmSignature& signature,
                                                   const WgmmaWarpSpecializedConfig& config);

/// Whether TMA can read the scales of the problem's text.
[[nodiscard]] bool has_aligned_scales(const GemmSpec& row_major);

/// Registers of a thread for the scales of a wave that has `wave_columns` columns.
[[nodiscard]] int scale_registers(const std::vector<WgmmaScale>& scales, int wave_columns);

/// The constants of scales.
[[nodiscard]] std::string scale_lines(const std::vector<WgmmaScale>& scales);
/// The statements of templates/wgmma/block_scales.cuh, and those that copy a k-tile's scales. `early`: the producer
/// begins before the previous kernel has ended.
void add_scale_statements(RenderInput& input, const std::vector<WgmmaScale>& scales, bool is_batched, bool early);

}  // namespace jitgemm
