#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/sector.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"
#include "generator/families/wgmma_warp_specialized/orientation.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

// Fitted, with those of k_tile_cycles.cpp, to 3,870 timings of 72 problems on an H200 (docs/experiments.md): cycles are of the SM clock.
constexpr double kClockShare = 0.983;           // of the GPU's, that tensor cores leave at work
constexpr double kExposedEpilogueCycles = 750;  // per tile, unless another warpgroup multiplies meanwhile,
constexpr double kEpilogueCycles = 1738;        // per tile of 128x256, in proportion for others;
constexpr double kExposedOverlapCycles = 1170;  // of two halves
constexpr double kOverlapCycles = 2011;
constexpr double kPingpongCycles = 574;    // where another warpgroup multiplies meanwhile
constexpr double kTransposingCycles = 57;  // more, per tile
constexpr double kUsualTile = 128 * 256;
constexpr double kPrologueCycles = 2427;  // up to the first wgmma, and after the last
constexpr double kDramShare = 0.92;
constexpr double kSumExponent = 4.6;  // of what SMs and DRAM take, between their sum (1) and the longer one
constexpr double kLaunchUs = 0.58;
constexpr double kDependentLaunchUs = 0.33;  // hopper's griddepcontrol, 132 blocks of 200 KB
constexpr double kPairUs = 0.19;
constexpr double kLargeClusterUs = 0.42;
constexpr double kPartialBytesPerCycle = 19.6;  // that a block writes or reads of sums that meet in the workspace
constexpr double kMeetingCycles = 1646;         // until they are there
constexpr double kStoreBytesPerCycle = 32.7;
constexpr double kSharedSector = 2.6;  // what D takes longer where tiles share sectors: L2 has to read them first
constexpr double kPowerBoundUs = 200;  // of a launch: from here on energy is time
constexpr double kEnergyPerEdge = 11;  // share of the energy per (1 / block.m + 1 / block.n)
constexpr double kEnergyWithoutMulticast = 0.015;
constexpr double kTurnedShare = 1.003;  // of two alike the one whose D is as it was asked for
constexpr double kUsualEnergy = 1.1;
constexpr double kEnergyExponent = 0.5;

double epilogue_cycles(const Config& c) {
    const double tiles = c.block.m * c.block.n / kUsualTile;
    const double turned = c.swap_ab ? kTransposingCycles : 0;
    switch (c.schedule) {
        case WarpgroupSchedule::pingpong: return kPingpongCycles * tiles + turned;
        case WarpgroupSchedule::overlapped: return kExposedOverlapCycles + kOverlapCycles * tiles + turned;
        default: return kExposedEpilogueCycles + kEpilogueCycles * tiles + turned;
    }
}

double cluster_us(int blocks) { return blocks == 1 ? 0 : blocks == 2 ? kPairUs : kLargeClusterUs; }

/// How much longer D takes to store than whole sectors. Tiles of D^T are whole ones: 64 elements of a row of D each.
double store_slowdown(const GemmSpec& spec, const Config& c) {
    if (c.swap_ab) return 1;
    return c.block.n * bytes(spec.d) % static_cast<int>(kSectorBytes) == 0 || spec.n <= c.block.n ? 1 : kSharedSector;
}

/// Of what the launch would take if power were no limit, on top.
double energy(const Config& c, const WgmmaGeometry& g) {
    const bool larger_is_shared = c.block.m >= c.block.n ? g.a.shares > 1 : g.b.shares > 1;
    return 1 + kEnergyPerEdge * (1.0 / c.block.m + 1.0 / c.block.n) + (larger_is_shared ? 0 : kEnergyWithoutMulticast);
}

/// Cycles of a cluster with stream-K.
double streamed_cycles(const Config& c, const StreamK& deal, double k_tile, double per_tile) {
    const double share = static_cast<double>(deal.streamed) / static_cast<double>(deal.clusters);  // of a tile
    const double partial_bytes = static_cast<double>(c.block.m) * c.block.n * 4;
    const double meetings =
        kMeetingCycles + static_cast<double>(1 + deal.most_partial_sums()) * partial_bytes / kPartialBytesPerCycle;
    const double pieces = std::ceil(share) * epilogue_cycles(c);
    return share * static_cast<double>(deal.k_tiles) * k_tile + pieces + meetings +
           static_cast<double>(deal.whole_tiles_per_cluster()) * per_tile;
}

}  // namespace

CostEstimate WgmmaWarpSpecialized::cost(const GemmSpec& row_major, const Config& c, const GpuModel& gpu) {
    const GemmSpec spec = as_multiplied(row_major, c);
    const WgmmaGeometry g = geometry(as_multiplied(signature_of_resolved(row_major), c), c);
    CostEstimate cost;
    if (g.shared_bytes > gpu.arch->shared_bytes_per_block || g.consumers == 0) return cost;
    cost.blocks_per_sm = 1;
    const StreamK deal = tile_deal(spec, c, gpu);
    const KTileCycles cycles = k_tile_cycles(spec, c, g, deal);
    const int blocks = bounded_product(c.cluster.m, c.cluster.n);
    const double k_tiles = std::max(1.0, std::ceil(static_cast<double>(spec.k) / c.block.k));
    const double slowdown = store_slowdown(row_major, c);
    const double stored = static_cast<double>(c.block.m) * c.block.n * bytes(spec.d) / kStoreBytesPerCycle * slowdown;
    const double per_tile = std::max(k_tiles * cycles.all + epilogue_cycles(c), stored);
    const double us_per_cycle = 1 / (kClockShare * gpu.clock_mhz);
    cost.waves = static_cast<double>(deal.tiles) / static_cast<double>(deal.clusters);
    cost.math_us = us_per_cycle * (deal.streamed != 0 ? streamed_cycles(c, deal, cycles.all, per_tile)
                                                      : std::ceil(cost.waves) * per_tile);
    cost.tail_us = std::max(0.0, cost.math_us - cost.waves * per_tile * us_per_cycle);
    cost.math_unit_us = cost.waves * k_tiles * cycles.multiply * us_per_cycle;
    cost.l2_us = cost.waves * k_tiles * cycles.fetch * us_per_cycle;
    const double d_bytes = static_cast<double>(spec.m) * static_cast<double>(spec.n) * bytes(spec.d);
    cost.dram_us = (compulsory_bytes(spec) + (slowdown - 1) * d_bytes) / (kDramShare * gpu.dram_bytes_per_second) * 1e6;
    cost.overhead_us = (c.dependent_launch ? kDependentLaunchUs : kLaunchUs) + cluster_us(blocks) +
                       (kPrologueCycles + stored) * us_per_cycle;
    cost.total_us =
        cost.overhead_us +
        std::pow(std::pow(cost.math_us, kSumExponent) + std::pow(cost.dram_us, kSumExponent), 1 / kSumExponent);
    if (c.swap_ab) cost.total_us *= kTurnedShare;
    if (cost.total_us > kPowerBoundUs) cost.total_us *= std::pow(energy(c, g) / kUsualEnergy, kEnergyExponent);
    return cost;
}

}  // namespace jitgemm
