#include "generator/families/simt_hierarchical/geometry.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kOtherRegisters = 30;  // addresses, predicates, loop state: what ptxas takes beyond sums and fragments
// Of threads of few sums, whose unrolled loop holds more addresses: those of 4x4 take 71 to 80.
constexpr int kLeastRegisters = 76;

SimtOperand transposed_operand(int extent, const SimtHierarchicalConfig& config, int threads) {
    SimtOperand operand;
    operand.transposed = true;
    operand.pitch = extent + quotient_or_zero(kSharedBanks, config.k_lanes);
    operand.threads_per_row = config.k_lanes;
    operand.rows = extent;
    operand.rows_per_pass = quotient_or_zero(threads, config.k_lanes);
    operand.passes = ceil_div(extent, operand.rows_per_pass);
    operand.copies = bounded_product(operand.passes, quotient_or_zero(config.block.k, config.k_lanes));
    return operand;
}

SimtOperand straight_operand(int extent, int alignment, const SimtHierarchicalConfig& config, int threads) {
    SimtOperand operand;
    operand.vector = config.copy == CopyPath::async ? std::clamp(alignment / kFloatBytes, 1, kQuad) : 1;
    operand.pitch = extent;
    operand.threads_per_row = extent / operand.vector;
    operand.rows = config.block.k;
    const bool divides = operand.threads_per_row > 0 && threads % operand.threads_per_row == 0;
    operand.rows_per_pass = divides ? threads / operand.threads_per_row : 0;
    operand.passes = ceil_div(config.block.k, operand.rows_per_pass);
    operand.copies = operand.passes;
    return operand;
}

SimtOperand operand_geometry(bool k_major, int extent, int alignment, const SimtHierarchicalConfig& config,
                             int threads) {
    SimtOperand operand =
        k_major ? transposed_operand(extent, config, threads) : straight_operand(extent, alignment, config, threads);
    operand.stage_floats = bounded_product(config.block.k, operand.pitch);
    return operand;
}

}  // namespace

int SimtHierarchicalGeometry::registers() const {
    return std::max(kLeastRegisters, accumulator_registers + fragment_registers + staging_registers + kOtherRegisters);
}

SimtHierarchicalGeometry geometry(const GemmSignature& signature, const SimtHierarchicalConfig& config) {
    SimtHierarchicalGeometry g;
    g.warps_m = quotient_or_zero(config.block.m, config.warp.m);
    g.warps_n = quotient_or_zero(config.block.n, config.warp.n);
    g.threads = bounded_product(g.warps_m, g.warps_n, kWarpLanes);
    g.lanes_m = quotient_or_zero(config.warp.m, config.thread.m);
    g.lanes_n = quotient_or_zero(config.warp.n, config.thread.n);
    g.a =
        operand_geometry(order_a(signature.layout) == Order::row, config.block.m, signature.align_a, config, g.threads);
    g.b = operand_geometry(order_b(signature.layout) == Order::column, config.block.n, signature.align_b, config,
                           g.threads);
    g.accumulator_registers = bounded_product(config.thread.m, config.thread.n);
    g.fragment_registers = (config.thread.m + config.thread.n) * (config.double_buffer ? 2 : 1);
    if (config.copy == CopyPath::registers) g.staging_registers = g.a.copies + g.b.copies;
    const int aligned = config.split_k > 1 ? kQuad : signature.align_d / bytes(signature.d);
    g.vector_d = std::clamp(aligned, 1, kQuad);
    g.pipeline_bytes = std::int64_t{config.stages} * (g.a.stage_floats + g.b.stage_floats) * kFloatBytes;
    if (config.store == EpilogueStore::shared) {
        g.pitch_d = round_up(config.warp.n, kSharedBanks) + kQuad * std::min(g.lanes_n, kQuad);
        const int floats = bounded_product(g.threads / kWarpLanes, g.lanes_m, g.pitch_d);
        g.epilogue_bytes = std::int64_t{kFloatBytes} * floats;
    }
    g.shared_bytes = std::max(g.pipeline_bytes, g.epilogue_bytes);
    return g;
}

LaneQuad lane_quad(const SimtHierarchicalGeometry& g, int lane) {
    if (g.lanes_n == 0) return {};
    return {lane / (2 * g.lanes_n) * 2 + lane % 2, lane / 2 % g.lanes_n};
}

GridRule hierarchical_grid(const SimtHierarchicalConfig& config) {
    GridRule rule{.tile_m = config.block.m, .tile_n = config.block.n, .splits = config.split_k};
    if (config.blocks_per_wave > 0) rule.blocks = RemainderBlocks{config.blocks_per_wave};
    return rule;
}

}  // namespace jitgemm
