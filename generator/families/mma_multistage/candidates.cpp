#include "generator/base/operand.hpp"
#include "generator/base/promoted_sums.hpp"
#include "generator/families/mma_multistage/cost.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace jitgemm {
namespace {

struct Tile {
    int block_m, block_n, warp_m, warp_n;
};

// Block and warp tiles; each also serves turned around (M and N swapped).
constexpr Tile kTiles[] = {
    {128, 256, 64, 64}, {128, 192, 64, 48}, {128, 128, 64, 64}, {128, 128, 64, 32},
    {128, 64, 64, 32},  {128, 64, 32, 32},  {64, 256, 64, 32},  {64, 256, 32, 64},
    {64, 64, 32, 32},   {64, 32, 32, 16},   {128, 32, 32, 32},  {128, 16, 32, 16},
    {256, 32, 64, 32},  {256, 16, 64, 16},  {32, 32, 16, 16},   {16, 64, 16, 16},
};
// Of one warp or two: for batches whose problems are one tile each. A lone warp takes long to copy a larger tile, so it
// pays only where an SM has many of them.
constexpr Tile kSmallestTiles[] = {{16, 16, 16, 16}, {16, 32, 16, 16}};
constexpr Tile kTileOfAWarp = {32, 32, 32, 32};
constexpr int kManyProblems = 12;            // per SM
constexpr int kRowBytes[] = {64, 128, 256};  // of K in a k-tile
constexpr int kLongRowBytes = 256;           // halves the barriers,
constexpr int kSmallTile = 64 * 128;         // which count where a k-tile is little work
constexpr int kStageCounts[] = {2, 3, 4, 5, 6};
constexpr int kShiftingStageCounts[] = {
    2};  // the vectors of the next k-tile wait in registers: more stages only delay the first
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 56};  // more have no registers to be added up in at once
constexpr int kGroup = 8;
constexpr int kFewBlocks = 160;      // below about a wave, splitting K may pay
constexpr int kShortestSplit = 256;  // of K
constexpr int kSomeWaves = 400;      // blocks; up to here a cluster's splits are cheap enough to even out waves
constexpr int kFewSplits = 4;

MmaMultistageConfig config_of(const Tile& tile, int row_bytes, const GemmSpec& spec) {
    constexpr int kBytesOfMma = 32;  // along K
    const int element_bytes = bytes(spec.a);
    MmaMultistageConfig config;
    config.mma.k = kBytesOfMma / element_bytes;
    config.promote = promoted_k(spec);
    const int block_k = row_bytes / element_bytes;
    const int element_bits = 8 * element_bytes;
    config.block = {tile.block_m, tile.block_n, block_k};
    config.warp = {tile.warp_m, tile.warp_n, block_k};
    const TileShape repetitions{tile.warp_m / config.mma.m, tile.warp_n / config.mma.n, 1};
    const auto widest = [&](Operand operand) {
        return widest_ldmatrix(matrices_8x8(operand, config.mma, repetitions, element_bits));
    };
    if (element_bytes != 4 || is_k_major(Operand::a, spec.layout)) config.ldmatrix_a = widest(Operand::a);
    if (element_bytes != 4 || is_k_major(Operand::b, spec.layout)) config.ldmatrix_b = widest(Operand::b);
    config.group = kGroup;
    return config;
}

bool splitting_may_pay(const GemmSpec& spec, const MmaMultistageConfig& config) {
    if (config.split_k == 1) return true;
    if (spec.k / config.split_k < kShortestSplit) return false;
    const std::int64_t blocks = blocks_of_batch({config.block.m, config.block.n, 1}, spec);
    if (config.splits_in_cluster() && blocks < kSomeWaves && config.split_k <= kFewSplits) return true;
    return blocks * (config.split_k - 1) < std::int64_t{4} * kFewBlocks && blocks < kFewBlocks;
}

/// Packing options: only operands that must be packed, all that are aligned to less than 16 bytes, and all to less than
/// 4. Operands of 8 bits can neither be shifted nor transposed on their way to registers.
std::vector<Pack> packings(const GemmSpec& spec) {
    const auto must_be_packed = [&](bool is_transposed, int alignment) {
        return needs_k_major(spec.a) && (is_transposed || widest_cp_async(alignment) == nullptr);
    };
    const bool must_a = must_be_packed(transposes_a(spec), spec.align_a);
    const bool must_b = must_be_packed(transposes_b(spec), spec.align_b);
    std::vector<Pack> options;
    for (const int below : {0, 16, 4}) {
        const Pack pack = pack_of(must_a || spec.align_a < below, must_b || spec.align_b < below);
        if (std::find(options.begin(), options.end(), pack) == options.end()) options.push_back(pack);
    }
    return options;
}

/// Whether a kernel shifts vectors of an operand in registers, being too little aligned for cp.async.
bool shifts_operands(const GemmSpec& spec, Pack pack) {
    return (!packs_a(pack) && widest_cp_async(spec.align_a) == nullptr) ||
           (!packs_b(pack) && widest_cp_async(spec.align_b) == nullptr);
}

std::span<const int> stage_counts(const GemmSpec& spec, Pack pack) {
    if (shifts_operands(spec, pack)) return kShiftingStageCounts;
    return kStageCounts;
}

/// The ways to add up this number of splits. Larger clusters never won.
std::span<const Reduction> reductions(int splits, const Arch& arch) {
    static constexpr std::array kReductions{Reduction::workspace, Reduction::cluster};
    const bool fit_a_cluster = splits > 1 && splits <= std::min(arch.max_cluster_blocks, kPortableClusterBlocks);
    return std::span(kReductions).first(fit_a_cluster ? 2 : 1);
}

/// Calls `visit(splits, reduction)` for each way to share out K that may pay.
template <typename Visit>
void for_each_split(const GemmSpec& spec, const Arch& arch, MmaMultistageConfig config, Visit visit) {
    for (const int splits : kSplits) {
        config.split_k = splits;
        for (const Reduction reduction : reductions(splits, arch)) {
            config.reduction = reduction;
            if (splitting_may_pay(spec, config)) visit(splits, reduction);
        }
    }
}

double least_us(const Problem& problem, const MmaMultistageConfig& tile, const GpuModel& gpu) {
    const MmaLeastTime least(problem, tile, gpu);
    const int most_stages = stage_counts(problem.row_major(), tile.pack).back();
    double us = std::numeric_limits<double>::infinity();
    for_each_split(problem.row_major(), *gpu.arch, tile, [&](int splits, Reduction reduction) {
        us = std::min(us, least.with(splits, reduction, most_stages));
    });
    return us;
}

void add_tile(std::vector<CandidateGroup<MmaMultistageConfig>>& groups, const Problem& problem, const GpuModel& gpu,
              const Tile& tile) {
    for (const int row_bytes : kRowBytes) {
        if (row_bytes == kLongRowBytes && tile.block_m * tile.block_n > kSmallTile) continue;
        MmaMultistageConfig config = config_of(tile, row_bytes, problem.row_major());
        if (config.promote > config.block.k) continue;
        for (const Pack pack : packings(problem.row_major())) {
            config.pack = pack;
            groups.push_back({least_us(problem, config, gpu), config});
        }
    }
}

/// TMA copies columns by eight pairs, and no wgmma kernel reads a matrix's elements for both columns of a pair.
bool has_pairs_of_wgmma(const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    const EpilogueParts& parts = problem.signature.epilogue->parts();
    return bytes(spec.a) <= 2 && order_b(spec.layout) == Order::column && spec.n % kSumsOfEightPairs == 0 &&
           std::ranges::none_of(parts.operands, [&](const EpilogueOperand& operand) {
               return operand.index.is_matrix() && differs_in_pair(parts, operand);
           });
}

/// Whether TMA reads groups of A and B as they lie.
bool has_groups_of_wgmma(const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    if (copies_a(spec) || copies_b(spec)) return false;  // also where operands are split into parts
    if (has_pairs(problem.signature) && !has_pairs_of_wgmma(problem)) return false;
    return problem.signature.grouped_by_k ? spec.layout == GemmLayout::nt && bytes(spec.a) == 2
                                          : order_a(spec.layout) == Order::row;
}

/// wgmma multiplies s8 1.5 times, f32 in parts four times and 8-bit floats ten times as fast as mma.sync. It serves all
/// problems of 8 bits but those whose D has 8 bits and cut rows, and all of f32 in parts without pairs of columns. It
/// serves no arrays of addresses. Groups are left to it where it serves them: they were not timed in this family.
bool leaves_to_wgmma(const Problem& problem, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    const bool has_whole_rows = size_of_d(spec).columns % kTmaAlignment == 0 && !needs_packing(spec.align_d);
    if (bytes(spec.d) == 1 && !has_whole_rows) return false;
    if (problem.signature.grouped || problem.signature.grouped_by_k)
        return arch.has_wgmma && has_groups_of_wgmma(problem);
    const bool is_served = bytes(spec.a) == 1 || (has_parts(spec) && !has_pairs(problem.signature));
    return is_served && arch.has_wgmma && !spec.pointers;
}

}  // namespace

std::vector<CandidateGroup<MmaMultistageConfig>> MmaMultistage::groups(const Problem& problem, const GpuModel& gpu) {
    std::vector<CandidateGroup<MmaMultistageConfig>> groups;
    if (leaves_to_wgmma(problem, *gpu.arch)) return groups;
    const auto add = [&](const Tile& tile) {
        add_tile(groups, problem, gpu, tile);
        const Tile turned{tile.block_n, tile.block_m, tile.warp_n, tile.warp_m};
        if (turned.block_m != tile.block_m || turned.warp_m != tile.warp_m) add_tile(groups, problem, gpu, turned);
    };
    std::ranges::for_each(kTiles, add);
    const GemmSpec& spec = problem.row_major();
    const auto fits = [&](const Tile& tile) {
        return std::min(spec.m, spec.n) <= tile.block_m && std::max(spec.m, spec.n) <= tile.block_n;
    };
    for (const Tile& tile : kSmallestTiles)
        if (is_batched(spec) && fits(tile)) add(tile);
    if (spec.batch >= std::int64_t{kManyProblems} * gpu.sm_count && fits(kTileOfAWarp)) add(kTileOfAWarp);
    return groups;
}

void MmaMultistage::add_candidates(std::vector<MmaMultistageConfig>& list, const Problem& problem,
                                   const MmaMultistageConfig& tile, const GpuModel& gpu, double limit_us) {
    const GemmSpec& spec = problem.row_major();
    const MmaLeastTime least(problem, tile, gpu);
    for (const int stages : stage_counts(spec, tile.pack)) {
        MmaMultistageConfig config = tile;
        config.stages = stages;
        for_each_split(spec, *gpu.arch, config, [&](int splits, Reduction reduction) {
            if (least.with(splits, reduction, stages) > limit_us) return;
            config.split_k = splits;
            config.reduction = reduction;
            config.dependent_launch = dependent_launch_pays(spec, *gpu.arch);
            list.push_back(config);
        });
    }
}

std::vector<MmaMultistageConfig> MmaMultistage::candidates(const Problem& problem, const GpuModel& gpu) {
    return candidates_of_all_groups<MmaMultistage>(problem, gpu);
}

}  // namespace jitgemm
