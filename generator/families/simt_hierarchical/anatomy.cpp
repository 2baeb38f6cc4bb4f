#include "generator/base/round_up.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/families/shared/split_k.hpp"
#include "generator/families/simt_hierarchical/family.hpp"
#include "generator/families/simt_hierarchical/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

constexpr int kQuadBytes = kQuad * kFloatBytes;

/// Writes of one operand's tile by all threads, pass by pass.
SharedAccess copy_access(Operand name, const SimtOperand& operand, const Config& c, int threads) {
    const bool async = c.copy == CopyPath::async;
    SharedAccess access;
    access.what = fmt::format("{} {}", async ? "cp.async" : "st.shared", to_string(name));
    access.instruction = fmt::format("{} of {} bytes", async ? "cp.async" : "st.shared", operand.vector * kFloatBytes);
    if (operand.rows_per_pass == 0) return access;
    const int steps = operand.transposed ? c.block.k / c.k_lanes : 1;
    for (int pass = 0; pass < operand.passes; ++pass)
        for (int step = 0; step < steps; ++step)
            for (int first = 0; first < threads; first += kWarpLanes) {
                const LaneAddresses addresses = lane_addresses([&](int lane) {
                    const int row = (first + lane) / operand.threads_per_row + pass * operand.rows_per_pass;
                    const int along = (first + lane) % operand.threads_per_row * operand.vector;
                    if (row >= operand.rows) return kInactiveLane;
                    const int k = operand.transposed ? along + step * c.k_lanes : row;
                    const int element = operand.transposed ? row : along;
                    return (k * operand.pitch + element) * kFloatBytes;
                });
                add_instruction(access, vector_wavefronts(operand.vector * kFloatBytes, addresses));
            }
    if (access.wavefronts > access.ideal)
        access.reason = fmt::format("rows of {} floats, and a warp writes {} rows at once", operand.pitch,
                                    std::max(1, kWarpLanes / operand.threads_per_row));
    return access;
}

/// Loads of one operand's fragments by all warps, in all k of a k-tile.
SharedAccess fragment_access(Operand name, const Config& c, const SimtHierarchicalGeometry& g) {
    const bool is_a = name == Operand::a;
    const int quads = (is_a ? c.thread.m : c.thread.n) / kQuad;
    SharedAccess access;
    access.what = fmt::format("ld.shared {}", to_string(name));
    access.instruction = fmt::format("ld.shared of {} bytes", kQuadBytes);
    const LaneAddresses addresses = lane_addresses([&](int lane) {
        const LaneQuad quad = lane_quad(g, lane);
        return (is_a ? quad.m : quad.n) * kQuadBytes;
    });
    // Quads, warps and rows only add multiples of 16 bytes to all lanes' addresses alike.
    add_instruction(access, load_wavefronts(kQuadBytes, addresses), quads * c.block.k * g.warps_m * g.warps_n);
    return access;
}

/// Of the epilogue's buffers by all warps: quads written, rows of D read.
std::array<SharedAccess, 2> buffer_accesses(const Config& c, const SimtHierarchicalGeometry& g) {
    const int rows = c.thread.m * g.warps_m * g.warps_n;  // of sums of all warps' threads
    SharedAccess write;
    write.what = "st.shared D";
    write.instruction = fmt::format("st.shared of {} bytes", kQuadBytes);
    add_instruction(write, vector_wavefronts(kQuadBytes, lane_addresses([&](int lane) {
                                                 const LaneQuad quad = lane_quad(g, lane);
                                                 return quad.m * g.pitch_d * kFloatBytes + quad.n * kQuadBytes;
                                             })),
                    rows * (c.thread.n / kQuad));
    const int bytes = g.vector_d * kFloatBytes;
    SharedAccess read;
    read.what = "ld.shared D";
    read.instruction = fmt::format("ld.shared of {} bytes", bytes);
    for (int j = 0; j < c.thread.n; j += g.vector_d)
        add_instruction(read,
                        load_wavefronts(bytes, lane_addresses([&](int lane) {
                                            const int element = j * kWarpLanes + lane * g.vector_d;
                                            return (element / c.warp.n * g.pitch_d + element % c.warp.n) * kFloatBytes;
                                        })),
                        rows);
    return {write, read};
}

OperandPath path_of(Operand name, const SimtOperand& operand, const Config& c) {
    OperandPath path;
    path.operand = name;
    path.k_major = false;  // as it lies in shared memory
    path.copy = fmt::format("{} of {} bytes", c.copy == CopyPath::async ? "cp.async" : "loads and st.shared",
                            operand.vector * kFloatBytes);
    path.place = operand.transposed
                     ? fmt::format(
                           "rows of one k, padded to {} floats, so that the {} k a warp writes at once meet "
                           "different banks",
                           operand.pitch, c.k_lanes)
                     : fmt::format("rows of one k, {} floats", operand.pitch);
    path.width_reason = "fragments by ld.shared of 16 bytes: four neighbours along M or N";
    path.trans_reason =
        operand.transposed
            ? "K is contiguous in global memory, so the tile is transposed on its way, element by element"
            : "M or N is contiguous in global memory, as the rank-1 updates want it";
    return path;
}

}  // namespace

KernelAnatomy SimtHierarchical::anatomy(const Problem& problem, const SimtHierarchicalConfig& c) {
    const SimtHierarchicalGeometry g = geometry(problem.signature, c);
    KernelAnatomy anatomy = anatomy_of(g, c.block, c.warp, {c.thread.m, c.thread.n, 1}, "fma.rn.f32");
    anatomy.stages = c.stages;
    anatomy.split_k = c.split_k;
    anatomy.blocks_per_wave = c.blocks_per_wave;
    anatomy.remainder_tiles = remainder_tiles(problem.row_major(), c.block, c.blocks_per_wave);
    anatomy.raster_group = c.group;
    anatomy.needs_whole_tiles = !c.predicated;
    anatomy.k_run = c.k_lanes;
    anatomy.stage_bytes = std::int64_t{g.a.stage_floats + g.b.stage_floats} * kFloatBytes;
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.epilogue_bytes;
    anatomy.operands = {path_of(Operand::a, g.a, c), path_of(Operand::b, g.b, c)};
    anatomy.accesses = {copy_access(Operand::a, g.a, c, g.threads), copy_access(Operand::b, g.b, c, g.threads),
                        fragment_access(Operand::a, c, g), fragment_access(Operand::b, c, g)};
    if (c.store == EpilogueStore::shared)
        std::ranges::move(buffer_accesses(c, g), std::back_inserter(anatomy.accesses));
    return anatomy;
}

std::vector<std::string> SimtHierarchical::discouraged(const Problem& problem, const SimtHierarchicalConfig& c) {
    const SimtHierarchicalGeometry g = geometry(problem.signature, c);
    return conflict_reasons({copy_access(Operand::a, g.a, c, g.threads), copy_access(Operand::b, g.b, c, g.threads)});
}

ElementOwner SimtHierarchical::owner(const Problem& problem, const SimtHierarchicalConfig& c, std::int64_t row,
                                     std::int64_t column) {
    const SimtHierarchicalGeometry g = geometry(problem.signature, c);
    ElementOwner owner = tile_owner(c, c.block, c.warp, problem.row_major(), row, column);
    const int quad_m = static_cast<int>(row % c.warp.m) / kQuad;
    const int quad_n = static_cast<int>(column % c.warp.n) / kQuad;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        const LaneQuad quad = lane_quad(g, lane);
        if (quad.m == quad_m % g.lanes_m && quad.n == quad_n % g.lanes_n) owner.lane = lane;
    }
    const int i = quad_m / g.lanes_m * kQuad + static_cast<int>(row % kQuad);
    const int j = quad_n / g.lanes_n * kQuad + static_cast<int>(column % kQuad);
    owner.accumulator_register = i * c.thread.n + j;
    return owner;
}

}  // namespace jitgemm
