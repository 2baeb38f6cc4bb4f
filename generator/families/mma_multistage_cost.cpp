#include "generator/families/mma_multistage_cost.hpp"

#include "generator/families/mma_multistage_geometry.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

// ---- candidates -----------------------------------------------------------------------------------------------------

struct Tile {
    int block_m, block_n, warp_m, warp_n;
};

// Block and warp tiles; each also serves turned around (M and N traded).
constexpr Tile kTiles[] = {
    {128, 256, 64, 64}, {128, 192, 64, 48}, {128, 128, 64, 64}, {128, 128, 64, 32}, {128, 64, 64, 32}, {128, 64, 32, 32},
    {64, 256, 64, 32},  {64, 256, 32, 64},  {64, 64, 32, 32},   {64, 32, 32, 16},   {128, 32, 32, 32}, {128, 16, 32, 16},
    {256, 32, 64, 32},  {256, 16, 64, 16},  {32, 32, 16, 16},   {16, 64, 16, 16},   {16, 128, 16, 32}, {256, 64, 64, 32},
};
constexpr int kBlockKs[] = {32, 64};
constexpr int kStageCounts[] = {2, 3, 4, 5, 6};
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr int kGroup = 8;
constexpr int kFewBlocks = 160;              // below about a wave, splitting K may pay
constexpr int kShortestSplit = 256;          // of K

MmaMultistageConfig config_of(const Tile& tile, int block_k) {
    MmaMultistageConfig config;
    config.block = {tile.block_m, tile.block_n, block_k};
    config.warp = {tile.warp_m, tile.warp_n, block_k};
    const TileShape repetitions{tile.warp_m / config.mma.m, tile.warp_n / config.mma.n, 1};
    config.ldmatrix_a = widest_ldmatrix(matrices_8x8(Operand::a, config.mma, repetitions));
    config.ldmatrix_b = widest_ldmatrix(matrices_8x8(Operand::b, config.mma, repetitions));
    config.group = kGroup;
    return config;
}

bool splitting_may_pay(const GemmSpec& spec, const MmaMultistageConfig& config, int splits) {
    if (splits == 1) return true;
    const std::int64_t blocks = block_count({config.block.m, config.block.n, 1}, spec.m, spec.n);
    return blocks * (splits - 1) < 4 * kFewBlocks && blocks < kFewBlocks && spec.k / splits >= kShortestSplit;
}

/// Packing options: none, every operand below 16 bytes, and those that can't even be copied by cp.async.
std::vector<Pack> packings(const GemmSpec& spec) {
    std::vector<Pack> options{Pack::none};
    for (const int below : {16, 4}) {
        const bool a = spec.align_a < below;
        const bool b = spec.align_b < below;
        const Pack pack = a && b ? Pack::ab : a ? Pack::a : b ? Pack::b : Pack::none;
        if (std::find(options.begin(), options.end(), pack) == options.end()) options.push_back(pack);
    }
    return options;
}

void add_variants(std::vector<KernelConfig>& candidates, const GemmSpec& spec, const Tile& tile) {
    const std::vector<Pack> packs = packings(spec);
    for (const int block_k : kBlockKs) {
        MmaMultistageConfig config = config_of(tile, block_k);
        for (const int stages : kStageCounts) {
            config.stages = stages;
            for (const int splits : kSplits) {
                if (!splitting_may_pay(spec, config, splits)) continue;
                config.split_k = splits;
                for (const Pack pack : packs) {
                    config.pack = pack;
                    candidates.push_back({config});
                }
            }
        }
    }
}

// ---- cost -----------------------------------------------------------------------------------------------------------

// Fixed costs and rates, from measurements on an H200 (docs/performance.md); cycles at the SM clock unless named otherwise.
constexpr double kLaunchUs = 2.0;
constexpr double kReduceUs = 2.5;            // second entry of a split-K kernel, on top of its bytes
constexpr double kPrologueCycles = 1600;     // first k-block from DRAM, ramp-up of the pipeline
constexpr double kSharedBytesPerCycle = 128;
constexpr double kL2BytesPerCycleSm = 40;
constexpr double kStepLatencyCycles = 70;    // ldmatrix and mma of one k-step, dependent, with one warp a scheduler
constexpr double kBlockLatencyCycles = 60;   // barrier and wait of one k-block
constexpr double kNarrowCopyCycles = 3;      // an extra narrow cp.async of one warp
constexpr double kPackUs = 1.5;              // an entry of its own, on top of its bytes
constexpr double kRealignCycles = 36;        // shifting one 16-byte vector, a warp
constexpr double kStoreBytesPerCycle = 24;   // epilogue, an SM

double copy_overhead_cycles(const OperandGeometry& operand) {
    const double vectors = static_cast<double>(operand.tile_rows) * operand.vectors_per_row / 32;    // a warp each
    if (!operand.async) return vectors * kRealignCycles;
    return operand.vector_bytes < 16 ? vectors * kNarrowCopyCycles : 0;
}

/// Cycles of one k-block of one block when `resident` blocks share the SM: the busiest unit, or the latency of a lone chain.
double k_block_cycles(const MmaMultistageConfig& c, const MmaMultistageGeometry& g, const Arch& arch, int resident) {
    const double math = 2.0 * c.block.m * c.block.n * c.block.k / arch.mma_flops_per_clock;
    const double fill = g.a.stage_bytes + g.b.stage_bytes;
    const double reads = static_cast<double>(g.threads / 32) * (c.warp.m + c.warp.n) * c.block.k * 2;
    const double shared = (reads + fill) / kSharedBytesPerCycle;
    const double copies = copy_overhead_cycles(g.a) + copy_overhead_cycles(g.b);
    const double warps_per_scheduler = std::max(1.0, resident * g.threads / 128.0);
    const double throughput = resident * std::max({math * (1 + 0.35 / warps_per_scheduler) + copies, shared, fill / kL2BytesPerCycleSm});
    const double latency = kBlockLatencyCycles + g.k_steps * kStepLatencyCycles;
    return std::max(throughput, latency);
}

/// Bytes that must come from DRAM at least once, outputs included.
double dram_bytes(const GemmSpec& spec) {
    const auto m = static_cast<double>(spec.m);
    const auto n = static_cast<double>(spec.n);
    const auto k = static_cast<double>(spec.k);
    const double c = spec.c ? m * n * bytes(*spec.c) : 0;
    return m * k * bytes(spec.a) + k * n * bytes(spec.b) + m * n * bytes(spec.d) + c;
}

/// Reading and writing an operand once more.
double pack_us(const GemmSpec& spec, Pack pack, const GpuModel& gpu) {
    const auto bytes_of = [](std::int64_t rows, std::int64_t columns) { return 2.0 * 2.0 * static_cast<double>(rows) * static_cast<double>(columns); };
    double us = 0;
    if (packs_a(pack)) us += kPackUs + bytes_of(spec.m, spec.k) / gpu.dram_bytes_per_second * 1e6;
    if (packs_b(pack)) us += kPackUs + bytes_of(spec.n, spec.k) / gpu.dram_bytes_per_second * 1e6;
    return us;
}

}  // namespace

std::vector<KernelConfig> mma_multistage_candidates(const GemmSpec& spec, const Arch&) {
    std::vector<KernelConfig> candidates;
    for (const Tile& tile : kTiles) {
        add_variants(candidates, spec, tile);
        const Tile turned{tile.block_n, tile.block_m, tile.warp_n, tile.warp_m};
        if (turned.block_m != tile.block_m || turned.warp_m != tile.warp_m) add_variants(candidates, spec, turned);
    }
    return candidates;
}

CostEstimate mma_multistage_cost(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu) {
    const auto& c = std::get<MmaMultistageConfig>(config.family);
    const MmaMultistageGeometry g = geometry(signature(spec), c);
    CostEstimate cost;
    cost.blocks_per_sm = resident_blocks(g, *gpu.arch);
    if (cost.blocks_per_sm == 0) return cost;

    const auto blocks = static_cast<double>(block_count({c.block.m, c.block.n, c.split_k}, spec.m, spec.n));
    const double k_blocks = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block.k) / c.split_k);
    const double slots = static_cast<double>(gpu.sm_count) * cost.blocks_per_sm;
    cost.waves = blocks / slots;

    // Full waves run with every SM full; the blocks left over spread out, fewer on an SM.
    const double full_waves = std::floor(cost.waves);
    const double left = blocks - full_waves * slots;
    const int resident_last = static_cast<int>(std::ceil(left / gpu.sm_count));
    const double store_bytes = static_cast<double>(c.block.m) * c.block.n * (c.split_k > 1 ? 4 : bytes(spec.d));
    const auto wave_cycles = [&](int resident) {
        if (resident == 0) return 0.0;
        return k_blocks * k_block_cycles(c, g, *gpu.arch, resident) + kPrologueCycles + resident * store_bytes / kStoreBytesPerCycle;
    };
    const double hz = gpu.clock_mhz * 1e6;
    cost.math_us = (full_waves * wave_cycles(cost.blocks_per_sm) + wave_cycles(resident_last)) / hz * 1e6;

    const double operand_bytes = blocks * k_blocks * (g.a.stage_bytes + g.b.stage_bytes);
    cost.l2_us = operand_bytes / (kL2BytesPerCycleSm * gpu.sm_count * hz) * 1e6;
    const double slab_bytes = c.split_k > 1 ? 2.0 * c.split_k * static_cast<double>(spec.m) * static_cast<double>(spec.n) * 4 : 0;
    cost.dram_us = (dram_bytes(spec) + slab_bytes) / gpu.dram_bytes_per_second * 1e6;
    cost.overhead_us = kLaunchUs + (c.split_k > 1 ? kReduceUs : 0) + pack_us(spec, c.pack, gpu);
    cost.total_us = cost.overhead_us + std::max({cost.math_us, cost.l2_us, cost.dram_us});
    return cost;
}

}  // namespace jitgemm
