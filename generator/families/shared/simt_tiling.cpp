#include "generator/families/shared/simt_tiling.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kSimtOtherRegisters = 27;  // addresses, extents, loop state: what ptxas takes beyond sums and fragments

int safe_quotient(int value, int divisor) { return divisor > 0 && value % divisor == 0 ? value / divisor : 0; }

/// Rows along K where K is contiguous: as many as the block tile is wide. Else kBlockK rows along M or N.
std::int64_t panel_elements(bool k_major, int pitch, int extent, int block_k) {
    return std::int64_t{pitch} * (k_major ? extent : block_k);
}

void add_panels(SimtGeometry& g) {
    g.pitch_a = g.a_k_major ? g.block.k : g.block.m;
    g.pitch_b = g.b_k_major ? g.block.k + 1 : g.block.n;
    g.shared_bytes = (panel_elements(g.a_k_major, g.pitch_a, g.block.m, g.block.k) +
                      panel_elements(g.b_k_major, g.pitch_b, g.block.n, g.block.k)) *
                     kPanelElementBytes;
}

}  // namespace

int SimtGeometry::registers() const { return accumulator_registers + 2 * fragment_registers + kSimtOtherRegisters; }

SimtGeometry simt_geometry(const GemmSignature& signature, const SimtTiling& tiling) {
    SimtGeometry g;
    g.block = {tiling.block.m, tiling.block.n, tiling.depth.value_or(0)};
    g.tile = tiling.thread_tile();
    g.threads_m = safe_quotient(g.block.m, g.tile.m);
    g.threads_n = safe_quotient(g.block.n, g.tile.n);
    g.threads = bounded_product(g.threads_m, g.threads_n);
    const int fast = std::min(tiling.along_n ? g.threads_n : g.threads_m, kWarpLanes);
    const int slow = fast > 0 ? kWarpLanes / fast : 0;
    g.warp_m = tiling.along_n ? slow : fast;
    g.warp_n = tiling.along_n ? fast : slow;
    g.a_k_major = is_k_major(Operand::a, signature.layout);
    g.b_k_major = is_k_major(Operand::b, signature.layout);
    if (g.uses_shared()) add_panels(g);
    g.accumulator_registers = bounded_product(g.tile.m, g.tile.n);
    g.fragment_registers = g.tile.m + g.tile.n;
    return g;
}

GridRule simt_grid(const SimtTiling& tiling) {
    GridRule rule{.tile_m = tiling.block.m, .tile_n = tiling.block.n};
    if (tiling.grid.value_or(0) > 0) rule.blocks = CappedBlocks{*tiling.grid};
    return rule;
}

}  // namespace jitgemm
