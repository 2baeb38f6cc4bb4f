#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/simt_long_k/family.hpp"
#include "generator/families/simt_long_k/geometry.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// A number of the kernel: GEMM_WARPS in the template's defaults, kWarps in code.
struct LongKConstant {
    std::string_view macro;
    std::string_view name;
    int value;
    std::string_view comment;
};

std::vector<LongKConstant> long_k_constants(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    std::vector<LongKConstant> list{
        {"GEMM_BLOCK_M", "kBlockM", c.block().m,
         "block tile: the part of D that a block, and each of its warps, has sums of"},
        {"GEMM_BLOCK_N", "kBlockN", c.block().n, ""},
        {"GEMM_BLOCK_K", "kBlockK", c.block_k, "and of K that it loads at a time"},
        {"GEMM_THREAD_M", "kThreadM", c.thread.m, "thread tile: the part of it that a thread has sums of"},
        {"GEMM_THREAD_N", "kThreadN", c.thread.n, ""},
        {"GEMM_WARP_LANES_M", "kWarpLanesM", c.lanes.m, "lanes of a warp along M, N and K"},
        {"GEMM_WARP_LANES_N", "kWarpLanesN", c.lanes.n, ""},
        {"GEMM_WARP_LANES_K", "kWarpLanesK", c.lanes.k, ""},
        {"GEMM_WARPS", "kWarps", c.warps, "warps of a block: they share out the k of a k-tile"},
        {"GEMM_STAGES", "kStages", c.stages, "k-tiles in shared memory: one in use, the others in flight"},
        {"GEMM_SPLIT_K", "kSplitK", c.split_k, "blocks that share the K of one tile"},
        {"GEMM_MIN_BLOCKS_PER_SM", "kMinBlocksPerSm", c.min_blocks_per_sm,
         "blocks an SM shall hold at once: bounds a thread's registers"},
        {"GEMM_VECTOR_A", "kVectorA", g.a.vector, "elements of A a thread copies at once"},
        {"GEMM_VECTOR_B", "kVectorB", g.b.vector, "elements of B a thread copies at once"},
        {"GEMM_REDUCE_WARPS", "kReduceWarps", kLongKReduceWarps, "warps of a block that adds up sums of blocks"}};
    return list;
}

std::string long_k_params(const GemmSignature& s, const std::vector<LongKConstant>& constants) {
    std::string text;
    for (const LongKConstant& constant : constants)
        text += constant_line(constant.name, constant.value, constant.comment);
    text += "\n";
    if (s.d != DataType::f32 || (s.c && *s.c != DataType::f32))
        text += alias_line("Bits", "unsigned short", "a 16-bit element as stored");
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} as stored", to_string(*s.c)));
    return text + alias_line("ElementD", element_type(s.d), fmt::format("{} as stored", to_string(s.d)));
}

}  // namespace

RenderInput SimtLongK::render_input(const GemmSignature& s, const SimtLongKConfig& c) {
    const SimtLongKGeometry g = geometry(s, c);
    RenderInput input;
    input.macros = {{"GEMM_A_K_MAJOR", g.a.k_major},
                    {"GEMM_B_K_MAJOR", g.b.k_major},
                    {"GEMM_WORKSPACE", 1},
                    {"GEMM_DEPENDENT_LAUNCH", c.dependent_launch}};
    input.macros.merge(type_macros(s));
    const std::vector<LongKConstant> list = long_k_constants(c, g);
    for (const LongKConstant& constant : list) input.macros.emplace(constant.macro, constant.value);
    input.generated["params.cuh"] = long_k_params(s, list);
    input.generated["epilogue_expression.cuh"] = epilogue_expression(s, FinishedUnit::element);
    input.pieces["simt_params.cuh"] = "params.cuh";
    return input;
}

std::vector<KernelEntry> SimtLongK::entries(const GemmSignature& s, const SimtLongKConfig& c) {
    const GridRule grid{.tile_m = c.block().m, .tile_n = c.block().n, .splits = c.split_k};
    KernelEntry gemm = gemm_entry(geometry(s, c), grid, gemm_arguments(s.c.has_value(), true));
    gemm.programmatic_launch = c.dependent_launch;
    KernelEntry reduce;
    reduce.programmatic_launch = c.dependent_launch;
    reduce.function = "gemm_reduce";
    reduce.threads = kLongKReduceWarps * 32;
    reduce.grid = long_k_reduce_grid();
    reduce.arguments = gemm.arguments;
    return {gemm, reduce};
}

std::int64_t SimtLongK::workspace_bytes(const Problem& problem, const SimtLongKConfig& config) {
    return config.split_k * problem.row_major.m * problem.row_major.n * std::int64_t{4};
}

}  // namespace jitgemm
