#include "generator/families/wmma_multistage/family.hpp"

#include "generator/families/shared/tensor_core_constraints.hpp"
#include "generator/families/wmma_multistage/geometry.hpp"
#include "generator/layout/swizzle.hpp"
#include "generator/layout/wmma_atom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr int kMaxWarps = 32;
constexpr int kMaxStages = 8;
constexpr int kMaxPadding = 64;
constexpr std::array kL2Prefetches{0, 64, 128, 256};

void check_tiles(Reasons& reasons, const WmmaMultistageConfig& c) {
    check_divides(reasons, "block_tile.m", c.block.m, "warp_tile.m", c.warp.m);
    check_divides(reasons, "block_tile.n", c.block.n, "warp_tile.n", c.warp.n);
    check_divides(reasons, "block_tile.k", c.block.k, "mma_shape.k", c.mma.k);
    check_divides(reasons, "warp_tile.m", c.warp.m, "mma_shape.m", c.mma.m);
    check_divides(reasons, "warp_tile.n", c.warp.n, "mma_shape.n", c.mma.n);
    if (c.warp.k != c.block.k)
        reasons.push_back(
            fmt::format("warp_tile.k = {} differs from block_tile.k = {}: warps don't divide K", c.warp.k, c.block.k));
}

void check_fragments(Reasons& reasons, const GemmSpec& spec, const WmmaMultistageConfig& c) {
    if (find_wmma_atom(c.mma, spec.a, spec.b, spec.accumulator) == nullptr)
        reasons.push_back(fmt::format(
            "no wmma of shape {}x{}x{} for {} x {} with {} accumulators: there are 16x16x16, 32x8x16 and 8x32x16 of "
            "f16 with f16 or f32 and of bf16 with f32",
            c.mma.m, c.mma.n, c.mma.k, to_string(spec.a), to_string(spec.b), to_string(spec.accumulator)));
}

void check_pipeline(Reasons& reasons, const WmmaMultistageConfig& c, const TensorCoreGeometry& g) {
    if (c.stages < 1 || c.stages > kMaxStages)
        reasons.push_back(fmt::format("stages = {} is outside 1 to {}", c.stages, kMaxStages));
    if (c.double_buffer && c.stages > 1 && g.k_blocks % 2 != 0)
        reasons.push_back(fmt::format(
            "double_buffer across stages needs an even number of k-blocks, block_tile.k / mma_shape.k = {} / {} = {}",
            c.block.k, c.mma.k, g.k_blocks));
    if (std::ranges::find(kL2Prefetches, c.l2_prefetch) == kL2Prefetches.end())
        reasons.push_back(fmt::format("l2_prefetch = {} is none of 0, 64, 128 and 256 bytes", c.l2_prefetch));
}

void check_padding(Reasons& reasons, const WmmaMultistageConfig& c, int element_bytes) {
    const int step = kChunkBytes / element_bytes;  // as cp.async and wmma.load want them
    if (c.padding < 0 || c.padding > kMaxPadding || c.padding % step != 0)
        reasons.push_back(fmt::format("padding = {} is no multiple of {} from 0 to {}: rows begin on 16 bytes",
                                      c.padding, step, kMaxPadding));
}

void check_epilogue(Reasons& reasons, const WmmaMultistageConfig& c, const TensorCoreGeometry& g) {
    if (g.vector_d < 1 || c.warp.n % g.vector_d != 0)
        reasons.push_back(fmt::format("epilogue: warp_tile.n = {} is not a multiple of the {} elements stored at once",
                                      c.warp.n, g.vector_d));
}

}  // namespace

Reasons WmmaMultistage::unsupported(const Problem& problem, const Arch& arch) {
    return unsupported_on_tensor_cores("wmma_multistage", problem.row_major(), arch);
}

Reasons WmmaMultistage::violations(const Problem& problem, const WmmaMultistageConfig& c, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = WmmaMultistage::unsupported(problem, arch);
    if (!reasons.empty()) return reasons;
    const TensorCoreGeometry g = geometry(problem.signature, c);
    check_tiles(reasons, c);
    check_fragments(reasons, spec, c);
    check_warps(reasons, g, kMaxWarps);
    check_pipeline(reasons, c, g);
    check_padding(reasons, c, bytes(problem.signature.a));
    check_copy(reasons, "A", g.a, g.threads);
    check_copy(reasons, "B", g.b, g.threads);
    check_epilogue(reasons, c, g);
    check_rasterization(reasons, c, c.block, spec);
    check_resources(reasons, g, arch);
    check_grid(reasons, spec, {c.block.m, c.block.n, 1});
    return reasons;
}

Reasons WmmaMultistage::discouraged(const Problem&, const WmmaMultistageConfig&) { return {}; }

}  // namespace jitgemm
