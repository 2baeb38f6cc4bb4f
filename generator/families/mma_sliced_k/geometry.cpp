#include "generator/families/mma_sliced_k/geometry.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kElementBytes = 2;
constexpr int kBarrierBytes = 8;
constexpr int kMostVector = 4;  // sums that a thread reads at once

SlicedPanel panel(bool k_major, int rows) {
    SlicedPanel panel;
    panel.k_major = k_major;
    panel.box = {k_major ? kSlicedPanelK : rows, k_major ? rows : kSlicedPanelK};
    panel.line_bytes = bounded_product(panel.box[0], kElementBytes);
    panel.bytes = bounded_product(rows, kSlicedPanelK, kElementBytes);
    return panel;
}

/// Floats of a row of sums, such that the lanes of a warp write to different banks.
int sums_pitch(const MmaSlicedKConfig& c) {
    if (c.swap_ab) return c.block.m + 4;
    return c.block.n % 16 == 0 ? c.block.n + 8 : c.block.n;
}

}  // namespace

SlicedKGeometry geometry(const GemmSignature& asked, const MmaSlicedKConfig& c) {
    const GemmSignature signature = as_multiplied(asked, c.swap_ab);
    const int warps = std::max(c.warps(), 0);
    SlicedKGeometry g;
    g.threads = bounded_product(warps, 32);
    g.of_long = panel(is_k_major(Operand::a, signature.layout), c.block.m);
    g.of_few = panel(is_k_major(Operand::b, signature.layout), c.block.n);
    const int atoms = bounded_product(c.block.m / 16, c.block.n / 8);
    g.accumulator_registers = bounded_product(atoms, signature.accumulator == DataType::f16 ? 2 : 4);
    g.fragment_registers = 4 + bounded_product(c.block.n / 8, 4);
    g.vector_d = std::clamp(signature.align_d / bytes(signature.d), 1, kMostVector);
    g.stage_bytes = std::int64_t{g.of_long.bytes} + g.of_few.bytes;
    g.pipeline_bytes = g.stage_bytes * bounded_product(warps, std::max(c.stages, 0));
    const int rows = c.swap_ab ? c.block.n : c.block.m;
    g.sums_bytes = std::int64_t{4} * bounded_product(warps, rows, sums_pitch(c));
    g.shared_bytes =
        g.pipeline_bytes + g.sums_bytes + std::int64_t{kBarrierBytes} * bounded_product(warps, std::max(c.stages, 0));
    return g;
}

}  // namespace jitgemm
