#include "generator/families/shared/tensor_core_geometry.hpp"

#include "generator/base/occupancy.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/swizzle.hpp"

namespace jitgemm {
namespace {

constexpr int kOtherRegisters = 46;  // addresses, predicates, loop state: what ptxas takes beyond fragments

}  // namespace

int TensorCoreGeometry::registers() const {
    return accumulator_registers + fragment_registers + staging_registers + kOtherRegisters;
}

OperandGeometry operand_geometry(const OperandTraits& traits) {
    OperandGeometry operand;
    operand.element_bytes = traits.element_bytes;
    operand.k_major = traits.k_major;
    operand.async = traits.may_be_async && widest_cp_async(traits.alignment) != nullptr;
    operand.shifted = !operand.async && traits.alignment < kChunkBytes;
    operand.vector_bytes = operand.async ? traits.alignment : kChunkBytes;
    operand.tile_rows = traits.k_major ? traits.mn_extent : traits.block_k;
    operand.row_bytes = (traits.k_major ? traits.block_k : traits.mn_extent) * traits.element_bytes;
    operand.pitch_bytes = operand.row_bytes + traits.padding_bytes;
    operand.stage_bytes = bounded_product(operand.tile_rows, operand.pitch_bytes);
    operand.vectors_per_row = operand.row_bytes / operand.vector_bytes;
    const int rows_per_pass = quotient_or_zero(traits.threads, operand.vectors_per_row);
    operand.passes = ceil_div(operand.tile_rows, rows_per_pass);
    return operand;
}

int staging_registers(const OperandGeometry& operand) {
    constexpr int kVectorRegisters = kChunkBytes / 4;  // two vectors where they have to be shifted
    return operand.async ? 0 : bounded_product(operand.passes, kVectorRegisters, operand.shifted ? 2 : 1);
}

int chunk_offset(const OperandGeometry& operand, SharedLayout layout, int row, int chunk) {
    const int start = row * operand.pitch_bytes;
    if (layout != SharedLayout::swizzle) return start + chunk * kChunkBytes;
    return loads_words(operand) ? start + swizzled_pair(operand.row_bytes, row, chunk) * kChunkBytes
                                : swizzled_offset(operand.row_bytes, row, chunk);
}

TensorCoreGeometry tiled_geometry(const TileShape& block, const TileShape& warp, const TileShape& mma,
                                  int element_bytes, bool double_buffer) {
    TensorCoreGeometry g;
    g.warps_m = quotient_or_zero(block.m, warp.m);
    g.warps_n = quotient_or_zero(block.n, warp.n);
    g.threads = bounded_product(g.warps_m, g.warps_n, 32);
    g.k_blocks = quotient_or_zero(block.k, mma.k);
    g.tiles_m = quotient_or_zero(warp.m, mma.m);
    g.tiles_n = quotient_or_zero(warp.n, mma.n);
    constexpr int kBytesOfRegister = 4 * 32;  // of all lanes
    const int fragment = bounded_product(warp.m + warp.n, mma.k, element_bytes) / kBytesOfRegister;
    g.fragment_registers = fragment * (double_buffer ? 2 : 1);
    return g;
}

int resident_blocks(const TensorCoreGeometry& g, const Arch& arch) { return estimated_occupancy(g, arch).blocks(); }

}  // namespace jitgemm
