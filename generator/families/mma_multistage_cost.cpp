#include "generator/families/mma_multistage_cost.hpp"

#include "generator/families/mma_multistage_geometry.hpp"
#include "generator/families/mma_multistage_shared_accesses.hpp"
#include "generator/families/wave_cost.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/roofline.hpp"

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
    {128, 256, 64, 64}, {128, 192, 64, 48}, {128, 128, 64, 64}, {128, 128, 64, 32}, {128, 64, 64, 32},
    {128, 64, 32, 32},  {64, 256, 64, 32},  {64, 256, 32, 64},  {64, 64, 32, 32},   {64, 32, 32, 16},
    {128, 32, 32, 32},  {128, 16, 32, 16},  {256, 32, 64, 32},  {256, 16, 64, 16},  {32, 32, 16, 16},
    {16, 64, 16, 16},   {16, 128, 16, 32},  {256, 64, 64, 32},
};
constexpr int kBlockKs[] = {32, 64};
constexpr int kStageCounts[] = {2, 3, 4, 5, 6};
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr int kGroup = 8;
constexpr int kFewBlocks = 160;      // below about a wave, splitting K may pay
constexpr int kShortestSplit = 256;  // of K

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
    return blocks * (splits - 1) < std::int64_t{4} * kFewBlocks && blocks < kFewBlocks &&
           spec.k / splits >= kShortestSplit;
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

// Fitted to 1,900 timings of 25 problems on an H200 (docs/performance.md says how, and how far off they are). Cycles are of the
// SM clock; bytes a cycle are of one SM.
constexpr double kLaunchUs = 0.98;
constexpr double kReduceUs = 3.25;        // second entry of a split-K kernel
constexpr double kSlabShare = 0.5;        // of the partial sums' bytes that reach DRAM
constexpr double kPackUs = 0.56;          // an entry of its own, on top of its bytes
constexpr double kPrologueCycles = 2190;  // of a block: first k-block from DRAM, ramp-up and drain
constexpr double kF16Accumulator = 0.9;   // time of an mma with f16 sums against f32 sums
constexpr double kLoneWarp = 0.2;         // mma time lost with one warp a scheduler, half with two ...
constexpr double kSharedBytesPerCycle = 169;
constexpr double kL2BytesPerCycle = 53;
constexpr double kSyncCycles = 36;            // barrier and wait of a k-block
constexpr double kBlockLatencyCycles = 73;    // the same, where nothing hides it
constexpr double kStepLatencyCycles = 26;     // ldmatrix and mma of one k-step, dependent
constexpr double kLoadLatencyCycles = 1610;   // of a k-block from L2 or DRAM, shared by the stages on their way
constexpr double kStageJitter = 0.042;        // lost to uneven arrival with one stage on its way, less with more
constexpr double kManyStages = 0.036;         // lost a stage beyond four: L1 shrinks as shared memory grows
constexpr double kTightRegisters = 0.019;     // lost by 64x64 warp tiles with f32 sums at block_tile.k = 64
constexpr double kNarrowCopyCycles = 1.6;     // a cp.async of one warp below 16 bytes
constexpr double kRealignCycles = 20;         // a 16-byte vector of one warp shifted in registers
constexpr double kStoreBytesPerCycle = 15.5;  // epilogue
constexpr double kDramShare = 0.78;           // of the datasheet's bandwidth

double copy_overhead_cycles(const OperandGeometry& operand) {
    const double vectors = static_cast<double>(operand.tile_rows) * operand.vectors_per_row / 32;  // a warp each
    if (!operand.async) return vectors * kRealignCycles;
    return operand.vector_bytes < 16 ? vectors * kNarrowCopyCycles : 0;
}

/// Of one k-block of one block, the cycles that each unit of an SM is busy.
struct UnitCycles {
    double tensor;  ///< at the tensor cores' peak
    double copies;  ///< the same, of instructions for unaligned copies
    double shared;  ///< bank conflicts included
    double l2;
};

UnitCycles unit_cycles(const GemmSignature& signature, const MmaMultistageConfig& c, const MmaMultistageGeometry& g,
                       const Arch& arch) {
    const double sums = signature.accumulator == DataType::f16 ? kF16Accumulator : 1.0;
    const double fill = g.a.stage_bytes + g.b.stage_bytes;
    const double reads = static_cast<double>(g.threads) / 32 * (c.warp.m + c.warp.n) * c.block.k * 2;
    const double conflicts = mma_multistage_conflict_slowdown(signature, c);
    return {.tensor = 2.0 * c.block.m * c.block.n * c.block.k / arch.mma_flops_per_clock * sums,
            .copies = copy_overhead_cycles(g.a) + copy_overhead_cycles(g.b),
            .shared = (reads + fill) * conflicts / kSharedBytesPerCycle,
            .l2 = fill / kL2BytesPerCycle};
}

/// What a k-block takes longer for reasons that no unit's rate explains.
double friction(const GemmSpec& spec, const MmaMultistageConfig& c) {
    const bool tight = c.block.k >= 64 && spec.accumulator != DataType::f16 && c.warp.m * c.warp.n >= 4096;
    return (1 + kManyStages * std::max(0, c.stages - 4)) * (1 + kStageJitter / (c.stages - 1)) *
           (tight ? 1 + kTightRegisters : 1);
}

/// Cycles of one k-block when `resident` blocks share the SM: its units together (the cube root of the sum of cubes: the busiest
/// one leads, others near it get in its way), or the latency of a lone chain, or that of the loads.
double k_block_cycles(const UnitCycles& unit, double friction, const MmaMultistageConfig& c,
                      const MmaMultistageGeometry& g, int resident) {
    const double warps_per_scheduler = std::max(1.0, resident * g.threads / 128.0);
    const double math = unit.tensor * (1 + kLoneWarp / warps_per_scheduler) + unit.copies;
    const double units =
        std::cbrt(math * math * math + unit.shared * unit.shared * unit.shared + unit.l2 * unit.l2 * unit.l2);
    const double throughput = resident * (units + kSyncCycles) * friction;
    const double chain = kBlockLatencyCycles + g.k_steps * kStepLatencyCycles;
    const double loads = (kLoadLatencyCycles + resident * unit.l2) / (c.stages - 1);
    return std::max({throughput, chain, loads});
}

/// Reading and writing an operand once more.
double pack_us(const GemmSpec& spec, Pack pack, const GpuModel& gpu) {
    const auto bytes_of = [](std::int64_t rows, std::int64_t columns) {
        return 2.0 * 2.0 * static_cast<double>(rows) * static_cast<double>(columns);
    };
    double us = 0;
    if (packs_a(pack)) us += kPackUs + bytes_of(spec.m, spec.k) / (kDramShare * gpu.dram_bytes_per_second) * 1e6;
    if (packs_b(pack)) us += kPackUs + bytes_of(spec.n, spec.k) / (kDramShare * gpu.dram_bytes_per_second) * 1e6;
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
    return mma_pipeline_cost(spec, c, geometry(signature(spec), c), gpu);
}

CostEstimate mma_pipeline_cost(const GemmSpec& spec, const MmaMultistageConfig& c, const MmaMultistageGeometry& g,
                               const GpuModel& gpu) {
    const GemmSignature problem = signature(spec);
    CostEstimate cost;
    cost.blocks_per_sm = resident_blocks(g, *gpu.arch);
    if (cost.blocks_per_sm == 0) return cost;

    const auto blocks = static_cast<double>(block_count({c.block.m, c.block.n, c.split_k}, spec.m, spec.n));
    const double k_blocks = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block.k) / c.split_k);
    const UnitCycles unit = unit_cycles(problem, c, g, *gpu.arch);
    const double store_bytes = static_cast<double>(c.block.m) * c.block.n * (c.split_k > 1 ? 4 : bytes(spec.d));
    const auto wave_cycles = [&](int resident) {
        if (resident == 0) return 0.0;
        return k_blocks * k_block_cycles(unit, friction(spec, c), c, g, resident) + kPrologueCycles +
               resident * store_bytes / kStoreBytesPerCycle;
    };
    add_waves(cost, blocks, gpu, wave_cycles);

    // Each unit alone, its work spread over all SMs.
    const double us_per_cycle = 1 / static_cast<double>(gpu.clock_mhz);
    const double k_blocks_per_sm = blocks * k_blocks / gpu.sm_count;
    cost.tensor_us = k_blocks_per_sm * unit.tensor * us_per_cycle;
    cost.shared_us = k_blocks_per_sm * unit.shared * us_per_cycle;
    cost.l2_us = k_blocks_per_sm * unit.l2 * us_per_cycle;
    const double slab_bytes =
        c.split_k > 1 ? 2.0 * c.split_k * static_cast<double>(spec.m) * static_cast<double>(spec.n) * 4 : 0;
    cost.dram_us = (compulsory_bytes(spec) + kSlabShare * slab_bytes) / (kDramShare * gpu.dram_bytes_per_second) * 1e6;
    cost.overhead_us = kLaunchUs + (c.split_k > 1 ? kReduceUs : 0) + pack_us(spec, c.pack, gpu);
    cost.total_us = cost.overhead_us + std::max({cost.math_us, cost.l2_us, cost.dram_us});
    return cost;
}

}  // namespace jitgemm
