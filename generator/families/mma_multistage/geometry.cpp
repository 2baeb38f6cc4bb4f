#include "generator/families/mma_multistage/geometry.hpp"

#include "generator/families/mma_multistage/block_scales.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr bool kDoubleBuffer = true;  // fragments of the next k-block are loaded before the mma of the current one

int staged_element_bytes(const GemmSignature& signature, const MmaMultistageConfig& config) {
    return stages_sums(signature, config) ? bytes(DataType::f32) : bytes(signature.d);
}

int output_vector(const GemmSignature& signature, const MmaMultistageConfig& config) {
    return config.splits_in_workspace() ? 4 : signature.align_d / bytes(signature.d);
}

OperandGeometry operand_of(Operand operand, const GemmSignature& signature, const MmaMultistageConfig& config,
                           int threads) {
    const bool is_a = operand == Operand::a;
    const bool packed = is_a ? packs_a(config.pack) : packs_b(config.pack);
    return operand_geometry({.element_bytes = bytes(is_a ? signature.a : signature.b),
                             .k_major = needs_k_major(signature.a) || (packed && signature.a == DataType::f32) ||
                                        is_k_major(operand, signature.layout),
                             .alignment = packed ? kChunkBytes
                                          : is_a ? signature.align_a
                                                 : signature.align_b,
                             .mn_extent = is_a ? config.block.m : config.block.n,
                             .block_k = config.block.k,
                             .padding_bytes = config.shared_layout == SharedLayout::padding ? kChunkBytes : 0,
                             .threads = threads});
}

}  // namespace

bool stages_sums(const GemmSignature& signature, const MmaMultistageConfig& config) {
    return config.split_k > 1 || signature.c || signature.epilogue || bytes(signature.d) == 1 ||
           has_exact_sums(signature);
}

TensorCoreGeometry geometry(const GemmSignature& signature, const MmaMultistageConfig& config) {
    TensorCoreGeometry g = tiled_geometry(config.block, config.warp, config.mma, bytes(signature.a), kDoubleBuffer);
    const int atom_registers = signature.accumulator == DataType::f16 ? 2 : 4;
    const int registers_c = config.promote == 0 ? atom_registers : 2 * atom_registers;  // with partial sums
    g.accumulator_registers =
        bounded_product(g.tiles_m, g.tiles_n, registers_c) + block_scale_registers(signature, config);
    if (signature.a == DataType::f32) g.fragment_registers += g.fragment_registers / 2 * parts_in_registers(signature);
    g.a = operand_of(Operand::a, signature, config, g.threads);
    g.b = operand_of(Operand::b, signature, config, g.threads);
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

}  // namespace jitgemm
