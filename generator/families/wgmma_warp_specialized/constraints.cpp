#include "generator/families/wgmma_warp_specialized/family.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/tensor_map.hpp"
#include "generator/epilogue/block_scales.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/tensor_core_constraints.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr std::int64_t kLargestPitch = 1LL << 40;  // bytes
constexpr int kMaxSlices = 16;
constexpr int kMinStages = 2;
constexpr int kMaxStages = 16;
constexpr int kLoadingScratch = 56;   // of a consumer that loads A, beside its fragments: with fewer ptxas spills,
constexpr int kStreamedScratch = 64;  // and of one that walks over the pieces of stream-K, too

bool has_16_bits(const GemmSpec& spec) { return bytes(spec.a) == 2; }

/// The operand, or its copy if it has one.
void check_tma_operand(Reasons& reasons, std::string_view name, bool is_copied, std::int64_t pitch,
                       const PackedOperand& copy) {
    const std::int64_t bytes = (is_copied ? copy.pitch() : pitch) * copy.element_bytes;
    if (bytes >= kLargestPitch)
        reasons.push_back(
            fmt::format("{}'s rows are {} bytes apart: TMA needs a pitch below {}", name, bytes, kLargestPitch));
}

/// Of the operands that TMA may read, or of their copies.
void check_batch_strides(Reasons& reasons, const GemmSpec& spec) {
    for (const GemmOperand& operand : gemm_operands(spec)) {
        const bool is_copied = (operand.name == "a" && copies_a(spec)) || (operand.name == "b" && copies_b(spec));
        const std::int64_t farthest = std::max(operand.batch_stride, operand.outer_stride);
        const std::int64_t stride = is_copied ? packed_bytes(spec) : farthest * bytes(operand.type);
        if (operand.matrices() > 1 && stride >= kLargestPitch)
            reasons.push_back(fmt::format("matrices of {} are {} bytes apart: TMA needs a pitch below {}",
                                          operand.title, stride, kLargestPitch));
    }
}

void check_tiles(Reasons& reasons, const Config& c, int wgmma_k) {
    check_divides(reasons, "block_tile.m", c.block.m, "warpgroup_tile.m", c.warpgroup.m);
    check_divides(reasons, "block_tile.n", c.block.n, "warpgroup_tile.n", c.warpgroup.n);
    check_divides(reasons, "warpgroup_tile.m", c.warpgroup.m, "the rows of a wgmma", kWgmmaM);
    check_divides(reasons, "warpgroup_tile.n", c.warpgroup.n, "the steps of a wgmma's n", 8);
    check_range(reasons, "warpgroup_tile.n", c.warpgroup.n, 8, kMaxWgmmaN);
    check_divides(reasons, "block_tile.k", c.block.k, "the k of a wgmma", wgmma_k);
    if (c.warpgroup.k != c.block.k)
        reasons.push_back(fmt::format("warpgroup_tile.k = {} differs from block_tile.k = {}: warpgroups don't divide K",
                                      c.warpgroup.k, c.block.k));
    if (c.schedule == WarpgroupSchedule::pingpong && (c.block.m != c.warpgroup.m || c.block.n != c.warpgroup.n))
        reasons.push_back(
            fmt::format("pingpong: a warpgroup multiplies whole block tiles, {}x{} is not the {}x{} of a warpgroup",
                        c.block.m, c.block.n, c.warpgroup.m, c.warpgroup.n));
    if (c.schedule == WarpgroupSchedule::overlapped && c.warpgroup.m != 2 * kWgmmaM)
        reasons.push_back(
            fmt::format("overlapped: a warpgroup tile has two halves of {} rows, not {} rows", kWgmmaM, c.warpgroup.m));
}

void check_operand(Reasons& reasons, std::string_view name, const PanelledTile& tile, const Config& c,
                   int warpgroup_extent, int block_extent) {
    const int panel = tile.panel_elements;
    if (tile.k_major && c.block.k % panel != 0)
        reasons.push_back(fmt::format("block_tile.k = {} of {} is not whole panels of {} elements ({} bytes)",
                                      c.block.k, name, panel, tile.panel_bytes));
    if (!tile.k_major && warpgroup_extent != block_extent && warpgroup_extent % panel != 0)
        reasons.push_back(fmt::format("{} warpgroups share {}'s panels of {} elements, which {} does not divide into",
                                      block_extent / std::max(warpgroup_extent, 1), name, panel, warpgroup_extent));
    // A share may begin within the swizzle's pattern of eight rows: bits 7 to 9 of the address permute the chunks.
    const int across = tile.k_major ? block_extent : c.block.k;
    if (across % tile.shares != 0)
        reasons.push_back(
            fmt::format("{} blocks of a cluster share {}: the {} rows of its panels do not divide among them",
                        tile.shares, name, across));
    constexpr int kBoxAlignment = 128;  // of its address in shared memory, bytes
    if (tile.shares > 1 && tile.box[1] * tile.panel_bytes % kBoxAlignment != 0)
        reasons.push_back(fmt::format("{}: a block of a cluster copies {} rows of {} bytes, not a multiple of {} bytes",
                                      name, tile.box[1], tile.panel_bytes, kBoxAlignment));
    if (tile.box[1] > kMaxBoxExtent)
        reasons.push_back(
            fmt::format("{}: a box has {} rows, but TMA copies at most {}", name, tile.box[1], kMaxBoxExtent));
}

void check_cluster(Reasons& reasons, const Config& c, const Arch& arch) {
    const int blocks = bounded_product(c.cluster.m, c.cluster.n);
    if (c.cluster.m < 1 || c.cluster.n < 1 || blocks > kPortableClusterBlocks)
        reasons.push_back(fmt::format("cluster = {}x{}: {} takes 1 to {} blocks", c.cluster.m, c.cluster.n, arch.name,
                                      kPortableClusterBlocks));
}

void check_resources(Reasons& reasons, const Config& c, const WgmmaGeometry& g, const Arch& arch) {
    check_range(reasons, "stages", c.stages, kMinStages, kMaxStages);
    check_range(reasons, "slices", c.slices, 1, kMaxSlices);
    if (g.consumers < 1 || g.consumers > kMaxConsumers)
        reasons.push_back(fmt::format("{} consumer warpgroups, outside 1 to {}", g.consumers, kMaxConsumers));
    const bool loads_a = g.fragment_registers != 0;
    const int scratch = !loads_a ? kScratchRegisters : c.stream_k == 0 ? kLoadingScratch : kStreamedScratch;
    const int accumulators = g.accumulator_registers + g.partial_registers;
    if (accumulators + g.fragment_registers + scratch > g.consumer_registers)
        reasons.push_back(fmt::format(
            "{} accumulators{} per thread and about {} other registers, but a consumer has {}", accumulators,
            loads_a ? fmt::format(", {} registers of A", g.fragment_registers) : "", scratch, g.consumer_registers));
    if (g.stage_bytes % kSwizzleBytes != 0)
        reasons.push_back(
            fmt::format("a stage has {} bytes, but the swizzle takes multiples of {}: with math=bf16x6, the sum of "
                        "block_tile.m and n, times block_tile.k, must be a multiple of 512",
                        g.stage_bytes, kSwizzleBytes));
    if (g.shared_bytes > arch.shared_bytes_per_block)
        reasons.push_back(fmt::format("{} bytes of shared memory (pipeline {}, staging {}), {} has {}", g.shared_bytes,
                                      g.pipeline_bytes, g.staging_bytes, arch.name, arch.shared_bytes_per_block));
}

/// Of integers, not all widths have a wgmma.
void check_width(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    constexpr int kWidestStepOf8 = 32;
    if (spec.accumulator == DataType::s32 && c.warpgroup.n > kWidestStepOf8)
        check_divides(reasons, "warpgroup_tile.n", c.warpgroup.n, "the steps of n that a wgmma of s8 has beyond 32",
                      16);
}

/// Checks a config of operands that have not 16 bits.
void check_operand_bits(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (has_16_bits(spec)) return;
    if (c.a_source == OperandSource::registers)
        reasons.push_back(fmt::format("a_source = rmem loads fragments of 16 bits, not {}", to_string(spec.a)));
    if (!c.persistent)
        reasons.push_back(fmt::format("persistent = 0 needs operands of 16 bits, not {}", to_string(spec.a)));
}

void check_promotion(Reasons& reasons, const GemmSpec& spec, const Config& c, const WgmmaGeometry& g) {
    check_promoted_k(reasons, spec, c.promote, c.block.k);
    if (c.promote == 0) return;
    if (c.schedule == WarpgroupSchedule::overlapped)
        reasons.push_back(
            fmt::format("promote = {}: schedule = overlapped has no time to add partial sums", c.promote));
    if (g.wave_n == 0)
        reasons.push_back(fmt::format("promote = {}: {} accumulators per thread leave no room for partial sums in {}",
                                      c.promote, g.accumulator_registers, g.consumer_registers));
}

/// A warp's fragments of A take turns, and each k-tile begins with the first. Beside three consumers a producer has 32
/// registers: where it walks over the pieces of stream-K, ptxas spills some.
void check_a_source(Reasons& reasons, const Config& c, const WgmmaGeometry& g) {
    if (c.a_source != OperandSource::registers) return;
    const int turn = kFragmentsA * g.wgmma_k;
    if (c.block.k % turn != 0)
        reasons.push_back(
            fmt::format("a_source = rmem: fragments of A repeat every {} of K, which does not divide block_tile.k = {}",
                        turn, c.block.k));
    if (g.consumers == kMaxConsumers && c.stream_k != 0)
        reasons.push_back(
            fmt::format("a_source = rmem: with stream_k {} consumers leave too few registers", kMaxConsumers));
}

/// Two shares may end within one tile. The piece between their ends is then as long as a share. An overlapped consumer
/// multiplies the first and the last k-tile of a piece in halves: with a piece of one k-tile it would wait for ever.
void check_shares(Reasons& reasons, const Config& c, const StreamK& deal) {
    constexpr std::int64_t kLeastShare = 2;
    if (c.schedule != WarpgroupSchedule::overlapped || deal.streamed == 0) return;
    if (deal.streamed * deal.k_tiles / deal.clusters >= kLeastShare) return;
    reasons.push_back(fmt::format(
        "stream_k = {} deals {} k-tiles out to {} clusters: schedule = overlapped needs at least {} for each",
        c.stream_k, deal.streamed * deal.k_tiles, deal.clusters, kLeastShare));
}

/// Persistent blocks take the tiles of a batch. Their number must fit in 32 bits.
void check_batch(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (!is_batched(spec) && !has_groups(spec)) return;
    if (c.stream_k != 0)
        reasons.push_back(fmt::format("stream_k = {}: tiles of a batch or of groups are not cut", c.stream_k));
    if (!c.persistent) reasons.emplace_back("persistent = 0: blocks of a batch or of groups take several tiles");
    check_grid(reasons, spec,
               {.tile_m = c.block.m * c.cluster.m,
                .tile_n = c.block.n * c.cluster.n,
                .splits = bounded_product(c.cluster.m, c.cluster.n),
                .batch = GridBatch::tiles});
}

/// TMA copies A and B as they are.
void check_uncopied(Reasons& reasons, const GemmSpec& spec) {
    const auto check = [&](std::string_view name, int alignment, bool is_copied) {
        if (!is_copied || has_parts(spec)) return;
        reasons.push_back(
            alignment < kTmaAlignment
                ? fmt::format("groups: {} is aligned to {} bytes, but TMA needs {}, and no kernel copies it first",
                              name, alignment, kTmaAlignment)
                : fmt::format(
                      "groups: K is not contiguous in {} (layout {}), and no kernel transposes elements of {} bits "
                      "first",
                      name, to_string(spec.layout), 8 * bytes(spec.a)));
    };
    check("A", spec.align_a, copies_a(spec));
    check("B", spec.align_b, copies_b(spec));
}

/// The rules of groups of K that hold for every config.
void check_groups_of_k(Reasons& reasons, const GemmSpec& spec) {
    const bool is_a = order_a(spec.layout) == Order::row;
    if (is_a || order_b(spec.layout) == Order::column)
        reasons.push_back(
            fmt::format("ragged=k: K is contiguous in {} (layout {}), but TMA reads a line from multiples of 16 bytes "
                        "on, and a group begins at any k: layout {}",
                        is_a ? "A" : "B", to_string(spec.layout), to_string(GemmLayout::nt)));
    else if (!has_16_bits(spec))
        reasons.push_back(
            fmt::format("ragged=k: wgmma needs a contiguous K for {}, and a group may begin at any k: "
                        "f16 or bf16",
                        to_string(spec.a)));
    else
        check_uncopied(reasons, spec);
}

/// The rules of groups that hold for every config. A box of TMA at a group's end would reach the next group, so threads
/// store there.
void check_groups(Reasons& reasons, const GemmSpec& spec) {
    if (order_a(spec.layout) == Order::column)
        reasons.push_back(
            fmt::format("A is column-major (layout {}), but TMA reads a column from multiples of 16 bytes on, and a "
                        "group begins at "
                        "any row: layout {}",
                        to_string(spec.layout), to_string(layout_of(Order::row, order_b(spec.layout)))));
    if (has_parts(spec))
        reasons.push_back(
            fmt::format("groups: no kernel splits A and B first, as math={} needs it", to_string(spec.math)));
    if (is_gathered(spec) && spec.math == Math::tf32)
        reasons.emplace_back("source_rows: no kernel rounds rows of A that it gathers, as math=tf32 needs it");
    check_uncopied(reasons, spec);
}

/// A block knows its tiles when it has read where groups end.
void check_groups(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (!has_groups(spec)) return;
    if (c.swap_ab && is_grouped(spec)) reasons.emplace_back("swap_ab: groups are rows of D");
    if (is_gathered(spec) && c.cluster.n > 1)
        reasons.push_back(fmt::format("cluster = {}x{}: blocks side by side don't share rows of A that are gathered",
                                      c.cluster.m, c.cluster.n));
    if (c.early_a || c.early_b) reasons.emplace_back("early: tiles of groups are known when the offsets are");
}

void check_symmetric(Reasons& reasons, const GemmSpec& spec, const Config& c, const WgmmaGeometry& g) {
    if (!spec.symmetric) return;
    if (c.swap_ab) reasons.emplace_back("swap_ab: a symmetric D is its own transpose");
    if (!c.persistent) reasons.emplace_back("persistent = 0: blocks of a symmetric product take several tiles");
    if (!has_squares(c))
        reasons.push_back(
            fmt::format("block_tile = {}x{}, cluster = {}x{}: in a symmetric product the rows of a cluster's tile must "
                        "divide its columns, or its columns divide its rows",
                        c.block.m, c.block.n, c.cluster.m, c.cluster.n));
    if (!has_mirrors(c, g))
        reasons.push_back(
            fmt::format("warpgroup_tile.n = {}: a symmetric D is stored in slices of {} columns, which must be whole "
                        "and have at least {}",
                        c.warpgroup.n, g.slice_columns, kSliceRows));
}

void check_stream_k(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (c.stream_k == 0) return;
    const int blocks = bounded_product(c.cluster.m, c.cluster.n);
    const StreamK deal = stream_k(spec, c);
    check_stream_k(reasons, c.stream_k, deal);
    check_shares(reasons, c, deal);
    if (blocks > 0 && c.stream_k % blocks != 0)
        reasons.push_back(
            fmt::format("stream_k = {} blocks are not whole clusters of {}x{}", c.stream_k, c.cluster.m, c.cluster.n));
}

/// Refuses options that have no effect if a block has one tile only. Without a producer it has only one, too.
void check_persistence(Reasons& reasons, const Config& c) {
    if (c.persistent && c.warp_specialized) return;
    const std::string_view why = c.warp_specialized ? "persistent = 0" : "warp_specialized = 0";
    if (c.schedule == WarpgroupSchedule::pingpong)
        reasons.push_back(fmt::format("{}: schedule = pingpong needs blocks that take several tiles", why));
    if (c.schedule == WarpgroupSchedule::overlapped)
        reasons.push_back(fmt::format("{}: schedule = overlapped needs blocks that take several tiles", why));
    if (c.stream_k != 0)
        reasons.push_back(fmt::format("{}: stream_k = {} needs blocks that take several tiles", why, c.stream_k));
    if (bounded_product(c.cluster.m, c.cluster.n) != 1)
        reasons.push_back(fmt::format("{}: blocks share no operands, so cluster must be 1x1, not {}x{}", why,
                                      c.cluster.m, c.cluster.n));
    if (c.early_a || c.early_b)
        reasons.push_back(fmt::format("{}: all warps wait for the previous kernel, so early must be none", why));
}

/// Without a producer the thread that copies is one of those that multiply, and begins when all may.
void check_specialization(Reasons& reasons, const Config& c) {
    if (c.warp_specialized) return;
    if (c.persistent)
        reasons.emplace_back("warp_specialized = 0 needs persistent = 0: no warp copies the next tile ahead");
    if (c.a_source == OperandSource::registers) reasons.emplace_back("warp_specialized = 0 needs a_source = smem");
}

/// TMA stores whole 16 bytes, also at the end of a row, where what lies behind is not D's.
void check_store(Reasons& reasons, const GemmSpec& spec, const Config& c, bool has_pairs) {
    if (bytes(spec.d) == 1) {
        if (c.store != OutputStore::tma)
            reasons.push_back(fmt::format("store = smem stores elements of 16 or 32 bits, not {}", to_string(spec.d)));
        check_divides(reasons, "warpgroup_tile.n", c.warpgroup.n, "the columns of 16 bytes of D",
                      has_pairs ? 2 * kTmaAlignment : kTmaAlignment);
    }
    if (c.store != OutputStore::tma) return;
    if (spec.align_d < kTmaAlignment)
        reasons.push_back(fmt::format("store = tma needs D aligned to {} bytes, not {}", kTmaAlignment, spec.align_d));
    const std::int64_t columns = size_of_d(spec).columns;
    if (columns * bytes(spec.d) % kTmaAlignment != 0)
        reasons.push_back(fmt::format("store = tma writes {} bytes at a time, but a row of D has {} x {}",
                                      kTmaAlignment, columns, bytes(spec.d)));
}

/// TMA alone stores D of 8 bits.
void check_float8_rows(Reasons& reasons, const GemmSpec& asked) {
    const auto [rows, columns] = size_of_d(asked);
    const bool by_row = asked.d_order == Order::row;
    const std::int64_t run = by_row ? columns : rows;
    if (bytes(asked.d) != 1 || (run % kTmaAlignment == 0 && !needs_packing(asked.align_d))) return;
    reasons.push_back(
        fmt::format("wgmma_warp_specialized stores D of 8 bits 16 bytes at a time, but a {} of D has {} elements of {} "
                    "and is aligned to {} bytes: both must be multiples of {}",
                    by_row ? "row" : "column", run, to_string(asked.d), asked.align_d, kTmaAlignment));
}

/// Operands that are fetched early must be constant: the previous kernel may still be running.
void check_early(Reasons& reasons, const GemmSpec& multiplied, const Config& c) {
    if (!c.early_a && !c.early_b) return;
    if (!c.dependent_launch)
        reasons.emplace_back("early: without dependent_launch a kernel never waits, so early must be none");
    const auto check = [&](bool early, char operand, bool is_constant, bool is_packed) {
        if (!early) return;
        const char asked = c.swap_ab ? static_cast<char>('A' + 'B' - operand) : operand;
        if (!is_constant) reasons.push_back(fmt::format("early: {} is not constant in this problem", asked));
        if (is_packed)
            reasons.push_back(fmt::format("early: this launch packs {}, so its copy cannot be loaded early", asked));
    };
    check(c.early_a, 'A', multiplied.constant_a, copies_a(multiplied));
    check(c.early_b, 'B', multiplied.constant_b, copies_b(multiplied));
}

/// Refuses problems with pairs of columns that no config serves.
void check_pairs(Reasons& reasons, const Problem& problem) {
    if (!has_pairs(problem.signature)) return;
    const GemmSpec& spec = problem.row_major();
    if (bytes(spec.a) > 2)
        reasons.push_back(fmt::format("A is {}, but pairs of columns need A and B of 8 or 16 bits", to_string(spec.a)));
    if (spec.n % kSumsOfEightPairs != 0)
        reasons.push_back(fmt::format("n is {}, but TMA copies pairs of columns by eight: n must be a multiple of {}",
                                      spec.n, kSumsOfEightPairs));
    if (!is_k_major(Operand::b, spec.layout))
        reasons.push_back(fmt::format(
            "B is row-major (layout {}), but pairs of columns need a B whose columns are contiguous: layout {}",
            to_string(spec.layout), to_string(layout_of(order_a(spec.layout), Order::column))));
    if (needs_packing(spec.align_b))
        reasons.push_back(fmt::format("B is aligned to {} bytes, but pairs of columns need {}: no copy of B has them",
                                      spec.align_b, kTmaAlignment));
    const EpilogueParts& parts = problem.signature.epilogue->parts();
    for (const EpilogueOperand& operand : parts.operands)
        if (operand.index.is_matrix() && differs_in_pair(parts, operand))
            reasons.push_back(fmt::format("{} has an element for each column of a pair, which no wgmma kernel reads",
                                          with_index(operand.name, operand.index)));
}

void check_pairs(Reasons& reasons, const Problem& problem, const Config& c, const WgmmaGeometry& g) {
    if (!has_pairs(problem.signature)) return;
    if (c.swap_ab && has_reductions(problem.signature))
        reasons.emplace_back("swap_ab: no kernel reduces a d of pairs that lie along the rows of a wgmma");
    check_divides(reasons, "warpgroup_tile.n", c.warpgroup.n, "the columns of eight pairs",
                  c.swap_ab ? 1 : kSumsOfEightPairs);
    const PanelledTile& paired = c.swap_ab ? g.a : g.b;
    check_divides(reasons, "the share of B that a block of a cluster copies", paired.box[1],
                  "the columns of eight pairs", kSumsOfEightPairs);
}

/// The right half of pairs has blocks of its own.
void check_block_scales(Reasons& reasons, const Problem& problem) {
    check_scaled_types(reasons, problem);
    const GemmSpec& spec = problem.row_major();
    constexpr int kTwoBlocks = 2 * kScaledBlock;
    if (pairs_of(problem.signature) != EpiloguePairs::halves || spec.n % kTwoBlocks == 0) return;
    for (const EpilogueOperand& operand : problem.signature.epilogue->parts().operands) {
        if (!operand.is_block_scale()) continue;
        if (const BlockScaleLines lines = block_scale_lines(operand); !lines.is_of_a && lines.is_by_block)
            reasons.push_back(
                fmt::format("n is {}, but {} scales blocks of {} columns, and the right half of the "
                            "columns must begin with a block: n must be a multiple of {}",
                            spec.n, with_index(operand.name, operand.index), kScaledBlock, kTwoBlocks));
    }
}

void check_block_scales(Reasons& reasons, const GemmSpec& spec, const Config& c, const WgmmaGeometry& g) {
    if (g.scales.empty() && c.scales != ScaleSource::tma)
        reasons.emplace_back("scales = threads: this problem has no scales of blocks of K");
    if (g.scales.empty()) return;
    if (c.scales == ScaleSource::tma && !has_aligned_scales(spec))
        reasons.push_back(
            fmt::format("scales = tma: TMA needs scales whose rows are aligned to {} bytes", kTmaAlignment));
    if (c.block.k != kScaledBlock)
        reasons.push_back(fmt::format("block_tile.k = {}: scales are for {} of K", c.block.k, kScaledBlock));
    if (c.block.n != c.warpgroup.n)
        reasons.push_back(
            fmt::format("block_tile.n = {} differs from warpgroup_tile.n = {}: warpgroups that share scales "
                        "lie above each other",
                        c.block.n, c.warpgroup.n));
    if (bounded_product(c.cluster.m, c.cluster.n) != 1)
        reasons.push_back(fmt::format("cluster = {}x{}: blocks share no scales", c.cluster.m, c.cluster.n));
    for (const WgmmaScale& scale : g.scales) {
        const std::string name = with_index(scale.operand->name, scale.operand->index);
        if (c.scales == ScaleSource::tma && !scale.has_boxes())
            reasons.push_back(fmt::format("scales = tma: TMA copies no boxes of {} for pairs of columns", name));
        const int lines = c.warpgroup.m / (scale.is_in_halves() ? 2 : 1);
        if (scale.is_of_rows && scale.is_by_block && scale.step % lines != 0 && lines % scale.step != 0)
            reasons.push_back(fmt::format(
                "warpgroup_tile.m = {}: its {} rows and the parts of {}, of {} rows each: one must divide the other",
                c.warpgroup.m, lines, name, scale.step));
        if (scale.boxes > kMostScaleBoxes)
            reasons.push_back(fmt::format("{} parts of the tile have a scale of {} each, outside 1 to {}", scale.boxes,
                                          scale.operand->name, kMostScaleBoxes));
    }
}

/// A warp has all of a block's columns.
void check_blocks_of_d(Reasons& reasons, const GemmSignature& signature, const Config& c, const WgmmaGeometry& g) {
    if (!has_blocks_of_d(signature)) return;
    const EpilogueOutput& output = *outputs_for_blocks(signature.epilogue->parts()).front();
    const std::string name = with_index(output.name, output.index);
    if (signature.symmetric)
        reasons.push_back(fmt::format("no kernel makes {} of a symmetric product, which computes half of D", name));
    if (c.swap_ab) reasons.push_back(fmt::format("swap_ab: columns of a block of {} lie in several warps", name));
    if (g.output_n % output.index.column->over != 0)
        reasons.push_back(
            fmt::format("a warpgroup has {} columns of D, which are no whole blocks of {}", g.output_n, name));
}

void check_broadcast_c(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (!c.broadcast_c) return;
    if (!spec.c) reasons.emplace_back("broadcast_c: this problem has no C");
    if (spec.c && !spec.broadcast_c) reasons.emplace_back("broadcast_c: C is not one row in this problem");
}

void check_swap_ab(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (!c.swap_ab) return;
    if (bytes(spec.d) != 2) reasons.push_back(fmt::format("swap_ab stores D of 16 bits, not {}", to_string(spec.d)));
    if (spec.c && !c.broadcast_c) reasons.emplace_back("swap_ab needs a C of one row (broadcast_c), or no C");
    if (c.store != OutputStore::tma) reasons.emplace_back("swap_ab needs store = tma");
    if (has_parts(spec)) reasons.push_back(fmt::format("swap_ab: no kernel has it with math={}", to_string(spec.math)));
}

}  // namespace

bool WgmmaWarpSpecialized::selected_by_default(const Problem&) { return true; }

SumOrder WgmmaWarpSpecialized::sum_order(DataType operands, const Config& config) {
    return {.instruction = kMathInstruction, .instruction_k = wgmma_k(operands), .in_k_order = config.stream_k <= 0};
}

Reasons WgmmaWarpSpecialized::unsupported(const Problem& problem, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = unsupported_on_tensor_cores(
        kName, spec, arch, {.factors_of_8_bits = true, .outputs_of_8_bits = true, .parts = true});
    if (!arch.has_wgmma || !arch.has_tma)
        reasons.push_back(fmt::format("wgmma_warp_specialized needs sm_90a (wgmma, TMA), not {}", arch.name));
    check_float8_rows(reasons, problem.asked);
    check_vectors(reasons, spec, pack_for_tma(spec));
    check_tma_operand(reasons, "A", copies_a(spec), spec.lda, packed_a(spec));
    check_tma_operand(reasons, "B", copies_b(spec), spec.ldb, packed_b(spec));
    if (problem.signature.pointers)
        reasons.emplace_back("pointers is yes: tensor maps need addresses on the host, where the launch has none");
    else if (problem.signature.batched)
        check_batch_strides(reasons, spec);
    if (problem.signature.grouped) check_groups(reasons, spec);
    if (problem.signature.grouped_by_k) check_groups_of_k(reasons, spec);
    check_pairs(reasons, problem);
    check_block_scales(reasons, problem);
    return reasons;
}

Reasons WgmmaWarpSpecialized::violations(const Problem& problem, const Config& c, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = unsupported(problem, arch);
    if (!reasons.empty()) return reasons;
    const GemmSpec multiplied = as_multiplied(spec, c.swap_ab);
    const WgmmaGeometry g = geometry(as_multiplied(problem.signature, c.swap_ab), c);
    check_tiles(reasons, c, g.wgmma_k);
    check_cluster(reasons, c, arch);
    check_operand(reasons, c.swap_ab ? "B" : "A", g.a, c, c.warpgroup.m, c.block.m);
    check_operand(reasons, c.swap_ab ? "A" : "B", g.b, c, c.warpgroup.n, c.block.n);
    check_store(reasons, spec, c, has_pairs(problem.signature));
    check_broadcast_c(reasons, spec, c);
    check_swap_ab(reasons, spec, c);
    check_pairs(reasons, problem, c, g);
    check_blocks_of_d(reasons, problem.signature, c, g);
    check_persistence(reasons, c);
    check_specialization(reasons, c);
    check_stream_k(reasons, multiplied, c);
    check_batch(reasons, multiplied, c);
    check_groups(reasons, spec, c);
    check_symmetric(reasons, spec, c, g);
    check_early(reasons, multiplied, c);
    check_a_source(reasons, c, g);
    check_operand_bits(reasons, spec, c);
    check_width(reasons, spec, c);
    check_promotion(reasons, spec, c, g);
    check_block_scales(reasons, spec, c, g);
    check_resources(reasons, c, g, arch);
    if (!reasons.empty()) return reasons;
    const TileShape cluster_tile{c.block.m * c.cluster.m, c.block.n * c.cluster.n, c.block.k};
    check_rasterization(reasons, c, cluster_tile, multiplied);
    check_grid(reasons, multiplied, {cluster_tile.m, cluster_tile.n, c.cluster.m * c.cluster.n});
    return reasons;
}

Reasons WgmmaWarpSpecialized::discouraged(const Problem& problem, const Config&) {
    const GemmSpec& spec = problem.row_major();
    // Copies in parts hold whole groups. f32 4096x4096x16 on an H200: 30.7 us, on FP32 cores 26.8. Those sum in another
    // order, so they are no choice where all kernels must have one.
    if (has_parts(spec) && spec.k <= kGroupOfParts / 2 && spec.deterministic != Determinism::batch_invariant)
        return {fmt::format("math={}: k is {}, and parts take as long as a k of {}", to_string(spec.math), spec.k,
                            kGroupOfParts)};
    // No other family proposes kernels of 8 bits here, or of tf32 where all kernels must have one order. All operands
    // in parts have copies.
    const bool is_alone =
        bytes(spec.a) == 1 || (spec.math == Math::tf32 && spec.deterministic == Determinism::batch_invariant);
    if (is_alone || has_parts(spec)) return {};
    return wasteful_packing(spec, pack_for_tma(spec));
}

}  // namespace jitgemm
