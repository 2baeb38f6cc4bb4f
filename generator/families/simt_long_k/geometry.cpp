#include "generator/families/simt_long_k/geometry.hpp"

#include "generator/base/round_up.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <algorithm>
#include <numeric>

namespace jitgemm {
namespace {

constexpr int kLongKFloatBytes = 4;
constexpr int kAddressRegisters = 36;  // addresses, predicates, loop state: what ptxas takes beyond sums and fragments
constexpr int kLanesOfAPhase = 8;      // of a 16-byte access to shared memory

/// Rows of K: the lanes of a phase, neighbouring k first, then neighbouring rows, shall meet every bank once.
int k_major_pitch(const SimtLongKConfig& config) {
    if (config.lanes.k >= kLanesOfAPhase) return config.block_k;
    const int wanted = kLongKQuad * config.lanes.k;
    return config.block_k + ((wanted - config.block_k) % kSharedBanks + kSharedBanks) % kSharedBanks;
}

/// Rows of one k: vectors and pieces are aligned, and lanes that have neighbouring k are an odd number of them apart.
int mn_major_pitch(const SimtLongKConfig& config, const SimtLongKOperand& operand) {
    const int unit = std::max(operand.vector, operand.piece);
    const int units = ceil_div(operand.columns, unit);
    return unit * (config.lanes.k > 1 ? units | 1 : units);
}

int widest_piece(int elements) { return elements % 4 == 0 ? 4 : elements % 2 == 0 ? 2 : 1; }

/// Floats: aligned, and so are tiles that begin where others end.
int widest_vector(int alignment, int columns) {
    return std::gcd(std::clamp(alignment / kLongKFloatBytes, 1, 4), columns);
}

SimtLongKOperand operand_geometry(bool k_major, int thread, int lanes, int alignment, int steps,
                                  const SimtLongKConfig& config) {
    SimtLongKOperand operand;
    operand.k_major = k_major;
    operand.thread = thread;
    operand.lanes = lanes;
    operand.piece = k_major ? 1 : widest_piece(thread);
    operand.rows = k_major ? thread * lanes : config.block_k;
    operand.columns = k_major ? config.block_k : thread * lanes;
    operand.vector = widest_vector(alignment, operand.columns);
    operand.pitch = k_major ? k_major_pitch(config) : mn_major_pitch(config, operand);
    operand.stage_floats = operand.rows * operand.pitch;
    operand.vectors_per_row = ceil_div(operand.columns, operand.vector);
    const int threads = config.warps * kWarpLanes;
    const int parts = ceil_div(operand.vectors_per_row, threads);
    operand.rows_per_pass = operand.vectors_per_row == 0 ? 0 : parts > 1 ? 1 : threads / operand.vectors_per_row;
    operand.passes_per_step = ceil_div(ceil_div(operand.rows, operand.rows_per_pass), steps);
    operand.copies = operand.passes_per_step * parts;
    return operand;
}

}  // namespace

int SimtLongKGeometry::registers() const { return accumulator_registers + fragment_registers + kAddressRegisters; }

SimtLongKGeometry geometry(const GemmSignature& signature, const SimtLongKConfig& config) {
    SimtLongKGeometry g;
    g.threads = config.warps * kWarpLanes;
    const int k_of_a_step = kLongKQuad * config.warps * config.lanes.k;
    g.steps = k_of_a_step > 0 ? config.block_k / k_of_a_step : 0;
    g.a = operand_geometry(order_a(signature.layout) == Order::row, config.thread.m, config.lanes.m, signature.align_a,
                           g.steps, config);
    g.b = operand_geometry(order_b(signature.layout) == Order::column, config.thread.n, config.lanes.n,
                           signature.align_b, g.steps, config);
    const bool some_rows_hold_k = g.a.k_major || g.b.k_major;
    g.pitch_k = some_rows_hold_k ? 1 : config.lanes.k;
    g.lane_pitch = some_rows_hold_k ? kLongKQuad : 1;
    g.accumulator_registers = config.thread.m * config.thread.n;
    g.fragment_registers = 2 * std::min(config.thread.m, config.thread.n);
    g.part_pitch = config.lanes.m * config.lanes.n * (g.accumulator_registers | 1);
    g.pipeline_bytes = std::int64_t{config.stages} * (g.a.stage_floats + g.b.stage_floats) * kLongKFloatBytes;
    g.sums_bytes = std::int64_t{config.warps} * config.lanes.k * g.part_pitch * kLongKFloatBytes;
    g.shared_bytes = std::max(g.pipeline_bytes, g.sums_bytes);
    return g;
}

GridRule long_k_reduce_grid() { return {.tile_m = 1, .tile_n = kWarpLanes}; }

LongKLane long_k_lane(const SimtLongKConfig& config, int lane) {
    const int pair = config.lanes.m > 1 ? 2 : 1;
    const int rest = lane / config.lanes.k;
    return {rest / (pair * config.lanes.n) * pair + rest % pair, rest / pair % config.lanes.n, lane % config.lanes.k};
}

LongKElement long_k_element(const SimtLongKOperand& operand, int place) {
    const int piece = place / operand.piece;
    return {piece % operand.lanes, piece / operand.lanes * operand.piece + place % operand.piece};
}

}  // namespace jitgemm
