#include "generator/families/wmma_multistage/family.hpp"

#include "generator/families/mma_multistage/cost.hpp"
#include "generator/families/wmma_multistage/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

struct Tile {
    int block_m, block_n, warp_m, warp_n;
};

constexpr Tile kTiles[] = {
    {256, 128, 64, 64}, {128, 128, 64, 64}, {128, 128, 64, 32}, {128, 64, 32, 32}, {64, 128, 32, 32},
    {64, 64, 32, 32},   {64, 32, 32, 16},   {32, 64, 16, 32},   {32, 32, 16, 16},
};
constexpr int kBlockKs[] = {32, 64};
constexpr int kStageCounts[] = {2, 3};

/// The mma_multistage config with the same tiles and pipeline. It has two stages at least, so that a single buffer is
/// costed as the shallowest pipeline and what nothing hides is added.
MmaMultistageConfig twin_of(const WmmaMultistageConfig& c) {
    MmaMultistageConfig twin;
    twin.block = c.block;
    twin.warp = c.warp;
    twin.stages = std::max(2, c.stages);
    twin.rasterization = c.rasterization;
    twin.group = c.group;
    return twin;
}

double exposed_us(const GemmSpec& spec, const WmmaMultistageConfig& c, double waves, const GpuModel& gpu,
                  const WmmaCosts& costs) {
    if (c.stages > 1) return 0;
    const double k_tiles = std::ceil(static_cast<double>(spec.k) / c.block.k);
    const double cycles = costs["exposed_load_cycles"] + (c.async ? 0 : costs["exposed_store_cycles"]);
    return std::ceil(waves) * k_tiles * cycles / gpu.clock_mhz;
}

}  // namespace

std::vector<WmmaMultistageConfig> WmmaMultistage::candidates(const Problem&, const GpuModel&) {
    std::vector<WmmaMultistageConfig> candidates;
    for (const Tile& tile : kTiles) {
        for (const int block_k : kBlockKs) {
            for (const int stages : kStageCounts) {
                WmmaMultistageConfig config;
                config.block = {tile.block_m, tile.block_n, block_k};
                config.warp = {tile.warp_m, tile.warp_n, block_k};
                config.stages = stages;
                // An H200 ran k-tiles of 64 fastest with two stages, and copies through L1 (docs/lab/mma-sync.md).
                const bool long_block = block_k > WmmaMultistageConfig{}.block.k;
                if (long_block) config.cache = CopyCache::ca;
                if (!long_block || stages == 2) candidates.push_back({config});
            }
        }
    }
    return candidates;
}

CostEstimate WmmaMultistage::cost(const Problem& problem, const WmmaMultistageConfig& c, const GpuModel& gpu,
                                  const WmmaCosts& costs) {
    CostEstimate cost = mma_pipeline_cost(problem, twin_of(c), geometry(problem.signature, c), gpu, MmaCosts::of(gpu));
    const double exposed = exposed_us(problem.row_major(), c, cost.waves, gpu, costs);
    const double longer = c.block.k < 64 ? costs["short_blocks"] : 1;
    cost.total_us += (longer - 1) * cost.math_us;
    cost.math_us = longer * cost.math_us + exposed;
    cost.total_us += exposed;
    return cost;
}

}  // namespace jitgemm
