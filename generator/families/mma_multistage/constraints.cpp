#include "generator/families/mma_multistage/family.hpp"

#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/tensor_core_constraints.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr int kMaxWarps = 16;
constexpr int kMinStages = 2;
constexpr int kMaxStages = 16;
constexpr int kMaxSplits = 64;

void check_tiles(Reasons& reasons, const MmaMultistageConfig& c, int element_bytes) {
    const int least_row = 2 * kChunkBytes / element_bytes;
    check_divides(reasons, "block_tile.m", c.block.m, "warp_tile.m", c.warp.m);
    check_divides(reasons, "block_tile.n", c.block.n, "warp_tile.n", c.warp.n);
    check_divides(reasons, "block_tile.k", c.block.k, "mma_shape.k", c.mma.k);
    check_divides(reasons, "block_tile.k", c.block.k, "the shortest row of shared memory", least_row);
    check_divides(reasons, "warp_tile.m", c.warp.m, "mma_shape.m", c.mma.m);
    check_divides(reasons, "warp_tile.n", c.warp.n, "mma_shape.n", c.mma.n);
    if (c.warp.k != c.block.k)
        reasons.push_back(
            fmt::format("warp_tile.k = {} differs from block_tile.k = {}: warps don't divide K", c.warp.k, c.block.k));
}

void check_swizzle(Reasons& reasons, std::string_view name, const OperandGeometry& operand, SharedLayout layout) {
    if (layout != SharedLayout::swizzle) return;
    const std::string reason = swizzle_violation(operand.pitch_bytes);
    if (!reason.empty()) reasons.push_back(fmt::format("{} in shared memory: {}", name, reason));
}

void check_atom(Reasons& reasons, const GemmSpec& spec, const MmaMultistageConfig& c, const Arch& arch) {
    const MmaAtom* atom = atom_of(spec, c);
    if (atom == nullptr) {
        reasons.push_back(fmt::format("no mma.sync of shape {}x{}x{} for {} x {} with {} accumulators", c.mma.m,
                                      c.mma.n, c.mma.k, to_string(spec.a), to_string(spec.b),
                                      to_string(spec.accumulator)));
    } else if (atom->first_compute_capability > arch.compute_capability) {
        reasons.push_back(
            fmt::format("{} needs sm_{}, not {}", atom->ptx_name, atom->first_compute_capability, arch.name));
    }
}

/// The tensor cores of this architecture must multiply these types at all.
void check_types(Reasons& reasons, const GemmSpec& spec, const Arch& arch) {
    if (bytes(spec.a) != 1) return;
    constexpr TileShape kMmaOfBytes{16, 8, 32};
    const MmaAtom* atom = find_mma_atom(kMmaOfBytes, spec.a, spec.b, spec.accumulator);
    if (atom != nullptr && atom->first_compute_capability > arch.compute_capability)
        reasons.push_back(fmt::format("mma_multistage multiplies {} by {} on sm_{} and newer, not on {}",
                                      to_string(spec.a), to_string(spec.b), atom->first_compute_capability, arch.name));
}

/// Elements of 8 bits come by cp.async, along K. Operands that lie otherwise are copied first.
void check_bytes(Reasons& reasons, const GemmSpec& spec, const MmaMultistageConfig& c) {
    if (!needs_k_major(spec.a)) return;
    const auto check = [&](char name, bool is_packed, bool is_transposed, int alignment) {
        const char packed = static_cast<char>(name - 'A' + 'a');
        if (!is_packed && is_transposed)
            reasons.push_back(
                fmt::format("K is not contiguous in {} (layout {}), and ldmatrix transposes no elements of 8 bits: "
                            "pack must have {}",
                            name, to_string(spec.layout), packed));
        else if (!is_packed && widest_cp_async(alignment) == nullptr)
            reasons.push_back(
                fmt::format("{} is aligned to {} bytes, and cp.async copies 8-bit elements from multiples "
                            "of 4 on: pack must have {}",
                            name, alignment, packed));
    };
    check('A', packs_a(c.pack), transposes_a(spec), spec.align_a);
    check('B', packs_b(c.pack), transposes_b(spec), spec.align_b);
}

void check_ldmatrix(Reasons& reasons, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    const TileShape repetitions{g.tiles_m, g.tiles_n, 1};
    for (const auto& [operand, x] : {std::pair{Operand::a, c.ldmatrix_a}, std::pair{Operand::b, c.ldmatrix_b}}) {
        if (loads_words(operand == Operand::a ? g.a : g.b)) {
            if (x != MmaMultistageConfig{}.ldmatrix_a)
                reasons.push_back(fmt::format("ldmatrix of {} = {}: its words are loaded one by one, so it must be {}",
                                              to_string(operand), x, MmaMultistageConfig{}.ldmatrix_a));
            continue;
        }
        for (std::string& reason : ldmatrix_violations(operand, x, c.mma, repetitions, 8 * g.a.element_bytes))
            reasons.push_back(std::move(reason));
    }
}

void check_pipeline(Reasons& reasons, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    if (c.stages < kMinStages || c.stages > kMaxStages)
        reasons.push_back(fmt::format("stages = {} is outside {} to {}", c.stages, kMinStages, kMaxStages));
    if (g.k_blocks % 2 != 0)
        reasons.push_back(
            fmt::format("double buffering needs an even number of k-blocks, block_tile.k / mma_shape.k = {} / {} = {}",
                        c.block.k, c.mma.k, g.k_blocks));
    if (c.split_k < 1 || c.split_k > kMaxSplits)
        reasons.push_back(fmt::format("split_k = {} is outside 1 to {}", c.split_k, kMaxSplits));
}

void check_reduction(Reasons& reasons, const GemmSpec& spec, const MmaMultistageConfig& c, const Arch& arch) {
    if (c.reduction != Reduction::cluster) return;
    if (spec.accumulator == DataType::s32) reasons.emplace_back("reduction = cluster adds sums of f32, not s32");
    if (c.split_k < 2)
        reasons.emplace_back("reduction = cluster needs a split_k of 2 or more: else there is nothing to add up");
    if (arch.max_cluster_blocks == 0)
        reasons.push_back(fmt::format("reduction = cluster needs thread-block clusters (sm_90), not {}", arch.name));
    else if (c.split_k > arch.max_cluster_blocks)
        reasons.push_back(fmt::format("reduction = cluster: {} blocks share a tile, a cluster of {} has at most {}",
                                      c.split_k, arch.name, arch.max_cluster_blocks));
}

void check_epilogue(Reasons& reasons, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    if (g.vector_d < 1 || c.warp.n % g.vector_d != 0)
        reasons.push_back(fmt::format("epilogue: warp_tile.n = {} is not a multiple of the {} elements stored at once",
                                      c.warp.n, g.vector_d));
}

/// Halves of B come by groups of eight columns.
void check_halves(Reasons& reasons, const MmaMultistageConfig& c, const TensorCoreGeometry& g, bool has_groups) {
    check_divides(reasons, "warp_tile.n", c.warp.n, "the columns of eight pairs", kSumsOfEightPairs);
    if (!g.b.async && g.b.shifted)
        reasons.emplace_back(has_groups
                                 ? "B is aligned to one element: in groups, pairs of halves need more alignment"
                                 : "B is aligned to one element: pairs of halves need pack = b, or more alignment");
    const int rows = g.b.vectors_per_row == 0 ? 0 : g.threads / g.b.vectors_per_row;
    if (g.b.k_major && rows % kSumsOfEightPairs != 0)
        reasons.push_back(fmt::format("{} threads copy {} columns of B at once, which are no whole groups of {}",
                                      g.threads, rows, kSumsOfEightPairs));
}

void check_pairs(Reasons& reasons, const Problem& problem, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    if (!has_pairs(problem.signature)) return;
    if (c.reduction == Reduction::cluster)
        reasons.emplace_back("reduction = cluster serves no epilogue with pairs of columns");
    if (!c.splits_in_workspace())
        check_divides(reasons, "warp_tile.n", c.warp.n, "the sums of a vector of D", 2 * g.vector_d);
    if (pairs_of(problem.signature) == EpiloguePairs::halves)
        check_halves(reasons, c, g, has_groups(problem.row_major()));
}

void check_packing(Reasons& reasons, const GemmSpec& spec, const MmaMultistageConfig& c) {
    const auto check_alignment = [&](std::string_view name, int alignment, bool is_transposed) {
        if (!needs_packing(alignment) && !is_transposed)
            reasons.push_back(fmt::format("pack: {} is aligned to {} bytes already", name, alignment));
    };
    if (packs_a(c.pack)) check_alignment("A", spec.align_a, transposes_a(spec));
    if (packs_b(c.pack)) check_alignment("B", spec.align_b, transposes_b(spec));
    check_vectors(reasons, spec, c.pack);
}

/// In a batch, the workspace holds copies of operands that have no other way: no partial sums, and no copies of
/// operands of 16 or 32 bits.
void check_batch(Reasons& reasons, const GemmSpec& spec, const MmaMultistageConfig& c) {
    if (!is_batched(spec) && !has_groups(spec)) return;
    if (c.splits_in_workspace())
        reasons.push_back(fmt::format("split_k = {}: a batch needs reduction = cluster, or split_k = 1", c.split_k));
    if (is_grouped_by_k(spec) && c.split_k > 1)
        reasons.push_back(fmt::format("split_k = {}: groups are parts of K already", c.split_k));
    if (has_groups(spec)) {
        if (c.pack != Pack::none) reasons.emplace_back("pack: operands of groups are read as they lie");
        return;
    }
    if (c.pack != Pack::none && !needs_k_major(spec.a))
        reasons.emplace_back("pack: operands of a batch are read as they lie");
    if (c.pack != Pack::none && needs_k_major(spec.a) && c.pack != pack_for_tma(spec))
        reasons.push_back(fmt::format(
            "pack: a batch copies all 8-bit operands that are not rows of K aligned to {} bytes, and no others",
            kTmaAlignment));
}

/// In groups, no copy comes before the product.
void check_groups_of_bytes(Reasons& reasons, const GemmSpec& spec) {
    if (is_grouped_by_k(spec)) {
        reasons.push_back(fmt::format(
            "ragged=k: A is {}, but a group may begin at any k, and cp.async copies 8-bit elements from multiples of 4 "
            "on: f16, bf16 or f32",
            to_string(spec.a)));
        return;
    }
    const auto check = [&](char name, bool is_transposed, int alignment) {
        if (is_transposed)
            reasons.push_back(fmt::format(
                "groups: K is not contiguous in {} (layout {}), and no kernel transposes elements of 8 bits first",
                name, to_string(spec.layout)));
        else if (widest_cp_async(alignment) == nullptr)
            reasons.push_back(
                fmt::format("groups: {} is aligned to {} bytes, but cp.async copies 8-bit elements from multiples of 4 "
                            "on, and no kernel copies {} first",
                            name, alignment, name));
    };
    check('A', transposes_a(spec), spec.align_a);
    check('B', transposes_b(spec), spec.align_b);
}

}  // namespace

bool MmaMultistage::selected_by_default(const Problem&) { return true; }

Reasons MmaMultistage::unsupported(const Problem& problem, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons =
        unsupported_on_tensor_cores("mma_multistage", spec, arch, {.factors_of_8_bits = true, .parts = true});
    check_types(reasons, spec, arch);
    if (has_groups(spec) && needs_k_major(spec.a)) check_groups_of_bytes(reasons, spec);
    check_scaled_types(reasons, problem);
    if (has_pairs(problem.signature) && has_block_scales(problem.signature))
        reasons.emplace_back("mma_multistage scales blocks of K, and it makes pairs of columns, but not both");
    if (pairs_of(problem.signature) == EpiloguePairs::halves && spec.n % kSumsOfEightPairs != 0)
        reasons.push_back(
            fmt::format("n is {}, but mma_multistage copies pairs of halves by eight: n must be a multiple of {}",
                        spec.n, kSumsOfEightPairs));
    return reasons;
}

Reasons MmaMultistage::violations(const Problem& problem, const MmaMultistageConfig& c, const Arch& arch) {
    const GemmSpec& spec = problem.row_major();
    Reasons reasons = MmaMultistage::unsupported(problem, arch);
    if (!reasons.empty()) return reasons;
    const TensorCoreGeometry g = geometry(problem.signature, c);
    check_tiles(reasons, c, bytes(problem.signature.a));
    check_atom(reasons, spec, c, arch);
    check_warps(reasons, g, kMaxWarps);
    check_bytes(reasons, spec, c);
    check_promoted_k(reasons, spec, c.promote, c.block.k);
    check_ldmatrix(reasons, c, g);
    check_pipeline(reasons, c, g);
    check_swizzle(reasons, "A", g.a, c.shared_layout);
    check_copy(reasons, "A", g.a, g.threads);
    check_swizzle(reasons, "B", g.b, c.shared_layout);
    check_copy(reasons, "B", g.b, g.threads);
    check_reduction(reasons, spec, c, arch);
    check_dependent_launch(reasons, c.dependent_launch, arch);
    check_epilogue(reasons, c, g);
    check_pairs(reasons, problem, c, g);
    check_rasterization(reasons, c, c.block, spec);
    check_resources(reasons, g, arch);
    check_packing(reasons, spec, c);
    check_batch(reasons, spec, c);
    check_grid(reasons, spec, {c.block.m, c.block.n, c.split_k});
    return reasons;
}

}  // namespace jitgemm
