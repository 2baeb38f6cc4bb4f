#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/simt_constraints.hpp"
#include "generator/families/simt_long_k/family.hpp"
#include "generator/families/simt_long_k/geometry.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <fmt/format.h>

#include <bit>

namespace jitgemm {
namespace {

constexpr int kLongKMaxThreadTile = 16;
constexpr int kLongKMaxSums = 128;  // of a thread
constexpr int kLongKMaxWarps = 32;
constexpr int kLongKMaxBlockK = 4096;
constexpr int kLongKMaxStages = 16;
constexpr int kLongKMaxResident = 16;
constexpr int kLongKMaxSplits = 1024;
constexpr int kLongKMaxCopies = 32;  // of an operand in a thread and step: all are unrolled
// Beyond these it was the fastest of none of 39 problems (docs/lab/simt.md).
constexpr std::int64_t kMostReduceBlocks = 2500;
constexpr std::int64_t kShortestLongK = 256;

void check_lanes(Reasons& reasons, const SimtLongKConfig& c) {
    const auto is_power_of_two = [](int value) {
        return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
    };
    const bool powers = is_power_of_two(c.lanes.m) && is_power_of_two(c.lanes.n) && is_power_of_two(c.lanes.k);
    if (!powers || std::int64_t{c.lanes.m} * c.lanes.n * c.lanes.k != kWarpLanes)
        reasons.push_back(fmt::format("lanes = {}x{}x{} are not 32 in powers of two", c.lanes.m, c.lanes.n, c.lanes.k));
}

void check_thread_tile(Reasons& reasons, const SimtLongKConfig& c) {
    check_range(reasons, "thread_tile.m", c.thread.m, 1, kLongKMaxThreadTile);
    check_range(reasons, "thread_tile.n", c.thread.n, 1, kLongKMaxThreadTile);
    check_range(reasons, "sums of a thread", bounded_product(c.thread.m, c.thread.n), 1, kLongKMaxSums);
}

void check_share_of_k(Reasons& reasons, const SimtLongKConfig& c) {
    check_range(reasons, "warps", c.warps, 1, kLongKMaxWarps);
    check_range(reasons, "block_k", c.block_k, kLongKQuad, kLongKMaxBlockK);
    check_range(reasons, "stages", c.stages, 2, kLongKMaxStages);
    check_range(reasons, "min_blocks_per_sm", c.min_blocks_per_sm, 1, kLongKMaxResident);
    check_range(reasons, "split_k", c.split_k, 1, kLongKMaxSplits);
    check_divides(reasons, "block_k", c.block_k, "the four k of every lane and warp along K",
                  bounded_product(kLongKQuad, c.warps, c.lanes.k));
}

void check_copies(Reasons& reasons, std::string_view name, const SimtLongKOperand& operand) {
    if (operand.copies > kLongKMaxCopies)
        reasons.push_back(
            fmt::format("{}: {} copies of a thread in a step, more than {}", name, operand.copies, kLongKMaxCopies));
}

void check_limits(Reasons& reasons, const SimtLongKConfig& c, const SimtLongKGeometry& g, const Arch& arch) {
    if (g.shared_bytes > arch.shared_bytes_per_block)
        reasons.push_back(fmt::format("{} bytes of shared memory, {} has {}", g.shared_bytes, arch.name,
                                      arch.shared_bytes_per_block));
    if (c.min_blocks_per_sm * (g.shared_bytes + arch.shared_reserved_per_block) > arch.shared_bytes_per_sm)
        reasons.push_back(
            fmt::format("({} bytes of shared memory + {} reserved) x {} resident blocks exceed the {} of an SM",
                        g.shared_bytes, arch.shared_reserved_per_block, c.min_blocks_per_sm, arch.shared_bytes_per_sm));
    const std::int64_t registers = std::int64_t{g.registers()} * g.threads * c.min_blocks_per_sm;
    if (g.registers() > arch.max_registers_per_thread || registers > arch.registers_per_sm)
        reasons.push_back(fmt::format(
            "about {} registers x {} threads x {} resident blocks exceed the {} of a thread "
            "or the {} of an SM",
            g.registers(), g.threads, c.min_blocks_per_sm, arch.max_registers_per_thread, arch.registers_per_sm));
    if (std::int64_t{g.threads} * c.min_blocks_per_sm > arch.max_threads_per_sm)
        reasons.push_back(fmt::format("{} threads x {} resident blocks exceed the {} of an SM", g.threads,
                                      c.min_blocks_per_sm, arch.max_threads_per_sm));
}

}  // namespace

bool SimtLongK::selected_by_default(const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    return spec.a == DataType::f32 && spec.m > 0 && spec.n > 0 && spec.k >= kShortestLongK &&
           block_count(long_k_reduce_grid(), spec) <= kMostReduceBlocks;
}

Reasons SimtLongK::unsupported(const Problem& problem, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = simt_unsupported("simt_long_k", spec, arch);
    if (reasons.empty() && spec.a != DataType::f32)
        reasons.push_back(fmt::format("simt_long_k copies f32 as it is, not {}", to_string(spec.a)));
    return reasons;
}

Reasons SimtLongK::violations(const Problem& problem, const SimtLongKConfig& c, const Arch& arch) {
    Reasons reasons = SimtLongK::unsupported(problem, arch);
    if (!reasons.empty()) return reasons;
    check_lanes(reasons, c);
    check_thread_tile(reasons, c);
    check_share_of_k(reasons, c);
    if (!reasons.empty()) return reasons;  // nothing else can be computed
    const SimtLongKGeometry g = geometry(problem.signature, c);
    check_copies(reasons, "A", g.a);
    check_copies(reasons, "B", g.b);
    check_limits(reasons, c, g, arch);
    check_dependent_launch(reasons, c.dependent_launch, arch);
    check_grid(reasons, problem.row_major(), {.tile_m = c.block().m, .tile_n = c.block().n, .splits = c.split_k});
    check_grid(reasons, problem.row_major(), long_k_reduce_grid());
    return reasons;
}

}  // namespace jitgemm
