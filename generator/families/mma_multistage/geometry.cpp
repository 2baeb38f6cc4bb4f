#include "generator/families/mma_multistage/geometry.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/swizzle.hpp"
#include "generator/round_up.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kOtherRegisters = 46;  // addresses, predicates, loop state: what ptxas takes beyond fragments

int safe_quotient(int value, int divisor) { return divisor > 0 ? value / divisor : 0; }

int staged_element_bytes(const GemmSignature& signature, const MmaMultistageConfig& config) {
    if (config.epilogue == EpilogueStore::registers) return 0;
    const bool f32 = config.split_k > 1 || signature.c.has_value() || signature.d == DataType::f32;
    return f32 ? 4 : kElementBytes;
}

int output_vector(const GemmSignature& signature, const MmaMultistageConfig& config) {
    return config.splits_in_workspace() ? 4 : signature.align_d / bytes(signature.d);
}

}  // namespace

int MmaMultistageGeometry::registers() const {
    return accumulator_registers + fragment_registers + staging_registers + kOtherRegisters;
}

OperandGeometry operand_geometry(const OperandTraits& traits) {
    OperandGeometry operand;
    operand.k_major = traits.k_major;
    operand.async = traits.may_be_async && widest_cp_async(traits.alignment) != nullptr;
    operand.shifted = !operand.async && traits.alignment < kChunkBytes;
    operand.vector_bytes = operand.async ? traits.alignment : kChunkBytes;
    operand.tile_rows = traits.k_major ? traits.mn_extent : traits.block_k;
    operand.row_bytes = (traits.k_major ? traits.block_k : traits.mn_extent) * kElementBytes;
    operand.pitch_bytes = operand.row_bytes + traits.padding_bytes;
    operand.stage_bytes = bounded_product(operand.tile_rows, operand.pitch_bytes);
    operand.vectors_per_row = operand.row_bytes / operand.vector_bytes;
    const int rows_per_pass = safe_quotient(traits.threads, operand.vectors_per_row);
    operand.passes = ceil_div(operand.tile_rows, rows_per_pass);
    return operand;
}

int staging_registers(const OperandGeometry& operand) {
    constexpr int kVectorRegisters = kChunkBytes / 4;  // two vectors where they have to be shifted
    return operand.async ? 0 : bounded_product(operand.passes, kVectorRegisters, operand.shifted ? 2 : 1);
}

int chunk_offset(const OperandGeometry& operand, SharedLayout layout, int row, int chunk) {
    return layout == SharedLayout::swizzle ? swizzled_offset(operand.row_bytes, row, chunk)
                                           : row * operand.pitch_bytes + chunk * kChunkBytes;
}

MmaMultistageGeometry geometry(const GemmSignature& signature, const MmaMultistageConfig& config) {
    MmaMultistageGeometry g;
    g.warps_m = safe_quotient(config.block.m, config.warp.m);
    g.warps_n = safe_quotient(config.block.n, config.warp.n);
    g.threads = bounded_product(g.warps_m, g.warps_n, 32);
    g.k_steps = safe_quotient(config.block.k, config.mma.k);
    g.tiles_m = safe_quotient(config.warp.m, config.mma.m);
    g.tiles_n = safe_quotient(config.warp.n, config.mma.n);
    const int registers_c = signature.accumulator == DataType::f16 ? 2 : 4;
    g.accumulator_registers = bounded_product(g.tiles_m, g.tiles_n, registers_c);
    const int fragment = bounded_product(config.warp.m + config.warp.n, config.mma.k) / 64;
    g.fragment_registers = fragment * (config.double_buffer ? 2 : 1);
    const int padding = config.shared_layout == SharedLayout::padding ? kChunkBytes : 0;
    g.a = operand_geometry({.k_major = is_k_major(Operand::a, signature.layout),
                            .alignment = packs_a(config.pack) ? kChunkBytes : signature.align_a,
                            .mn_extent = config.block.m,
                            .block_k = config.block.k,
                            .padding_bytes = padding,
                            .threads = g.threads});
    g.b = operand_geometry({.k_major = is_k_major(Operand::b, signature.layout),
                            .alignment = packs_b(config.pack) ? kChunkBytes : signature.align_b,
                            .mn_extent = config.block.n,
                            .block_k = config.block.k,
                            .padding_bytes = padding,
                            .threads = g.threads});
    g.staging_registers = staging_registers(g.a) + staging_registers(g.b);
    g.vector_d = output_vector(signature, config);
    g.pipeline_bytes = static_cast<std::int64_t>(config.stages) * (g.a.stage_bytes + g.b.stage_bytes);
    g.staged_bytes = staged_element_bytes(signature, config);
    const bool whole_tile = config.splits_in_cluster();
    g.staged_pitch = ((whole_tile ? config.block.n : config.warp.n) + 8) * g.staged_bytes;
    const std::int64_t staged_rows = whole_tile ? config.block.m : g.threads / 32 * config.mma.m;
    g.epilogue_bytes = staged_rows * g.staged_pitch;
    g.shared_bytes = std::max(g.pipeline_bytes, g.epilogue_bytes);
    return g;
}

Occupancy occupancy(const MmaMultistageGeometry& g, const Arch& arch) {
    return occupancy({.threads = g.threads,
                      .registers = std::min(g.registers(), arch.max_registers_per_thread),
                      .shared_bytes = g.shared_bytes},
                     arch);
}

int resident_blocks(const MmaMultistageGeometry& g, const Arch& arch) { return occupancy(g, arch).blocks(); }

}  // namespace jitgemm
