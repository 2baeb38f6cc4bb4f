#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/simt_constraints.hpp"
#include "generator/families/shared/split_k.hpp"
#include "generator/families/simt_hierarchical/family.hpp"
#include "generator/families/simt_hierarchical/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

constexpr int kMaxThreads = 1024;
constexpr int kMaxThreadTile = 16;
constexpr int kMaxBlockK = 64;
constexpr int kMinStages = 2;
constexpr int kMaxStages = 8;
constexpr int kMaxSplits = 64;
constexpr int kMaxResident = 16;
constexpr int kMaxWave = 4096;
constexpr int kMaxCopies = 64;  // of a thread and k-tile: all are unrolled

void check_tiles(Reasons& reasons, const Config& c, const SimtHierarchicalGeometry& g) {
    check_divides(reasons, "block_tile.m", c.block.m, "warp_tile.m", c.warp.m);
    check_divides(reasons, "block_tile.n", c.block.n, "warp_tile.n", c.warp.n);
    check_divides(reasons, "warp_tile.m", c.warp.m, "thread_tile.m", c.thread.m);
    check_divides(reasons, "warp_tile.n", c.warp.n, "thread_tile.n", c.thread.n);
    check_divides(reasons, "thread_tile.m", c.thread.m, "a quad", kQuad);
    check_divides(reasons, "thread_tile.n", c.thread.n, "a quad", kQuad);
    check_range(reasons, "thread_tile.m", c.thread.m, kQuad, kMaxThreadTile);
    check_range(reasons, "thread_tile.n", c.thread.n, kQuad, kMaxThreadTile);
    if (std::int64_t{g.lanes_m} * g.lanes_n != kWarpLanes || g.lanes_m % 2 != 0)
        reasons.push_back(
            fmt::format("warp_tile over thread_tile gives {} x {} lanes: not 32 with an even number along M", g.lanes_m,
                        g.lanes_n));
    if (g.threads < 1 || g.threads > kMaxThreads)
        reasons.push_back(fmt::format("{} x {} warps are {} threads per block, outside 32 to {}", g.warps_m, g.warps_n,
                                      g.threads, kMaxThreads));
}

void check_pipeline(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    check_range(reasons, "block_tile.k", c.block.k, 2, kMaxBlockK);
    if (c.double_buffer && c.block.k % 2 != 0)
        reasons.push_back(fmt::format("double_buffer needs an even block_tile.k, not {}", c.block.k));
    check_range(reasons, "stages", c.stages, kMinStages, kMaxStages);
    check_range(reasons, "split_k", c.split_k, 1, kMaxSplits);
    check_range(reasons, "min_blocks_per_sm", c.min_blocks_per_sm, 1, kMaxResident);
    check_range(reasons, "copy_slices", c.copy_slices, 1, c.double_buffer ? c.block.k - 1 : c.block.k);
    if (c.copy == CopyPath::async && spec.a != DataType::f32)
        reasons.push_back(
            fmt::format("copy = async does not convert {} to f32: it needs copy = reg", to_string(spec.a)));
}

void check_extent(Reasons& reasons, std::string_view name, std::int64_t extent, int tile) {
    if (tile > 0 && extent % tile != 0)
        reasons.push_back(fmt::format("predicated = 0 leaves {} = {} unchecked: not a multiple of the block tile's {}",
                                      name, extent, tile));
}

/// Unpredicated, every block tile lies in the matrices as a whole.
void check_edges(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (c.predicated) return;
    if (has_groups(spec))
        reasons.emplace_back("predicated = 0: a group ends anywhere, and its last tile must be checked");
    check_extent(reasons, "m", spec.m, c.block.m);
    check_extent(reasons, "n", spec.n, c.block.n);
    check_extent(reasons, "k", spec.k, c.block.k);
}

void check_wave(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    check_range(reasons, "blocks_per_wave", c.blocks_per_wave, 0, kMaxWave);
    if (c.blocks_per_wave <= 0 || c.block.m <= 0 || c.block.n <= 0) return;
    if (!spec.epilogue.empty())
        reasons.push_back(fmt::format(
            "blocks_per_wave = {} stores D before its sums are complete: no epilogue may follow", c.blocks_per_wave));
    if (c.split_k > 1)
        reasons.push_back(fmt::format("blocks_per_wave = {} and split_k = {} both split K: only one of them may",
                                      c.blocks_per_wave, c.split_k));
    if (spec.d != DataType::f32)
        reasons.push_back(
            fmt::format("blocks_per_wave = {} adds the partial sums of remainder tiles to D, which must be f32, not {}",
                        c.blocks_per_wave, to_string(spec.d)));
    if (spec.symmetric)
        reasons.push_back(
            fmt::format("blocks_per_wave = {} cuts some tiles alone: a symmetric product must add all in one order",
                        c.blocks_per_wave));
    if (remainder_tiles(spec, c.block, c.blocks_per_wave) == 0)
        reasons.push_back(fmt::format("blocks_per_wave = {}: {} tiles fill whole waves, and no tile is left to cut",
                                      c.blocks_per_wave, block_count({c.block.m, c.block.n, 1}, spec)));
}

/// Problems of a batch have no workspace of their own.
void check_batch(Reasons& reasons, const GemmSpec& spec, const Config& c) {
    if (!is_batched(spec) && !has_groups(spec)) return;
    if (c.split_k > 1) reasons.push_back(fmt::format("split_k = {}: K is not split in a batch", c.split_k));
    if (c.blocks_per_wave > 0)
        reasons.push_back(fmt::format("blocks_per_wave = {}: tiles of a batch are not cut", c.blocks_per_wave));
}

void check_store(Reasons& reasons, const Config& c) {
    if (c.store == EpilogueStore::shared && c.split_k > 1)
        reasons.push_back(fmt::format(
            "store = smem is for rows of D, but split_k = {} stores partial sums: it needs store = reg", c.split_k));
}

void check_operand(Reasons& reasons, std::string_view name, const SimtOperand& operand, const Config& c, int threads) {
    if (operand.transposed) {
        if (c.k_lanes != 4 && c.k_lanes != 8)
            reasons.push_back(fmt::format("k_lanes = {} is neither 4 nor 8", c.k_lanes));
        else
            check_divides(reasons, "block_tile.k", c.block.k, "k_lanes", c.k_lanes);
    } else if (operand.rows_per_pass == 0) {
        reasons.push_back(fmt::format("{}: {} threads don't divide into rows of {} vectors of {}", name, threads,
                                      operand.threads_per_row, operand.vector));
    }
    if (operand.copies > kMaxCopies)
        reasons.push_back(
            fmt::format("{}: {} copies per thread and k-tile, more than {}", name, operand.copies, kMaxCopies));
}

void check_resources(Reasons& reasons, const Config& c, const SimtHierarchicalGeometry& g, const Arch& arch) {
    if (g.shared_bytes > arch.shared_bytes_per_block)
        reasons.push_back(fmt::format("{} bytes of shared memory, {} has {}", g.shared_bytes, arch.name,
                                      arch.shared_bytes_per_block));
    if (g.registers() > arch.max_registers_per_thread)
        reasons.push_back(fmt::format(
            "about {} registers per thread ({} sums, {} fragments, {} staging), the most is {}", g.registers(),
            g.accumulator_registers, g.fragment_registers, g.staging_registers, arch.max_registers_per_thread));
    const std::int64_t all = std::int64_t{g.registers()} * g.threads * c.min_blocks_per_sm;
    if (all > arch.registers_per_sm)
        reasons.push_back(fmt::format("about {} registers x {} threads x {} resident blocks exceed the {} of an SM",
                                      g.registers(), g.threads, c.min_blocks_per_sm, arch.registers_per_sm));
    if (std::int64_t{g.threads} * c.min_blocks_per_sm > arch.max_threads_per_sm)
        reasons.push_back(fmt::format("{} threads x {} resident blocks exceed the {} of an SM", g.threads,
                                      c.min_blocks_per_sm, arch.max_threads_per_sm));
}

/// A cut tile's part of K and the rows of C are held beside 128 sums. Copies of single elements of A and transposed
/// ones of 256 columns of B then leave too few registers, unless a warp copies more of K at once.
void check_registers_of_cut_tiles(Reasons& reasons, const GemmSpec& spec, const Config& c,
                                  const SimtHierarchicalGeometry& g) {
    constexpr int kManySums = 128;
    constexpr int kManyColumns = 256;
    constexpr int kFewLanes = 4;
    const bool is_tight = c.blocks_per_wave > 0 && spec.c && g.accumulator_registers >= kManySums;
    const bool copies_elements = !g.a.transposed && g.a.vector == 1;
    if (is_tight && copies_elements && g.b.transposed && c.block.n >= kManyColumns && c.k_lanes <= kFewLanes)
        reasons.push_back(fmt::format(
            "k_lanes = {}: with C, cut tiles, {} sums and an A aligned to {} bytes a thread has too few registers to "
            "transpose {} columns of B; k_lanes = 8 takes fewer",
            c.k_lanes, g.accumulator_registers, spec.align_a, c.block.n));
}

}  // namespace

// 16-bit types have tensor cores.
bool SimtHierarchical::selected_by_default(const Problem& problem) { return problem.row_major().a == DataType::f32; }

Reasons SimtHierarchical::unsupported(const Problem& problem, const Arch& arch) {
    return simt_unsupported("simt_hierarchical", problem.row_major(), arch);
}

Reasons SimtHierarchical::violations(const Problem& problem, const SimtHierarchicalConfig& c, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = SimtHierarchical::unsupported(problem, arch);
    if (!reasons.empty()) return reasons;
    const SimtHierarchicalGeometry g = geometry(problem.signature, c);
    check_tiles(reasons, c, g);
    check_pipeline(reasons, spec, c);
    check_edges(reasons, spec, c);
    check_operand(reasons, "A", g.a, c, g.threads);
    check_operand(reasons, "B", g.b, c, g.threads);
    check_store(reasons, c);
    check_rasterization(reasons, c, c.block, spec);
    check_resources(reasons, c, g, arch);
    check_registers_of_cut_tiles(reasons, spec, c, g);
    check_wave(reasons, spec, c);
    check_batch(reasons, spec, c);
    check_dependent_launch(reasons, c.dependent_launch, arch);
    check_grid(reasons, spec, hierarchical_grid(c));
    return reasons;
}

}  // namespace jitgemm
