#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/renderer.hpp"
#include "generator/epilogue/epilogue.hpp"
#include "generator/families/shared/reductions.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The way of an operand of the epilogue to the threads that need its elements.
enum class OperandReader : std::uint8_t {
    row_vector,         ///< `[n]`: pairs in the lanes of a warp
    paired_row_vector,  ///< the same where D's columns are pairs: two for each of them
    column_vector,      ///< `[m]`: a thread's own rows
    paired_column,      ///< the same where D^T's rows are pairs: one or two for each of them
    single,             ///< `[0]`: in each thread
    panels,             ///< `[m,n]`: TMA copies it into the ring, after the k-tiles of its tile
    elements            ///< `[m,n]`: a thread reads its pairs from global memory, a slice at a time
};

struct TileOperand {
    EpilogueOperand operand;
    OperandReader reader = OperandReader::elements;
    std::string guard;     ///< a condition, in CUDA; empty: it is always read
    bool by_pair = false;  ///< two neighbours lie at a multiple of their bytes
    bool differs = false;  ///< it has an element for each of the two sums of a pair
};

/// An output beside D.
struct TileOutput {
    EpilogueOutput output;
    bool is_staged = false;  ///< TMA stores it, from slices as D's; else threads store it from registers
    bool by_pair = false;    ///< two neighbours lie at a multiple of their bytes
    bool is_as_d = false;    ///< of D's type
};

/// An output with one element for a block of columns of a row of D.
struct TileBlock {
    std::string name;
    EpilogueReduction made;
    int columns = 0;
    bool is_divisor = false;  ///< all that read it are divided by it
};

/// The function that turns sums of a tile into results.
enum class TileFinish : std::uint8_t {
    by_unit,     ///< render_by_unit: `alpha * acc`, and one operand that beta guards
    by_text,     ///< render_epilogue
    by_element,  ///< finish_element, which reads all operands of an element itself
    by_row       ///< slices hold sums: store_slice finishes them
};

/// How a kernel of wgmma_warp_specialized finishes its sums, as it multiplies: with swap_ab all is transposed.
struct TileOperands {
    TileFinish finish = TileFinish::by_unit;
    std::vector<TileOperand> operands{};        ///< those with an address, in the text's order
    std::vector<TileOutput> outputs{};          ///< beside D
    std::vector<KernelReduction> reductions{};  ///< warps make their parts while they finish sums
    std::vector<TileBlock> blocks{};            ///< a warp reduces those of its rows before it finishes their sums
    bool swap_ab = false;
    EpiloguePairs pairs = EpiloguePairs::none;  ///< columns of the product that make one of D
    bool odd_edges = false;                     ///< a pair's second element may lie beyond D's last column
    bool batched = false;                       ///< a tile belongs to one of many problems
    bool grouped = false;                       ///< which are groups of rows
    bool grouped_by_k = false;                  ///< or which have parts of K
    bool gathered = false;                      ///< an index names the rows of A

    [[nodiscard]] const TileOperand* find(OperandReader reader) const;
    [[nodiscard]] bool has(OperandReader reader) const { return find(reader) != nullptr; }
    [[nodiscard]] bool has_staged_outputs() const;
    [[nodiscard]] bool has_direct_outputs() const;
    /// Whether an element's place in D counts when it is finished.
    [[nodiscard]] bool finishes_by_place() const { return has_direct_outputs() || !reductions.empty(); }
    /// Whether a thread must know where its elements lie in D.
    [[nodiscard]] bool needs_places() const { return finishes_by_place() || !blocks.empty(); }
    /// Whether a part of them is read as soon as a consumer knows its tile.
    [[nodiscard]] bool reads_parts() const;
    [[nodiscard]] bool has_constructor() const { return reads_parts() || needs_places(); }
};

/// Of the signature's text, or of `alpha * acc + beta * c`, with C where the signature has it.
[[nodiscard]] TileOperands tile_operands(const GemmSignature& multiplied, const WgmmaWarpSpecializedConfig& config,
                                         const WgmmaGeometry& geometry);

/// The generated includes tile_operands.inl and panel_operand.inl: `struct TileOperands` of a kernel, and where panels
/// in the ring come from.
void add_tile_operands(RenderInput& input, const TileOperands& operands, const WgmmaWarpSpecializedConfig& config,
                       const WgmmaGeometry& geometry);

/// The generated include tile_outputs.inl: how slices of the outputs beside D are filled and stored.
void add_tile_outputs(RenderInput& input, const TileOperands& operands, const WgmmaGeometry& geometry);

/// Statements that fetch the elements of vectors into L1.
[[nodiscard]] std::string prefetch_vectors(const TileOperands& operands);

}  // namespace jitgemm
