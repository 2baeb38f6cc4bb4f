#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/simt_long_k/cost.hpp"
#include "generator/families/simt_long_k/family.hpp"
#include "generator/families/simt_long_k/geometry.hpp"

#include <algorithm>
#include <set>

namespace jitgemm {
namespace {

constexpr int kMostWarps = 16;
constexpr int kMostResident = 4;
constexpr int kMostOfATile = 64;  // along M or N
constexpr int kMostThreadSums = 128;
constexpr int kLeastStageBytes = 8 << 10;
constexpr int kMostStageBytes = 68 << 10;
constexpr int kLongestBlockK = 2048;
constexpr int kInFlightBytes = 72 << 10;  // of an SM: what hides DRAM's latency, with some to spare
constexpr int kDeepestPipeline = 8;
constexpr int kSmallestDeepPipeline = 3;  // stages

/// Elements along M or N that a thread may have so that `lanes` of them cover a tile's extent: as few as possible, or a
/// few more that come in pairs or quads.
std::set<int> thread_extents(std::int64_t extent, int lanes, bool k_major) {
    const std::int64_t tiles = std::max<std::int64_t>(1, (extent + kMostOfATile - 1) / kMostOfATile);
    const int least = static_cast<int>((extent + tiles * lanes - 1) / (tiles * lanes));
    if (k_major) return {least};
    return {least, (least + 1) / 2 * 2, (least + 3) / 4 * 4};
}

/// Stages enough to hide DRAM's latency where they fit.
int stages_for(SimtLongKConfig config, const GemmSignature& problem, const Arch& arch) {
    config.stages = 1;
    const std::int64_t stage = std::max<std::int64_t>(geometry(problem, config).pipeline_bytes, 1);
    const std::int64_t room = arch.shared_bytes_per_sm / config.min_blocks_per_sm - arch.shared_reserved_per_block;
    const std::int64_t fitting = std::min<std::int64_t>(room, arch.shared_bytes_per_block) / stage;
    const std::int64_t wanted = 1 + (kInFlightBytes / config.min_blocks_per_sm + stage - 1) / stage;
    return static_cast<int>(
        std::min<std::int64_t>({fitting, std::max<std::int64_t>(wanted, kSmallestDeepPipeline), kDeepestPipeline}));
}

/// As many blocks as run at once, or fewer where that many leave some of them a k-tile more than others.
std::set<int> splits_for(const GemmSpec& spec, const SimtLongKConfig& config, const GpuModel& gpu) {
    const GridRule grid{.tile_m = config.block().m, .tile_n = config.block().n};
    const std::int64_t tiles = std::max<std::int64_t>(1, block_count(grid, spec));
    const std::int64_t k_tiles = std::max<std::int64_t>(1, (spec.k + config.block_k - 1) / config.block_k);
    const std::int64_t most =
        std::clamp<std::int64_t>(std::int64_t{gpu.sm_count} * config.min_blocks_per_sm / tiles, 1, k_tiles);
    const std::int64_t rounds = (k_tiles + most - 1) / most;
    return {static_cast<int>(most), static_cast<int>((k_tiles + rounds - 1) / rounds)};
}

/// Adds the configs that may take at most `limit_us` and differ from `config` in the length of k-tiles alone.
void add_depths(std::vector<SimtLongKConfig>& candidates, const Problem& problem, const GpuModel& gpu,
                SimtLongKConfig config, double limit_us) {
    const int step = kLongKQuad * config.warps * config.lanes.k;
    for (config.block_k = std::max(step, 32); config.block_k <= kLongestBlockK; config.block_k *= 2) {
        const int stage_bytes = 4 * (config.block().m + config.block().n) * config.block_k;
        const bool is_small = stage_bytes < kLeastStageBytes && 2 * config.block_k <= kLongestBlockK;
        if (is_small) continue;
        if (stage_bytes * config.min_blocks_per_sm > kMostStageBytes) break;
        config.stages = stages_for(config, problem.signature, *gpu.arch);
        if (config.stages < 2) break;
        for (const int splits : splits_for(problem.row_major(), config, gpu)) {
            config.split_k = splits;
            if (long_k_least_us(problem, config, gpu) <= limit_us) candidates.push_back(config);
        }
    }
}

/// The tiles of threads that lanes share out in this way.
void add_threads(std::vector<CandidateGroup<SimtLongKConfig>>& groups, const Problem& problem, const GpuModel& gpu,
                 TileShape lanes) {
    const GemmSpec& spec = problem.row_major();
    SimtLongKConfig config;
    config.lanes = lanes;
    config.dependent_launch = dependent_launch_pays(spec, *gpu.arch);
    for (const int thread_m : thread_extents(spec.m, lanes.m, order_a(spec.layout) == Order::row))
        for (const int thread_n : thread_extents(spec.n, lanes.n, order_b(spec.layout) == Order::column)) {
            if (thread_m > kMostThreadElements || thread_n > kMostThreadElements) continue;
            if (thread_m * thread_n > kMostThreadSums) continue;
            config.thread = {thread_m, thread_n, 1};
            groups.push_back({long_k_least_us_of_tile(problem, config, gpu), config});
        }
}

}  // namespace

std::vector<CandidateGroup<SimtLongKConfig>> SimtLongK::groups(const Problem& problem, const GpuModel& gpu) {
    std::vector<CandidateGroup<SimtLongKConfig>> groups;
    for (int m = 1; m <= kWarpLanes; m *= 2)
        for (int n = 1; m * n <= kWarpLanes; n *= 2) add_threads(groups, problem, gpu, {m, n, kWarpLanes / (m * n)});
    return groups;
}

void SimtLongK::add_candidates(std::vector<SimtLongKConfig>& list, const Problem& problem, const SimtLongKConfig& tile,
                               const GpuModel& gpu, double limit_us) {
    SimtLongKConfig config = tile;
    for (config.warps = 4; config.warps <= kMostWarps; config.warps *= 2)
        for (config.min_blocks_per_sm = 1; config.min_blocks_per_sm <= kMostResident; ++config.min_blocks_per_sm)
            add_depths(list, problem, gpu, config, limit_us);
}

std::vector<SimtLongKConfig> SimtLongK::candidates(const Problem& problem, const GpuModel& gpu) {
    return candidates_of_all_groups<SimtLongK>(problem, gpu);
}

}  // namespace jitgemm
