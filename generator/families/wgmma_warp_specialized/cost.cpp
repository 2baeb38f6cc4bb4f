#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/sector.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/norm.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"
#include "generator/families/wgmma_warp_specialized/operand_traffic.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/write_order.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

// Fitted, with those of k_tile_cycles.cpp, to 27,263 kernels timed on an H200 (334 problems) and an H100 (264), see
// docs/lab/cost-models.md: cycles are of the SM clock.
constexpr double kClockShare = 0.953;           // of the GPU's, that tensor cores leave at work
constexpr double kExposedEpilogueCycles = 937;  // per tile, unless another warpgroup multiplies meanwhile,
constexpr double kEpilogueCycles = 2210;        // per tile of 128x256, in proportion for others;
constexpr double kExposedOverlapCycles = 478;   // of two halves
constexpr double kOverlapCycles = 2830;
constexpr double kPingpongCycles = 914;      // where another warpgroup multiplies meanwhile,
constexpr double kLastPingpongCycles = 603;  // and once where none does any more,
constexpr double kExposedPingpongCycles = 1320;
constexpr double kTransposingCycles = 93.1;  // more, per tile
// Where the epilogue reads C from global memory as it goes: a latency per 16 columns of 64 rows. Between 1.3 and 1.4 us each at seven
// problems on an H200 (docs/lab/wgmma.md), not fitted.
constexpr double kReadCCycles = 2400;
// Of a C of one row, per tile: 300 to 370 of three tiles at 8192x8192x512 on an H200, not fitted.
constexpr double kBroadcastCCycles = 330;
// Where it comes through the ring, per tile of 128x256, in proportion for others; a ping-pong's other warpgroup lacks its stages. One row
// takes as much: its boxes have a row of their own and zeros for the rest, and fill the same stages.
constexpr double kRingCCycles = 2500;
constexpr double kPingpongRingCCycles = 6200;
// From when a stage of C is asked for until it is free again, the epilogue between, where DRAM is the limit: once in so many cycles
// the ring gets round, by the elements of a tile; a ping-pong's consumers take turns. (16384x16384x64: tiles of 64x256 with 4 stages
// took 827 us, 128x64 with 8 276, 128x128 with 6 303, cooperative 128x256 309.)
constexpr double kRingRoundCycles = 4000;
constexpr double kRingRoundCyclesPerElement = 0.23;
constexpr double kPingpongRoundCyclesPerElement = 0.5;
constexpr double kUsualTile = 128 * 256;
constexpr double kPrologueCycles = 1520;  // up to the first wgmma, and after the last
constexpr double kDramShare = 0.929;
constexpr double kTpcBytesPerCycle = 64;  // that two SMs take of it, which share a way to L2
constexpr double kSumExponent = 3.49;     // of what SMs and DRAM take, between their sum (1) and the longer one
constexpr double kLaunchUs = 0.58;
constexpr double kDependentLaunchUs = 0.306;  // hopper's griddepcontrol, 132 blocks of 200 KB
/// What it takes less to read all operands before the launch before has ended: 9 % of a mean of 12 us, in trials on an H200 (few rows,
/// eight weight shapes); not fitted.
constexpr double kEarlyUs = 1;
constexpr double kLoneKTileUs = 0.25;           // more, of tiles of one k-tile (49 kernels, docs/lab/cost-models.md)
constexpr double kClusterUs = 0.627;            // of clusters of up to four blocks
constexpr double kLargestClusterUs = 1.02;      // and of eight
constexpr double kPiecesSlowdown = 1.059;       // of k-tiles of pieces in clusters,
constexpr double kLonePiecesSlowdown = 1.1;     // and in blocks alone
constexpr double kPiecesExponent = 2.92;        // of what these and their fetches from DRAM take
constexpr double kMeetingCycles = 666;          // of sums that meet in the workspace,
constexpr double kPartialSumCycles = 1270;      // for each that another cluster left,
constexpr double kLeavingBytesPerCycle = 35.6;  // and what a block writes
constexpr double kTakingBytesPerCycle = 38.5;   // and reads of them
constexpr double kStoreBytesPerCycle = 27.8;
// Row by row, times the alignment of rows, and what a tile's rows take whatever their length: 60 ping-pong kernels of K 16 to 115 with
// tiles of 64x16 to 128x96 on an H100 (docs/lab/wgmma.md).
constexpr double kRowStoreBytesPerCycle = 3.97;
constexpr double kRowStoreCycles = 140;
constexpr double kPackUs = 3;              // of a launch that packs,
constexpr double kDependentPackUs = 1.07;  // of one that begins while the launch before it ends,
constexpr double kPackShare = 0.8;         // and of DRAM's bandwidth what it reads and writes at
constexpr double kSharedSector = 1.44;     // what D takes longer where tiles share sectors: L2 has to read them first
constexpr double kPowerBoundUs = 200;      // of a launch: from here on energy is time
constexpr double kEnergyPerEdge = 29.7;    // share of the energy per (1 / block.m + 1 / block.n)
constexpr double kEnergyWithoutMulticast = 0.061;
constexpr double kPingpongEnergy = 0.881;
constexpr double kOverlappedEnergy = 1.02;
constexpr double kTurnedShare = 1.003;  // of two alike the one whose D is as it was asked for
constexpr double kUsualEnergy = 1.06;
constexpr double kEnergyExponent = 0.389;

double usual_tiles(const Config& c) { return c.block.m * c.block.n / kUsualTile; }

double epilogue_cycles(const Config& c) {
    const double tiles = usual_tiles(c);
    const double turned = c.swap_ab ? kTransposingCycles : 0;
    switch (c.schedule) {
        case WarpgroupSchedule::pingpong: return kPingpongCycles * tiles + turned;
        case WarpgroupSchedule::overlapped: return kExposedOverlapCycles + kOverlapCycles * tiles + turned;
        default: return kExposedEpilogueCycles + kEpilogueCycles * tiles + turned;
    }
}

/// Per tile, that C takes. Where a ping-pong's epilogue reads it, the other warpgroup goes on meanwhile, and reads its own.
double c_cycles(const GemmSpec& spec, const Config& c, const WgmmaGeometry& g) {
    if (!spec.c) return 0;
    if (c.broadcast_c) return kBroadcastCCycles;
    const bool alternates = c.schedule == WarpgroupSchedule::pingpong;
    if (g.c_stages != 0) return (alternates ? kPingpongRingCCycles : kRingCCycles) * usual_tiles(c);
    const double steps = std::ceil(c.warpgroup.n / 16.0) * (static_cast<double>(c.warpgroup.m) / kWgmmaM);
    return kReadCCycles * steps / (alternates ? 2 : 1);
}

/// A tile's share of the rounds of the ring that C's stages are in: a bound where there are few k-tiles and many tiles.
double ring_cycles(const GemmSpec& spec, const Config& c, const WgmmaGeometry& g, double k_tiles, double waves) {
    if (!spec.c || g.c_stages == 0 || waves <= 1) return 0;
    const int halves = c.schedule == WarpgroupSchedule::overlapped ? 2 : 1;
    const double per_element =
        c.schedule == WarpgroupSchedule::pingpong ? kPingpongRoundCyclesPerElement : kRingRoundCyclesPerElement;
    const double elements = static_cast<double>(c.block.m) * c.block.n;
    return (kRingRoundCycles + per_element * elements) * std::min(1.0, (k_tiles + halves * g.c_stages) / c.stages);
}

/// Of the last tile, or of two that end together, which no other warpgroup's multiplying hides.
double last_epilogue_cycles(const Config& c) {
    if (c.schedule != WarpgroupSchedule::pingpong) return 0;
    return kExposedPingpongCycles + kLastPingpongCycles * usual_tiles(c);
}

/// From one tile to the next, where each has blocks of its own: a block begins when another has ended. Not measured.
double between_tiles_cycles(const Config& c, double waves, double stored) {
    return c.persistent || waves <= 1 ? 0 : (std::ceil(waves) - 1) * (kPrologueCycles + stored);
}

double cluster_us(int blocks) { return blocks == 1 ? 0 : blocks <= 4 ? kClusterUs : kLargestClusterUs; }

/// How much longer D takes to store than whole sectors. Tiles of D^T are whole ones: 64 elements of a row of D each.
double store_slowdown(const GemmSpec& spec, const Config& c) {
    if (c.swap_ab) return 1;
    return c.block.n * bytes(spec.d) % static_cast<int>(kSectorBytes) == 0 || spec.n <= c.block.n ? 1 : kSharedSector;
}

/// To store a tile of D, which takes so much longer than whole sectors.
double store_cycles(const GemmSpec& spec, const Config& c, double slowdown) {
    const double tile_bytes = static_cast<double>(c.block.m) * c.block.n * bytes(spec.d) * slowdown;
    if (c.store == OutputStore::tma) return tile_bytes / kStoreBytesPerCycle;
    return kRowStoreCycles + tile_bytes / std::min(kStoreBytesPerCycle, kRowStoreBytesPerCycle * spec.align_d);
}

/// Of what the launch would take if power were no limit, on top.
double energy(const Config& c, const WgmmaGeometry& g) {
    const bool larger_is_shared = c.block.m >= c.block.n ? g.a.shares > 1 : g.b.shares > 1;
    const double schedule = c.schedule == WarpgroupSchedule::pingpong     ? kPingpongEnergy
                            : c.schedule == WarpgroupSchedule::overlapped ? kOverlappedEnergy
                                                                          : 1;
    return schedule * (1 + kEnergyPerEdge * (1.0 / c.block.m + 1.0 / c.block.n) +
                       (larger_is_shared ? 0 : kEnergyWithoutMulticast));
}

/// Cycles of a cluster's pieces and tiles with stream-K, whose k-tiles take so many, those of pieces DRAM so many,
double streamed_cycles(const Config& c, const StreamK& deal, double k_tile, double dram, double per_tile) {
    const double share = static_cast<double>(deal.streamed) / static_cast<double>(deal.clusters);  // of a tile
    const double slowdown = c.cluster.m * c.cluster.n == 1 ? kLonePiecesSlowdown : kPiecesSlowdown;
    return share * static_cast<double>(deal.k_tiles) * norm({k_tile * slowdown, dram}, kPiecesExponent) +
           std::ceil(share) * epilogue_cycles(c) + static_cast<double>(deal.whole_tiles_per_cluster()) * per_tile;
}

/// and after them, until the last sums are together.
double meeting_cycles(const Config& c, const StreamK& deal) {
    if (deal.streamed == 0) return 0;
    const double bytes = static_cast<double>(c.block.m) * c.block.n * 4;
    return kMeetingCycles + bytes / kLeavingBytesPerCycle +
           static_cast<double>(deal.most_partial_sums()) * (kPartialSumCycles + bytes / kTakingBytesPerCycle);
}

/// As TMA sees the problem.
GemmSpec as_packed(GemmSpec spec) {
    if (needs_packing(spec.align_a)) spec.lda = packed_a(spec).pitch();
    if (needs_packing(spec.align_b)) spec.ldb = packed_b(spec).pitch();
    return spec;
}

double dram_bytes_per_us(const GpuModel& gpu) { return kDramShare * gpu.dram_bytes_per_second / 1e6; }

double pack_us(const GemmSpec& spec, const Config& c, const GpuModel& gpu) {
    const Pack pack = pack_for_tma(spec.align_a, spec.align_b);
    if (pack == Pack::none) return 0;
    return (c.dependent_launch ? kDependentPackUs : kPackUs) +
           packing_traffic(spec, pack) / (kPackShare * gpu.dram_bytes_per_second) * 1e6;
}

/// How much longer DRAM's part takes where a single wave leaves SMs without a block. DRAM serves TPCs alike: a block that has one to
/// itself is done in half the time of two that share theirs, and these then have no more than a TPC takes. What the first stages hold
/// is asked for at once.
double uneven_share(const GemmSpec& spec, const StreamK& deal, const Config& c, const GpuModel& gpu) {
    const double tpcs = gpu.sm_count / 2.0;
    const double blocks = static_cast<double>(deal.tiles) * c.cluster.m * c.cluster.n;
    if (deal.streamed != 0 || deal.tiles > deal.clusters || blocks < 1 || spec.k < 1) return 1;
    const double of_all = dram_bytes_per_us(gpu) / static_cast<double>(gpu.clock_mhz);  // per cycle
    const auto cycles_per_byte = [&](double takers) { return 1 / std::min(kTpcBytesPerCycle, of_all / takers); };
    const double both =
        blocks <= tpcs ? cycles_per_byte(blocks) : cycles_per_byte(tpcs) + cycles_per_byte(blocks - tpcs);
    const double later = std::max(0.0, 1 - static_cast<double>(c.stages) * c.block.k / static_cast<double>(spec.k));
    return 1 + later * std::max(0.0, both * of_all / blocks - 1);
}

/// Of the operands, the share that is fetched early.
double early_share(const GemmSpec& spec, const Config& c) {
    const double a = c.early_a ? static_cast<double>(spec.m) : 0;
    const double b = c.early_b ? static_cast<double>(spec.n) : 0;
    return (a + b) / static_cast<double>(std::max<std::int64_t>(1, spec.m + spec.n));
}

/// Of the launch, before the first k-tile and after the last; and to store a tile takes so many cycles.
double overhead_us(const GemmSpec& spec, const Config& c, const StreamK& deal, double stored, double us_per_cycle) {
    return (c.dependent_launch ? kDependentLaunchUs : kLaunchUs) - kEarlyUs * early_share(spec, c) +
           cluster_us(bounded_product(c.cluster.m, c.cluster.n)) + (spec.k > c.block.k ? 0 : kLoneKTileUs) +
           (kPrologueCycles + stored + last_epilogue_cycles(c) + meeting_cycles(c, deal)) * us_per_cycle;
}

}  // namespace

CostEstimate WgmmaWarpSpecialized::cost(const Problem& problem, const Config& c, const GpuModel& gpu) {
    const GemmSpec& row_major = problem.row_major;
    const GemmSpec spec = as_multiplied(as_packed(row_major), c.swap_ab);
    const WgmmaGeometry g = geometry(as_multiplied(problem.signature, c.swap_ab), c);
    CostEstimate cost;
    if (g.shared_bytes > gpu.arch->shared_bytes_per_block || g.consumers == 0) return cost;
    cost.blocks_per_sm = 1;
    const StreamK deal = tile_deal(spec, c, gpu);
    const double k_tiles = std::max(1.0, std::ceil(static_cast<double>(spec.k) / c.block.k));
    const double slowdown = store_slowdown(row_major, c);
    const double us_per_cycle = 1 / (kClockShare * gpu.clock_mhz);
    cost.waves = static_cast<double>(deal.tiles) / static_cast<double>(deal.clusters);
    const double d_bytes = static_cast<double>(spec.m) * static_cast<double>(spec.n) * bytes(spec.d);
    const double longer_written = slowdown - 1 + write_slowdown(spec, c, deal, gpu) - 1;
    const OperandTraffic traffic = operand_traffic(spec, c, deal, gpu);
    const double us_per_byte = 1 / dram_bytes_per_us(gpu);
    cost.dram_us = (compulsory_bytes(spec) + longer_written * d_bytes + traffic.refetched) * us_per_byte;
    cost.dram_us *= uneven_share(spec, deal, c, gpu);
    const double turns = deal.streamed != 0 ? cost.waves : std::ceil(cost.waves);
    const KTileCycles cycles = k_tile_cycles(
        spec, c, g, deal, gpu, operand_bytes(spec) * us_per_byte / us_per_cycle / std::max(1.0, turns * k_tiles));
    const double stored = store_cycles(row_major, c, slowdown);
    const double per_tile = std::max(k_tiles * cycles.all + epilogue_cycles(c) + c_cycles(spec, c, g),
                                     std::max(stored, ring_cycles(spec, c, g, k_tiles, cost.waves)));
    const double streamed_dram = traffic.per_streamed_k_tile * us_per_byte / us_per_cycle;
    cost.math_us = us_per_cycle * (deal.streamed != 0 ? streamed_cycles(c, deal, cycles.all, streamed_dram, per_tile)
                                                      : std::ceil(cost.waves) * per_tile +
                                                            between_tiles_cycles(c, cost.waves, stored));
    cost.tail_us = std::max(0.0, cost.math_us - cost.waves * per_tile * us_per_cycle);
    cost.math_unit_us = cost.waves * k_tiles * cycles.multiply * us_per_cycle;
    cost.l2_us = cost.waves * k_tiles * cycles.fetch * us_per_cycle;
    cost.overhead_us = overhead_us(spec, c, deal, stored, us_per_cycle);
    cost.total_us = cost.overhead_us + norm({cost.math_us, cost.dram_us}, kSumExponent);
    if (c.swap_ab) cost.total_us *= kTurnedShare;
    const double packing_us = pack_us(row_major, c, gpu);
    cost.overhead_us += packing_us;
    cost.total_us += packing_us;
    if (cost.total_us > kPowerBoundUs) cost.total_us *= std::pow(energy(c, g) / kUsualEnergy, kEnergyExponent);
    return cost;
}

}  // namespace jitgemm
