#include "generator/base/packed_operand.hpp"
#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/tensor_core_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

constexpr int kMostFew = 32;   // rows of the operand that has few
constexpr int kMostLong = 64;  // of a tile: TMA swizzles 128 bytes at most
constexpr int kMostWarps = 16;
constexpr int kFewestStages = 2;
constexpr int kMostStages = 32;
constexpr std::int64_t kLargestPitch = 1LL << 40;  // bytes

void check_tma_operand(Reasons& reasons, char name, int alignment, std::int64_t pitch_bytes) {
    if (alignment < kTmaAlignment)
        reasons.push_back(fmt::format(
            "mma_sliced_k copies by TMA: the address and the rows of {} must be aligned to {} bytes, not {}", name,
            kTmaAlignment, alignment));
    if (pitch_bytes >= kLargestPitch)
        reasons.push_back(
            fmt::format("{}'s rows are {} bytes apart: TMA needs a pitch below {}", name, pitch_bytes, kLargestPitch));
}

/// Lines of shared memory of 16, 32, 64 or 128 bytes are what TMA swizzles (16: leaves as they are).
bool is_one_of(int value, std::initializer_list<int> list) { return std::ranges::find(list, value) != list.end(); }

void check_tiles(Reasons& reasons, const GemmSpec& multiplied, const Config& c) {
    const int panel_k = sliced_panel_k(multiplied.a);
    if (!is_one_of(c.block.m, {16, 32, kMostLong}))
        reasons.push_back(fmt::format("block_tile.m = {} is not 16, 32 or 64 rows of the long operand", c.block.m));
    if (!is_one_of(c.block.n, {8, 16, kMostFew}))
        reasons.push_back(fmt::format("block_tile.n = {} is not 8, 16 or 32", c.block.n));
    check_divides(reasons, "block_tile.k", c.block.k, "the k of a warp", panel_k);
    check_range(reasons, fmt::format("warps (block_tile.k / {})", panel_k), c.block.k / panel_k, 1, kMostWarps);
    check_range(reasons, "stages", c.stages, kFewestStages, kMostStages);
    if (multiplied.n > c.block.n)
        reasons.push_back(
            fmt::format("swap_ab = {}: a block tile must hold all {} of D, but {} are more than block_tile.n = {}",
                        c.swap_ab ? 1 : 0, c.swap_ab ? "rows" : "columns", multiplied.n, c.block.n));
}

void check_early(Reasons& reasons, const GemmSpec& multiplied, const Config& c) {
    if (!c.early) return;
    if (!c.dependent_launch)
        reasons.emplace_back("early: without dependent_launch a kernel never waits, so early must be none");
    if (!multiplied.constant_a)
        reasons.push_back(fmt::format("early: {} is not constant in this problem", c.swap_ab ? 'B' : 'A'));
}

}  // namespace

bool MmaSlicedK::selected_by_default(const Problem&) { return true; }

SumOrder MmaSlicedK::sum_order(DataType operands, const Config&) {
    return {.instruction = MathInstruction::mma, .instruction_k = sliced_mma(operands).k, .in_k_order = false};
}

Reasons MmaSlicedK::unsupported(const Problem& problem, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = unsupported_on_tensor_cores(kName, spec, arch);
    if (!arch.has_tma) reasons.push_back(fmt::format("mma_sliced_k needs sm_90 (TMA), not {}", arch.name));
    check_tma_operand(reasons, 'A', spec.align_a, spec.lda * bytes(spec.a));
    check_tma_operand(reasons, 'B', spec.align_b, spec.ldb * bytes(spec.b));
    if (std::min(spec.m, spec.n) > kMostFew)
        reasons.push_back(
            fmt::format("mma_sliced_k multiplies at most {} rows or columns, not {} by {}", kMostFew, spec.m, spec.n));
    return reasons;
}

Reasons MmaSlicedK::violations(const Problem& problem, const Config& c, const Arch& arch) {
    Reasons reasons = unsupported(problem, arch);
    if (!reasons.empty()) return reasons;
    const GemmSpec multiplied = as_multiplied(problem.row_major(), c.swap_ab);
    check_tiles(reasons, multiplied, c);
    check_early(reasons, multiplied, c);
    check_dependent_launch(reasons, c.dependent_launch, arch);
    if (!reasons.empty()) return reasons;
    const SlicedKGeometry g = geometry(problem.signature, c);
    if (g.shared_bytes > arch.shared_bytes_per_block)
        reasons.push_back(fmt::format("{} bytes of shared memory (pipeline {}, sums {}), {} has {}", g.shared_bytes,
                                      g.pipeline_bytes, g.sums_bytes, arch.name, arch.shared_bytes_per_block));
    check_grid(reasons, multiplied, {.tile_m = c.block.m, .tile_n = c.block.n});
    return reasons;
}

}  // namespace jitgemm
