#include "generator/families/shared/simt_render.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// A number of the tiling: GEMM_BLOCK_M in conditions, kBlockM in code.
struct Constant {
    std::string_view macro;
    std::string_view name;
    int value;
    std::string_view comment;
};

/// Only those that the family's kernel names: a dump without them is easier to read.
std::vector<Constant> constants(const SimtTiling& tiling, const SimtGeometry& g) {
    std::vector<Constant> list;
    const bool only_threads = !tiling.tile && !g.uses_shared();
    if (!only_threads) {
        list.push_back(
            {"GEMM_BLOCK_M", "kBlockM", g.block.m, "block tile: the part of D that a block computes at a time"});
        list.push_back({"GEMM_BLOCK_N", "kBlockN", g.block.n, ""});
    }
    if (g.uses_shared())
        list.push_back({"GEMM_BLOCK_K", "kBlockK", g.block.k, "K that a block holds in shared memory at a time"});
    if (tiling.tile) {
        list.push_back(
            {"GEMM_TILE_M", "kTileM", g.tile.m, "thread tile: elements of the block tile that a thread computes"});
        list.push_back({"GEMM_TILE_N", "kTileN", g.tile.n, ""});
    }
    list.push_back({"GEMM_THREADS_M", "kThreadsM", g.threads_m, "threads of a block along M and N"});
    list.push_back({"GEMM_THREADS_N", "kThreadsN", g.threads_n, ""});
    return list;
}

std::string params_text(const GemmSignature& s, const std::vector<Constant>& constants) {
    std::string text;
    for (const Constant& constant : constants) text += constant_line(constant.name, constant.value, constant.comment);
    text += "\n";
    if (s.a != DataType::f32 || s.d != DataType::f32 || (s.c && *s.c != DataType::f32))
        text += alias_line("Bits", "unsigned short", "a 16-bit element in memory");
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    return text + alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d)));
}

}  // namespace

RenderInput simt_render_input(const GemmSignature& s, const SimtTiling& tiling) {
    const SimtGeometry g = simt_geometry(s, tiling);
    RenderInput input;
    input.macros = {{"GEMM_A_K_MAJOR", g.a_k_major}, {"GEMM_B_K_MAJOR", g.b_k_major}, {"GEMM_ALONG_N", tiling.along_n}};
    input.macros.merge(type_macros(s));
    const std::vector<Constant> list = constants(tiling, g);
    for (const Constant& constant : list) input.macros.emplace(constant.macro, constant.value);
    input.generated["epilogue_expression.cuh"] = epilogue_expression(s, FinishUnit::element);
    input.generated["params.cuh"] = params_text(s, list);
    return input;
}

std::vector<KernelEntry> simt_entries(const GemmSignature& s, const SimtTiling& tiling) {
    return {gemm_entry(simt_geometry(s, tiling), simt_grid(tiling), gemm_arguments(s, false))};
}

ElementOwner simt_owner(const Problem& problem, const SimtTiling& tiling, std::int64_t row, std::int64_t column) {
    const SimtGeometry g = simt_geometry(problem.signature, tiling);
    ElementOwner owner;
    owner.tile_m = row / g.block.m;
    owner.tile_n = column / g.block.n;
    const std::int64_t tile = owner.tile_m * ceil_div(problem.row_major().n, std::int64_t{g.block.n}) + owner.tile_n;
    owner.block = tile % block_count(simt_grid(tiling), problem.row_major());
    const int in_block_m = static_cast<int>(row % g.block.m);
    const int in_block_n = static_cast<int>(column % g.block.n);
    const int thread_m = in_block_m % g.threads_m;
    const int thread_n = in_block_n % g.threads_n;
    const int thread = tiling.along_n ? thread_m * g.threads_n + thread_n : thread_n * g.threads_m + thread_m;
    owner.warp = thread / kWarpLanes;
    owner.lane = thread % kWarpLanes;
    owner.accumulator_register = in_block_m / g.threads_m * g.tile.n + in_block_n / g.threads_n;
    return owner;
}

}  // namespace jitgemm
