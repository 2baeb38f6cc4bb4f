#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/float_cp_async.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/split_k.hpp"
#include "generator/families/shared/workspace_text.hpp"
#include "generator/families/simt_hierarchical/family.hpp"
#include "generator/families/simt_hierarchical/geometry.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

bool has_pass_residue(const SimtOperand& operand) { return operand.rows % operand.rows_per_pass != 0; }

std::string sizes_text(const Config& c, const SimtHierarchicalGeometry& g) {
    std::string text = tile_lines(c.block, c.warp);
    text += constant_line("kThreadM", c.thread.m,
                          "thread tile: the part of the warp tile that a thread computes, in 4x4 pieces");
    text += constant_line("kThreadN", c.thread.n, "");
    text += constant_line("kStages", c.stages, "k-tiles in shared memory: one in use, the others in flight");
    text += constant_line("kCopySlices", c.copy_slices, "values of k over which the copies of a k-tile are spread");
    if (g.a.transposed || g.b.transposed)
        text += constant_line("kKLanes", c.k_lanes, "values of k that a warp copies at once when it transposes");
    if (!g.a.transposed) text += constant_line("kVectorA", g.a.vector, "elements of A that a thread copies at once");
    if (!g.b.transposed) text += constant_line("kVectorB", g.b.vector, "elements of B that a thread copies at once");
    text += constant_line("kVectorD", g.vector_d, "elements of D that a thread stores at once");
    text += group_line(c.rasterization, c.group);
    text += constant_line("kMinBlocksPerSm", c.min_blocks_per_sm,
                          "blocks that an SM must hold at once: bounds a thread's registers");
    if (c.split_k > 1) text += constant_line("kSplitK", c.split_k, "blocks that share the K of one tile");
    if (c.blocks_per_wave > 0)
        text += constant_line("kWave", c.blocks_per_wave,
                              "blocks that run at once: tiles left over from whole waves are cut in two");
    if (c.split_k > 1 || c.blocks_per_wave > 0)
        text += constant_line("kReduceThreads", kReduceThreads, "threads of a block that adds partial sums");
    return text;
}

std::string pitch_line(char name, const SimtOperand& operand) {
    return constant_line(fmt::format("kPitch{}", name), operand.pitch,
                         operand.transposed ? "floats from k to k; padded: a warp writes kKLanes rows without "
                                              "bank conflicts"
                                            : "floats from k to k");
}

std::string derived_text(const Config& c, const SimtHierarchicalGeometry& g) {
    std::string text =
        constant_line("kWarpsN", g.warps_n, "warps of a block, side by side along N") +
        constant_line("kThreads", g.threads, "threads of a block") +
        constant_line("kLanesM", g.lanes_m, "lanes of a warp along M and N") + constant_line("kLanesN", g.lanes_n, "") +
        "// Tiles in shared memory have a row per k, and elements of M or N side by side. Where global memory has k\n"
        "// side by side, the copies transpose them.\n" +
        pitch_line('A', g.a) + pitch_line('B', g.b) + constant_line("kStageA", g.a.stage_floats, "floats of a stage") +
        constant_line("kStageB", g.b.stage_floats, "");
    if (c.store == EpilogueStore::shared)
        text += constant_line("kPitchD", g.pitch_d,
                              "floats from row to row of the epilogue's buffer; padded against bank conflicts");
    return text;
}

/// Which column of sums a row updates at a step.
std::string update_order_text(UpdateOrder order) {
    const std::string start =
        "// The column of sums that a row updates at a step: see rank_1_update.\n"
        "__device__ constexpr int column_of_step(int row, int step) {";
    if (order == UpdateOrder::left) return start + " return row % 2 == 0 ? step : kThreadN - 1 - step; }\n";
    if (order == UpdateOrder::right) return start + " return row % 2 == 0 ? kThreadN - 1 - step : step; }\n";
    return start +
           "\n    const int place = row % 2 == 0 ? step : kThreadN - 1 - step;\n"
           "    return place < kThreadN / 2 ? 2 * place : 2 * place - kThreadN + 1;  // even columns before odd ones\n"
           "}\n";
}

std::string params_text(const GemmSignature& s, const Config& c, const SimtHierarchicalGeometry& g) {
    const auto is_bits = [](DataType type) { return type != DataType::f32; };
    std::string text = sizes_text(c, g) + "\n";
    if (is_bits(s.a) || is_bits(s.d) || (s.c && is_bits(*s.c)))
        text += alias_line("Bits", "unsigned short", "a 16-bit element in memory");
    text += alias_line("Element", element_type(s.a), fmt::format("{} of A and B in memory", to_string(s.a)));
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    text += alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d)));
    const std::string_view out = c.split_k > 1 ? "float" : "ElementD";
    text += alias_line("ElementOut", out, "the element that the epilogue stores");
    return text + "\n" + derived_text(c, g) + "\n" + update_order_text(c.order);
}

std::string copy_alias(const SimtOperand& operand, char name, char extent) {
    if (operand.transposed) return fmt::format("using Copy{0} = TransposedCopy<kBlock{1}, kPitch{0}>;\n", name, extent);
    return fmt::format("using Copy{0} = StraightCopy<kBlock{1}, kPitch{0}, kVector{0}>;\n", name, extent);
}

std::string cp_async_text(const Config& c, const SimtHierarchicalGeometry& g) {
    FloatVectors whole, cut;
    for (const SimtOperand& operand : {g.a, g.b}) {
        if (operand.transposed)
            whole.add(1);
        else
            (c.predicated ? cut : whole).add(operand.vector);
    }
    return float_cp_async(whole, cut);
}

constexpr std::string_view kReachOfAnyProblem =
    "// How much of a matrix lies ahead of the place that a thread has in the next k-tile.\n"
    "struct Reach {{\n"
    "    int k;\n"
    "    int extent;  // rows or columns of the matrix\n\n"
    "    Reach() = default;\n"
    "    __device__ __forceinline__ Reach(int k_left, int extent_left) : k(k_left), extent(extent_left) "
    "{{}}\n{}{}}};\n";
constexpr std::string_view kReachOfWholeTiles =
    "// How much of K lies ahead of the place that a thread has in the next k-tile. The problem is whole tiles: all "
    "of\n"
    "// a tile is there, or it lies beyond the end of K.\n"
    "struct Reach {{\n"
    "    int k;\n\n"
    "    Reach() = default;\n"
    "    __device__ __forceinline__ Reach(int k_left, int /*extent_left*/) : k(k_left) {{}}\n{}{}}};\n";

std::string reach_text(bool predicated, bool transposed, bool straight) {
    if (!predicated)
        return fmt::format(
            kReachOfWholeTiles,
            straight ? "    __device__ __forceinline__ bool contains_k(int /*along_k*/) const { return k > 0; }\n" : "",
            transposed
                ? "    __device__ __forceinline__ bool contains(int /*along_extent*/, int /*along_k*/) const { return "
                  "k > 0; }\n"
                : "");
    return fmt::format(
        kReachOfAnyProblem,
        straight ? "    __device__ __forceinline__ bool contains_k(int along_k) const { return k > along_k; }\n" : "",
        transposed ? "    __device__ __forceinline__ bool contains(int along_extent, int along_k) const {\n"
                     "        return extent > along_extent && k > along_k;\n"
                     "    }\n"
                   : "");
}

void add_pieces(RenderInput& input, const Config& c, const SimtHierarchicalGeometry& g) {
    input.generated["cp_async.cuh"] = cp_async_text(c, g);
    input.generated["reach.cuh"] =
        "// ---- simt_hierarchical\n" +
        reach_text(c.predicated, g.a.transposed || g.b.transposed, !g.a.transposed || !g.b.transposed);
    input.generated["simt_copies.inl"] = copy_alias(g.a, 'A', 'M') + copy_alias(g.b, 'B', 'N');
    input.generated["second_entry.inl"] = c.split_k > 1           ? "#include \"epilogue/split_k_reduce.cuh\"\n"
                                          : c.blocks_per_wave > 0 ? "#include \"scheduler/remainder_tiles.cuh\"\n"
                                                                  : "";
    add_workspace(input, {.sums = c.split_k > 1 ? WorkspaceSums::of_splits : WorkspaceSums::none});
}

}  // namespace

RenderInput SimtHierarchical::render_input(const GemmSignature& s, const SimtHierarchicalConfig& c) {
    const SimtHierarchicalGeometry g = geometry(s, c);
    RenderInput input;
    input.macros = {{"GEMM_BLOCK_M", c.block.m},
                    {"GEMM_BLOCK_N", c.block.n},
                    {"GEMM_BLOCK_K", c.block.k},
                    {"GEMM_WARP_M", c.warp.m},
                    {"GEMM_WARP_N", c.warp.n},
                    {"GEMM_THREAD_M", c.thread.m},
                    {"GEMM_THREAD_N", c.thread.n},
                    {"GEMM_STAGES", c.stages},
                    {"GEMM_COPY_SLICES", c.copy_slices},
                    {"GEMM_K_LANES", c.k_lanes},
                    {"GEMM_PREDICATED", c.predicated},
                    {"GEMM_UPDATE_ORDER", static_cast<int>(c.order)},
                    {"GEMM_MIN_BLOCKS_PER_SM", c.min_blocks_per_sm},
                    {"GEMM_COPY_ASYNC", c.copy == CopyPath::async},
                    {"GEMM_DOUBLE_BUFFER", c.double_buffer},
                    {"GEMM_RASTERIZATION", static_cast<int>(c.rasterization)},
                    {"GEMM_GROUP", c.group},
                    {"GEMM_SPLIT_K", c.split_k},
                    {"GEMM_WAVE", c.blocks_per_wave},
                    {"GEMM_DEPENDENT_LAUNCH", c.dependent_launch},
                    {"GEMM_A_K_MAJOR", g.a.transposed},
                    {"GEMM_B_K_MAJOR", g.b.transposed},
                    {"GEMM_VECTOR_A", g.a.vector},
                    {"GEMM_VECTOR_B", g.b.vector},
                    {"GEMM_VECTOR_D", g.vector_d},
                    {"GEMM_EPILOGUE_SHARED", c.store == EpilogueStore::shared},
                    {"GEMM_PASS_RESIDUE", has_pass_residue(g.a) || has_pass_residue(g.b)}};
    input.macros.merge(type_macros(s));
    input.generated["params.cuh"] = params_text(s, c, g);
    input.generated["epilogue_expression.cuh"] = epilogue_expression(s, FinishUnit::element);
    input.pieces["simt_params.cuh"] = "params.cuh";
    add_pieces(input, c, g);
    return input;
}

std::vector<KernelEntry> SimtHierarchical::entries(const GemmSignature& s, const SimtHierarchicalConfig& c) {
    const bool has_workspace = c.split_k > 1 || c.blocks_per_wave > 0;
    std::vector<KernelEntry> entries{
        gemm_entry(geometry(s, c), hierarchical_grid(c), gemm_arguments(s, has_workspace))};
    const std::vector<KernelArgument>& arguments = entries.front().arguments;
    if (c.split_k > 1)
        entries.push_back(reduce_entry(arguments));
    else if (c.blocks_per_wave > 0)
        entries.push_back(add_partials_entry(arguments, {c.block.m, c.block.n, c.block.k}, c.blocks_per_wave));
    for (KernelEntry& entry : entries) entry.programmatic_launch = c.dependent_launch;
    return entries;
}

std::int64_t SimtHierarchical::workspace_bytes(const Problem& problem, const SimtHierarchicalConfig& c) {
    return c.blocks_per_wave > 0 ? remainder_bytes(problem.row_major(), c.block, c.blocks_per_wave)
                                 : partial_sum_bytes(problem.row_major(), c.split_k);
}

}  // namespace jitgemm
