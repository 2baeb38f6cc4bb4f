#include "generator/families/wmma_multistage/geometry.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kShiftRegisters = 12;  // a thread's, to shift vectors of one operand into place

OperandGeometry operand_of(Operand operand, const GemmSignature& signature, const WmmaMultistageConfig& config,
                           int threads) {
    const bool is_a = operand == Operand::a;
    const int element_bytes = bytes(is_a ? signature.a : signature.b);
    return operand_geometry({.element_bytes = element_bytes,
                             .k_major = is_k_major(operand, signature.layout),
                             .alignment = is_a ? signature.align_a : signature.align_b,
                             .mn_extent = is_a ? config.block.m : config.block.n,
                             .block_k = config.block.k,
                             .padding_bytes = config.padding * element_bytes,
                             .threads = threads,
                             .may_be_async = config.async});
}

int registers_on_the_way(const OperandGeometry& operand) {
    return staging_registers(operand) + (operand.shifted ? kShiftRegisters : 0);
}

}  // namespace

TensorCoreGeometry geometry(const GemmSignature& signature, const WmmaMultistageConfig& config) {
    // f16 fragments hold everything twice by name, but ptxas keeps one copy.
    TensorCoreGeometry g =
        tiled_geometry(config.block, config.warp, config.mma, bytes(signature.a), config.double_buffer);
    g.staged_bytes = bytes(signature.accumulator);
    g.accumulator_registers = bounded_product(config.warp.m, config.warp.n) / 32 * g.staged_bytes / 4;
    g.a = operand_of(Operand::a, signature, config, g.threads);
    g.b = operand_of(Operand::b, signature, config, g.threads);
    g.staging_registers = registers_on_the_way(g.a) + registers_on_the_way(g.b);
    g.vector_d = signature.align_d / bytes(signature.d);
    g.pipeline_bytes = static_cast<std::int64_t>(config.stages) * (g.a.stage_bytes + g.b.stage_bytes);
    g.staged_pitch = (config.warp.n + 8) * g.staged_bytes;
    g.epilogue_bytes = static_cast<std::int64_t>(g.threads) / 32 * config.mma.m * g.staged_pitch;
    g.shared_bytes = std::max(g.pipeline_bytes, g.epilogue_bytes);
    return g;
}

}  // namespace jitgemm
