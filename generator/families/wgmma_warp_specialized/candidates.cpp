#include "generator/base/operand.hpp"
#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"
#include "generator/families/wgmma_warp_specialized/least_time.hpp"
#include "generator/families/wgmma_warp_specialized/operand_traffic.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"
#include "generator/families/wgmma_warp_specialized/write_order.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

/// Block tiles of one height, whose widths go from one to another in steps of 8, and how their warpgroups share them.
struct TileRange {
    int block_m, warpgroup_m;
    int least_n, most_n;
    WarpgroupSchedule schedule;
};
constexpr TileRange kTileRanges[] = {
    {64, 64, 16, 256, WarpgroupSchedule::pingpong},     {64, 64, 8, 256, WarpgroupSchedule::cooperative},
    {128, 128, 64, 200, WarpgroupSchedule::pingpong},   {128, 64, 16, 256, WarpgroupSchedule::cooperative},
    {192, 64, 64, 200, WarpgroupSchedule::cooperative}, {256, 128, 64, 200, WarpgroupSchedule::overlapped},
};
constexpr int kWidthStep = 8;
constexpr int kLongRowBytes = 2 * kPanelBytes;  // of K in a k-tile, where its tile is short
constexpr int kShortTile = 64 * 64;  // whose k-tile of 64 is over before the producer has issued the next one
constexpr std::array<TileShape, 3> kClusters{{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}};
// With these clusters L2 may still be the limit: fetching a k-tile takes this many times as long as multiplying it.
// Then larger clusters are candidates, too. This is no term of a cost, so it is not fitted.
constexpr double kFetchBound = 1.25;
constexpr std::array<TileShape, 5> kLargeClusters{{{2, 2, 1}, {4, 1, 1}, {1, 4, 1}, {2, 4, 1}, {4, 2, 1}}};
// That a block fetches of a K-major tile of B and multicasts: four blocks that share a tile of eight take longer than
// each with its own (1x4096x14336: 39 us, alone 28).
constexpr int kFewestSharedRows = 8;
constexpr int kFewestStages = 3;
constexpr int kEnoughStages = 4;  // where fetching is no limit: from here on a slice is worth more than a stage
constexpr int kMostSlices = 8;
constexpr int kTilesAlongRows = 16;  // of a group, where tiles walk along rows of D

/// Takes as many stages as fit shared memory beside `least_slices` slices, then as many slices as the rest holds, up to
/// those of a tile.
void fill_shared_memory(const GemmSignature& problem, Config& config, const Arch& arch, int least_slices) {
    config.stages = config.slices = 1;
    const WgmmaGeometry g = geometry(problem, config);
    const std::int64_t per_stage = g.shared_bytes - g.staging_bytes - g.group_bytes;
    const std::int64_t all = arch.shared_bytes_per_block - g.group_bytes;
    const std::int64_t room = all - least_slices * g.staging_bytes;
    config.stages = static_cast<int>(std::clamp<std::int64_t>(room / per_stage, 1, kMostStages));
    const std::int64_t left = all - config.stages * per_stage;
    const int of_tile =
        config.store == OutputStore::shared ? 2 : config.warpgroup.m / kWgmmaM * ceil_div(g.output_n, g.slice_columns);
    config.slices = static_cast<int>(std::min<std::int64_t>(left / g.staging_bytes, std::min(of_tile, kMostSlices)));
}

/// Tiles in flight should share rows of A and columns of B: the group that makes them fetch least.
int best_group(Config config, int clusters) {
    const auto fetched = [&](int group) {
        config.group = group;
        const Panels panels = panels_of(config, clusters);
        return panels.rows + panels.columns;
    };
    int best = 1;
    for (const int group : {2, 4, 8, 16})
        if (fetched(group) < fetched(best)) best = group;
    return best;
}

/// Whether writing D delays the multiplication of scaled blocks. Tiles that run at once should then be neighbours in
/// rows of D. H200, e4m3 4096x32768x512, tiles of 256x128: 145 us in groups of rows, 137 us in groups of columns.
/// Other scales than those that TMA copies were not measured.
bool should_walk_along_rows(const GemmSpec& multiplied, const GemmSignature& signature, const Config& config,
                            const GpuModel& gpu) {
    constexpr std::int64_t kShortK = 2048;
    return has_block_scales(signature) && config.scales == ScaleSource::tma && !signature.grouped &&
           multiplied.k <= kShortK && bytes_of_d(multiplied) > static_cast<double>(gpu.l2_bytes);
}

/// A tile that the next smaller one would do for, too.
bool reaches_beyond(const TileRange& range, int n, const GemmSpec& spec) {
    return range.block_m - kWgmmaM >= spec.m || n - kWidthStep >= spec.n;
}

// Accumulators of warpgroup tiles of 128 rows leave few registers: wider ones than these spill.
constexpr int kWidestInCluster = 192;
constexpr int kWidestStreamed = 176;
constexpr int kWidestOverlappedOfGroups = 176;  // a consumer knows where the last tile's group ends
constexpr int kLeastProducerOfGroupsOfK = 40;   // registers: with 32 or 24 it spills up to five
constexpr int kMostRowsOfThree = 512;           // of a group with scales of blocks
constexpr int kFewestToGather = 32;             // registers of a producer: with 24, ptxas spills
constexpr int kWidestStreamedWithC = 152;
constexpr int kMostStreamedByRow = 128 * 96;      // sums of a warpgroup
constexpr int kWidestStreamedByRowOfThree = 176;  // of three consumers, which have fewer registers each
constexpr int kSpillsInClustersOfThree = 128;     // the one width at which they lack two registers in a cluster with C
// No limit of registers: with C, D stored row by row and stream-K, kernels of more sums are more than three times as
// long as one of aligned operands, and as long to compile.
constexpr int kMostStreamedByRowWithC = 64 * 152;
bool leaves_registers(const Config& c, int widest) { return c.warpgroup.m == kWgmmaM || c.warpgroup.n <= widest; }
constexpr int kWidestWithMatrix = 160;          // where threads read a matrix of a text, a slice ahead
constexpr int kWidestStreamedWithMatrix = 152;  // and with stream-K
// A slice of 8-bit elements has up to 128 columns, so that a thread reads more of a matrix ahead.
constexpr int kWidestStreamedOf8Bits = 128;
constexpr int kWidestStreamedOfThreeOf8Bits = 176;  // of three consumers
constexpr int kWidestStreamedOfIntegers = 144;

// Promoted partial sums take registers, too. The first limit holds in a cluster, with stream-K and with a matrix of the
// epilogue, the second without these.
constexpr int kWidestPromoted = 128;
constexpr int kWidestPromotedAlone = 160;
constexpr int kWidestWithColumnScales = 152;  // one for each column

bool reads_matrix(const GemmSignature& signature) {
    return signature.c || (signature.epilogue && signature.epilogue->counts().matrices != 0);
}

/// The widest tile of 128 rows per warpgroup whose epilogue spills nothing.
int widest(const GemmSignature& signature, const Config& config, bool is_streamed) {
    bool adds_matrix = signature.c.has_value();
    if (config.promote != 0) {
        const bool is_alone = !is_streamed && !reads_matrix(signature) && config.cluster.m * config.cluster.n == 1;
        if (!is_alone) return kWidestPromoted;
        const bool has_column_scales = std::ranges::any_of(
            block_scales(signature, config), [](const WgmmaScale& one) { return !one.is_of_rows && !one.is_by_block; });
        return has_column_scales ? kWidestWithColumnScales : kWidestPromotedAlone;
    }
    if (signature.epilogue && signature.epilogue->counts().matrices != 0) {
        const bool through_ring = geometry(signature, config).c_stages != 0;
        if (epilogue_work(signature, config, through_ring).matrices != 0)
            return !is_streamed              ? kWidestWithMatrix
                   : bytes(signature.d) == 1 ? kWidestStreamedOf8Bits
                                             : kWidestStreamedWithMatrix;
        adds_matrix = through_ring;
    }
    if (!is_streamed) return std::numeric_limits<int>::max();
    if (adds_matrix) return kWidestStreamedWithC;
    return signature.accumulator == DataType::s32 ? kWidestStreamedOfIntegers : kWidestStreamed;
}

// With an output beside D and a matrix that the text reads, wider ones spill.
constexpr int kWidestWithOutput = 176;
constexpr int kWidestWithReductions = 96;  // with several reductions as well
bool reads_and_stores_more(const GemmSignature& signature) {
    if (!signature.epilogue || signature.epilogue->parts().outputs.size() == 1) return false;
    return std::ranges::any_of(signature.epilogue->parts().operands,
                               [](const EpilogueOperand& one) { return one.index.is_matrix(); });
}

constexpr int kMostStreamedInPartsWithMatrix = 64 * 224;  // sums of a warpgroup
// With bf16x6 and tf32x3, of warpgroup tiles of 64 rows; the second one of three consumers.
constexpr int kWidestStreamedInLongParts = 192;
constexpr int kWidestStreamedOfThreeInLongParts = 160;

/// Whether partial sums and the pieces of stream-K take more registers than a consumer has.
bool streamed_parts_spill(const GemmSignature& signature, const Config& config) {
    if (!has_parts(signature)) return false;
    if (reads_matrix(signature) && config.warpgroup.m * config.warpgroup.n > kMostStreamedInPartsWithMatrix)
        return true;
    if (scales_lines(signature) || config.warpgroup.m != kWgmmaM) return false;
    const bool has_three = config.block.m == 3 * config.warpgroup.m;
    return config.warpgroup.n > (has_three ? kWidestStreamedOfThreeInLongParts : kWidestStreamedInLongParts);
}

/// A search for fast candidates of a problem as wgmmas see it.
struct Search {
    const GemmSpec& spec;
    const GemmSignature& signature;
    const GpuModel& gpu;
    LeastTime& least;
    const LeastTime::Tile& tile;
    double limit_us;
    std::vector<Config>& found;
};

/// The config, and where its tiles don't come out even the same with stream-K.
void add_streamed(const Search& search, Config config) {
    const auto& [spec, signature, gpu, least, tile, limit_us, list] = search;
    if (!leaves_registers(config, widest(signature, config, false))) return;
    list.push_back(config);
    if (signature.batched || !leaves_registers(config, widest(signature, config, true))) return;
    const std::int64_t sums = std::int64_t{config.warpgroup.m} * config.warpgroup.n;
    if (bytes(signature.d) == 1 && signature.epilogue && signature.epilogue->counts().matrices != 0 &&
        config.block.m == 3 * config.warpgroup.m && config.warpgroup.n > kWidestStreamedOfThreeOf8Bits)
        return;
    if (streamed_parts_spill(signature, config)) return;
    if (config.store == OutputStore::shared) {
        if (sums > (spec.c ? kMostStreamedByRowWithC : kMostStreamedByRow)) return;
        const bool three = config.block.m == 3 * config.warpgroup.m;
        if (three && config.warpgroup.n > kWidestStreamedByRowOfThree) return;
        const bool in_cluster = config.cluster.m * config.cluster.n > 1;
        if (three && in_cluster && spec.c && config.warpgroup.n == kSpillsInClustersOfThree) return;
    }
    const int blocks = config.cluster.m * config.cluster.n;
    config.stream_k = resident_clusters(gpu, blocks) * blocks;
    for (const std::int64_t choice : stream_k_choices(stream_k(spec, config))) {
        config.stream_k = static_cast<int>(choice) * blocks;
        if (least.with_stream_k(config, tile) <= limit_us) list.push_back(config);
    }
}

/// Whether each block of the cluster should fetch an equal part of the rows of B's tile, which are K's where B is
/// MN-major, and multicast it to those above and below. In pairs, and where D is stored row by row, parts are whole
/// eights of rows: with all widths there would be more candidates, and the tuner would find a good one less often.
bool should_multicast_b(const TileShape& cluster, const Config& c, bool b_k_major) {
    if (!b_k_major) return true;
    if (c.block.n < cluster.m * kFewestSharedRows) return false;
    const bool any_rows = cluster.m * cluster.n > 2 && c.store == OutputStore::tma;
    return any_rows || c.block.n % (cluster.m * kFewestSharedRows) == 0;
}

/// Stages from which on none takes the place of a slice.
int enough_stages(const TileShape& cluster, const Config& c) {
    if (c.store != OutputStore::tma) return kFewestStages;
    return cluster.m * cluster.n > 2 ? kMostStages : kEnoughStages;
}

/// Whether a k-tile is longer than a usual one, so that two stages are enough.
bool has_long_k_tiles(const GemmSignature& signature, const Config& config) {
    if (!has_parts(signature)) return config.block.k * bytes(signature.a) == kLongRowBytes;
    return config.block.k / kGroupOfParts * parts_of_math(signature.math).group_words() > kGroupOfParts;
}

/// The config's block tile in such a cluster, with one or two ways to share out shared memory.
void add_cluster(const Search& search, Config config, const TileShape& cluster) {
    const auto& [spec, signature, gpu, least, tile, limit_us, list] = search;
    const TileIndex tiles = tiles_of(config.block, spec.m, spec.n);
    if (tiles.m < cluster.m || tiles.n < cluster.n) return;
    if (cluster.m * cluster.n > 1 && has_block_scales(signature)) return;
    if (cluster.n > 1 && signature.gathered) return;
    if (cluster.m * cluster.n > 1 && !leaves_registers(config, kWidestInCluster)) return;
    if (signature.grouped && config.schedule == WarpgroupSchedule::overlapped &&
        !leaves_registers(config, kWidestOverlappedOfGroups))
        return;
    if (signature.gathered && geometry(signature, config).producer_registers < kFewestToGather) return;
    const int most = count_of_reductions(signature) > 1 ? kWidestWithReductions : kWidestWithOutput;
    if (reads_and_stores_more(signature) && !leaves_registers(config, most)) return;
    if (!should_multicast_b(cluster, config, is_k_major(Operand::b, signature.layout) || transposes_b(signature)))
        return;
    if (has_pairs(signature)) {
        const int shared = config.swap_ab ? config.block.m / cluster.n : config.block.n / cluster.m;
        if (shared % kSumsOfEightPairs != 0) return;
    }
    // Three consumers, or one slice with a stage more, are 3 to 11 % slower than 128x256 with three stages. Few rows
    // may fill the tiles of three consumers better.
    const bool scaled_groups = signature.grouped && has_block_scales(signature);
    if (scaled_groups && config.block.m == 3 * config.warpgroup.m && spec.m > kMostRowsOfThree) return;
    config.cluster = cluster;
    if (signature.symmetric && !has_squares(config)) return;
    if (least.in_cluster(config, tile, cluster) > limit_us) return;
    config.group = best_group(config, resident_clusters(gpu, cluster.m * cluster.n));
    if (should_walk_along_rows(spec, signature, config, gpu)) {
        config.rasterization = config.swap_ab ? Rasterization::grouped_m : Rasterization::grouped_n;
        config.group = kTilesAlongRows;
    }
    int stages = 0;
    for (const int least_slices : {2, 1}) {  // a slice less may make room for a stage
        if (stages >= enough_stages(cluster, config)) break;
        if (least_slices == 1 && scaled_groups) break;
        fill_shared_memory(signature, config, *gpu.arch, least_slices);
        if (config.stages == stages) break;
        stages = config.stages;
        if (stages < kFewestStages && (stages != 2 || !has_long_k_tiles(signature, config))) continue;
        add_streamed(search, config);
        if (spec.symmetric) continue;
        if (const auto by_row = along_rows(spec, config, gpu)) add_streamed(search, *by_row);
    }
}

/// Whether fetching is the limit even in pairs. What they have of stages doesn't matter.
bool is_bound_by_fetching(const GemmSpec& spec, const GemmSignature& problem, const GpuModel& gpu, Config config) {
    config.cluster = {2, 1, 1};
    const KTileCycles in_pairs = k_tile_cycles(spec, config, geometry(problem, config), tile_deal(spec, config, gpu),
                                               gpu, 0, WgmmaCosts::of(gpu));
    return in_pairs.fetch > kFetchBound * in_pairs.multiply;
}

/// The fields that all candidates share that have this swap_ab.
Config common_fields(const Problem& problem, const GpuModel& gpu, bool swap_ab) {
    const GemmSpec& spec = problem.row_major();
    const GemmSpec multiplied = as_multiplied(spec, swap_ab);
    Config config;
    config.swap_ab = swap_ab;
    // SMs keep the division of L1 of a kernel that a dependent one follows. The large shared memory of the kernel that
    // multiplies would leave the one that splits little L1: H200, nn 693x366x6388, 132 us, without 62.
    config.dependent_launch = !has_parts(spec) && dependent_launch_pays(spec, *gpu.arch);
    const bool knows_tiles = !problem.signature.grouped && !problem.signature.grouped_by_k;
    config.early_a = knows_tiles && config.dependent_launch && multiplied.constant_a && !copies_a(multiplied);
    config.early_b = knows_tiles && config.dependent_launch && multiplied.constant_b && !copies_b(multiplied);
    config.broadcast_c = spec.broadcast_c;
    config.promote = promoted_k(spec);
    if (spec.align_d < 16 || size_of_d(spec).columns * bytes(spec.d) % 16 != 0) config.store = OutputStore::shared;
    return config;
}

/// If k-blocks lie side by side, TMA takes longer for the lines of small tiles than wgmma does, and very long where K
/// is short. Threads copy them faster, but take issue slots from consumers: this costs a tenth where all SMs multiply.
ScaleSource source_of_scales(const Problem& problem, const Config& config) {
    constexpr std::int64_t kShortK = 1024, kFewLines = 128;
    constexpr int kSmallTile = 128 * 128;
    const GemmSpec& spec = problem.row_major();
    if (!has_aligned_scales(spec)) return ScaleSource::threads;
    const bool is_small = config.block.m * config.block.n < kSmallTile;
    const auto is_for_threads = [&](const WgmmaScale& one) {
        if (!one.has_boxes()) return true;
        const std::int64_t lines = one.is_of_rows != config.swap_ab ? spec.m : spec.n;
        return !one.is_by_block && one.is_k_contiguous && (spec.k <= kShortK || (lines <= kFewLines && is_small));
    };
    const bool by_threads = std::ranges::any_of(block_scales(problem.signature, config), is_for_threads);
    return by_threads ? ScaleSource::threads : ScaleSource::tma;
}

bool may_swap_ab(const GemmSpec& spec, const Config& config) {
    return bytes(spec.d) == 2 && !has_parts(spec) && (!spec.c || spec.broadcast_c) && config.store == OutputStore::tma;
}

/// Adds the tiles that are candidates, each with the fields that `config` has.
void add_tiles(std::vector<CandidateGroup<Config>>& groups, const Problem& problem, const GpuModel& gpu,
               Config config) {
    const GemmSpec multiplied = as_multiplied(problem.row_major(), config.swap_ab);
    const bool has_scales = has_block_scales(problem.signature);
    LeastTime least(problem, config, gpu);
    for (const TileRange& range : kTileRanges)
        for (int n = range.least_n; n <= range.most_n; n += kWidthStep) {
            if (has_pairs(problem.signature) && !config.swap_ab && n % kSumsOfEightPairs != 0) continue;
            if (reaches_beyond(range, n, multiplied) && (range.block_m > kWgmmaM || n > range.least_n)) continue;
            config.schedule = range.schedule;
            if (config.promote != 0 && range.schedule == WarpgroupSchedule::overlapped)
                config.schedule = WarpgroupSchedule::cooperative;
            config.block = {range.block_m, n,
                            (range.block_m * n <= kShortTile ? kLongRowBytes : kPanelBytes) / bytes(multiplied.a)};
            if (has_scales) {
                config.block.k = kScaledBlock;
                config.scales = source_of_scales(problem, config);
            }
            config.warpgroup = {range.warpgroup_m, n, config.block.k};
            const WgmmaGeometry g = geometry(problem.signature, config);
            if (g.wave_n == 0) continue;  // no room for partial sums
            if (g.stage_bytes % kSwizzleBytes != 0) continue;
            if (problem.signature.grouped_by_k && g.producer_registers < kLeastProducerOfGroupsOfK) continue;
            if (problem.signature.symmetric && !has_mirrors(config, g)) continue;
            if (std::ranges::any_of(g.scales, [](const WgmmaScale& one) { return one.boxes > kMostScaleBoxes; }))
                continue;
            const int columns_of_d = has_pairs(problem.signature) ? n / 2 : n;
            if (bytes(multiplied.d) == 1 && columns_of_d % kTmaAlignment != 0) continue;
            if (!find_form(problem.signature, n)) continue;
            groups.push_back({least.in_any_cluster(config, least.tile_of(config)), config});
        }
}

}  // namespace

std::vector<CandidateGroup<Config>> WgmmaWarpSpecialized::groups(const Problem& problem, const GpuModel& gpu) {
    std::vector<CandidateGroup<Config>> groups;
    const Config config = common_fields(problem, gpu, false);
    add_tiles(groups, problem, gpu, config);
    if (!problem.signature.grouped && !problem.signature.symmetric && may_swap_ab(problem.row_major(), config))
        add_tiles(groups, problem, gpu, common_fields(problem, gpu, true));
    return groups;
}

void WgmmaWarpSpecialized::add_candidates(std::vector<Config>& list, const Problem& problem, const Config& tile,
                                          const GpuModel& gpu, double limit_us) {
    const GemmSpec multiplied = as_multiplied(problem.row_major(), tile.swap_ab);
    const GemmSignature signature = as_multiplied(problem.signature, tile.swap_ab);
    LeastTime least(problem, tile, gpu);
    const LeastTime::Tile numbers = least.tile_of(tile);
    const Search search{multiplied, signature, gpu, least, numbers, limit_us, list};
    for (const TileShape& cluster : kClusters) add_cluster(search, tile, cluster);
    if (least.in_cluster(tile, numbers, kLargeClusters.front()) > limit_us) return;
    if (!is_bound_by_fetching(multiplied, signature, gpu, tile)) return;
    for (const TileShape& cluster : kLargeClusters) add_cluster(search, tile, cluster);
}

std::vector<Config> WgmmaWarpSpecialized::candidates(const Problem& problem, const GpuModel& gpu) {
    return candidates_of_all_groups<WgmmaWarpSpecialized>(problem, gpu);
}

}  // namespace jitgemm
