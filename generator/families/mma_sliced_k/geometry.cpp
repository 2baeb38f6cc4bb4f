#include "generator/families/mma_sliced_k/geometry.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kBarrierBytes = 8;
constexpr int kMostVector = 4;  // sums that a thread reads at once

SlicedPanel panel(bool k_major, int element_bytes, int rows, int panel_k) {
    SlicedPanel panel;
    panel.element_bytes = element_bytes;
    panel.k_major = k_major;
    panel.box = {k_major ? panel_k : rows, k_major ? rows : panel_k};
    panel.line_bytes = bounded_product(panel.box[0], element_bytes);
    panel.bytes = bounded_product(rows, panel_k, element_bytes);
    return panel;
}

}  // namespace

int sums_pitch(const MmaSlicedKConfig& c) {
    if (c.swap_ab) return c.block.m + 4;
    return c.block.n % 16 == 0 ? c.block.n + 8 : c.block.n;
}

SlicedKGeometry geometry(const GemmSignature& asked, const MmaSlicedKConfig& c) {
    const GemmSignature signature = as_multiplied(asked, c.swap_ab);
    SlicedKGeometry g;
    g.panel_k = sliced_panel_k(signature.a);
    g.mma = sliced_mma(signature.a);
    g.warps = std::max(c.block.k / g.panel_k, 0);
    g.threads = bounded_product(g.warps, 32);
    g.of_long = panel(is_k_major(Operand::a, signature.layout), bytes(signature.a), c.block.m, g.panel_k);
    g.of_few = panel(is_k_major(Operand::b, signature.layout), bytes(signature.b), c.block.n, g.panel_k);
    const int atoms = bounded_product(c.block.m / g.mma.m, c.block.n / g.mma.n);
    g.accumulator_registers = bounded_product(atoms, signature.accumulator == DataType::f16 ? 2 : 4);
    g.fragment_registers = 4 + bounded_product(c.block.n / g.mma.n, 4);
    g.vector_d = std::clamp(signature.align_d / bytes(signature.d), 1, kMostVector);
    g.stage_bytes = std::int64_t{g.of_long.bytes} + g.of_few.bytes;
    g.pipeline_bytes = g.stage_bytes * bounded_product(g.warps, std::max(c.stages, 0));
    const int rows = c.swap_ab ? c.block.n : c.block.m;
    g.sums_bytes = std::int64_t{4} * bounded_product(g.warps, rows, sums_pitch(c));
    g.shared_bytes =
        g.pipeline_bytes + g.sums_bytes + std::int64_t{kBarrierBytes} * bounded_product(g.warps, std::max(c.stages, 0));
    return g;
}

}  // namespace jitgemm
