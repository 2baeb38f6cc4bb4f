#include "generator/families/shared/simt_constraints.hpp"

#include "generator/families/shared/constraint_checks.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <fmt/format.h>

#include <bit>

namespace jitgemm {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxThreadTile = 16;
constexpr int kFirstComputeCapability = 80;

bool is_float(DataType type) { return is_half(type) || type == DataType::f32; }

void check_divides(Reasons& reasons, char name, int block, int tile) {
    if (tile < 1 || tile > kMaxThreadTile)
        reasons.push_back(fmt::format("thread_tile.{} = {} is outside 1 to {}", name, tile, kMaxThreadTile));
    else if (block < 1 || block % tile != 0)
        reasons.push_back(
            fmt::format("block_tile.{0} = {1} is not a positive multiple of thread_tile.{0} = {2}", name, block, tile));
}

void check_threads(Reasons& reasons, const SimtGeometry& g) {
    if (g.threads_m == 0 || g.threads_n == 0) return;  // said already
    if (g.threads > kMaxThreads || g.threads % kWarpLanes != 0)
        reasons.push_back(fmt::format("{} x {} = {} threads per block: not whole warps of {}, or more than {}",
                                      g.threads_m, g.threads_n, g.threads, kWarpLanes, kMaxThreads));
}

/// The threads of a warp are a rectangle of D, or, where they are to lie along a column, nothing but that.
void check_warp(Reasons& reasons, const SimtGeometry& g, bool along_n) {
    const bool whole_warps = (along_n ? g.threads_n : g.threads_m) % kWarpLanes == 0;
    if (!along_n && !whole_warps)
        reasons.push_back(fmt::format("{} threads along M are no multiple of {}: a warp would not be a column of D",
                                      g.threads_m, kWarpLanes));
    if (along_n && !whole_warps && !std::has_single_bit(static_cast<unsigned>(g.threads_n)))
        reasons.push_back(
            fmt::format("{} threads along N: neither a power of two nor a multiple of {}", g.threads_n, kWarpLanes));
}

/// So that a warp reads one row of the panel of A and 32 neighbours of B's, and copies 32 neighbours of either: every
/// access to shared memory is one wavefront.
void check_panels(Reasons& reasons, const SimtGeometry& g) {
    if (g.threads_n % kWarpLanes != 0)
        reasons.push_back(
            fmt::format("{} threads along N are no multiple of the {} of a warp, whose accesses to "
                        "shared memory would then conflict",
                        g.threads_n, kWarpLanes));
    if (g.block.k <= 0 || g.block.k % kWarpLanes != 0)
        reasons.push_back(fmt::format(
            "{} of K in shared memory is no positive multiple of {}, as many as a warp copies", g.block.k, kWarpLanes));
}

void check_shared(Reasons& reasons, const SimtGeometry& g, const Arch& arch) {
    if (g.shared_bytes <= arch.shared_bytes_per_block) return;
    const int most = (arch.shared_bytes_per_block / kPanelElementBytes - g.block.n) / (g.block.m + g.block.n);
    reasons.push_back(fmt::format(
        "the panels of A ({} x {}) and B ({} x {}) take {} bytes of shared memory in f32, {} has {}: {} of K would fit",
        g.block.m, g.block.k, g.block.k, g.block.n, g.shared_bytes, arch.name, arch.shared_bytes_per_block,
        most / kWarpLanes * kWarpLanes));
}

void check_registers(Reasons& reasons, const SimtGeometry& g, const Arch& arch) {
    if (g.registers() > arch.max_registers_per_thread)
        reasons.push_back(fmt::format("about {} registers per thread ({} sums, {} fragments), the most is {}",
                                      g.registers(), g.accumulator_registers, g.fragment_registers,
                                      arch.max_registers_per_thread));
    else if (std::int64_t{g.registers()} * g.threads > arch.registers_per_sm)
        reasons.push_back(fmt::format("about {} registers x {} threads exceed the {} of an SM", g.registers(),
                                      g.threads, arch.registers_per_sm));
}

}  // namespace

Reasons simt_unsupported(std::string_view family, const GemmSpec& spec, const Arch& arch) {
    Reasons reasons;
    if (!is_float(spec.a) || spec.a != spec.b)
        reasons.push_back(fmt::format("{} multiplies f32 by f32, f16 by f16 or bf16 by bf16, not {} by {}", family,
                                      to_string(spec.a), to_string(spec.b)));
    if (spec.accumulator != DataType::f32)
        reasons.push_back(fmt::format("{} adds up in f32, not {}", family, to_string(spec.accumulator)));
    check_outputs(reasons, family, spec);
    if (arch.compute_capability < kFirstComputeCapability)
        reasons.push_back(
            fmt::format("{} is generated for sm_{} and newer, not {}", family, kFirstComputeCapability, arch.name));
    return reasons;
}

Reasons simt_violations(const Problem& problem, const SimtTiling& tiling, const Arch& arch) {
    Reasons reasons;
    const TileShape tile = tiling.thread_tile();
    check_divides(reasons, 'm', tiling.block.m, tile.m);
    check_divides(reasons, 'n', tiling.block.n, tile.n);
    if (!reasons.empty()) return reasons;  // nothing else can be computed
    const SimtGeometry g = simt_geometry(problem.signature, tiling);
    check_threads(reasons, g);
    check_warp(reasons, g, tiling.along_n);
    if (tiling.depth) check_panels(reasons, g);
    if (g.uses_shared()) check_shared(reasons, g, arch);
    check_registers(reasons, g, arch);
    check_grid(reasons, problem.row_major(), simt_grid(tiling));
    return reasons;
}

}  // namespace jitgemm
