#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/float_cp_async.hpp"
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
         "block tile: the part of D that a block computes. Each of its warps has sums of all of it"},
        {"GEMM_BLOCK_N", "kBlockN", c.block().n, ""},
        {"GEMM_BLOCK_K", "kBlockK", c.block_k, "K that a block loads at a time"},
        {"GEMM_THREAD_M", "kThreadM", c.thread.m, "thread tile: the part of the block tile that a thread has sums of"},
        {"GEMM_THREAD_N", "kThreadN", c.thread.n, ""},
        {"GEMM_WARP_LANES_M", "kWarpLanesM", c.lanes.m, "lanes of a warp along M, N and K"},
        {"GEMM_WARP_LANES_N", "kWarpLanesN", c.lanes.n, ""},
        {"GEMM_WARP_LANES_K", "kWarpLanesK", c.lanes.k, ""},
        {"GEMM_WARPS", "kWarps", c.warps, "warps of a block, which share the k of a k-tile"},
        {"GEMM_STAGES", "kStages", c.stages, "k-tiles in shared memory: one in use, the others in flight"},
        {"GEMM_SPLIT_K", "kSplitK", c.split_k, "blocks that share the K of one tile"},
        {"GEMM_MIN_BLOCKS_PER_SM", "kMinBlocksPerSm", c.min_blocks_per_sm,
         "blocks that an SM must hold at once: bounds a thread's registers"},
        {"GEMM_VECTOR_A", "kVectorA", g.a.vector, "elements of A that a thread copies at once"},
        {"GEMM_VECTOR_B", "kVectorB", g.b.vector, "elements of B that a thread copies at once"},
        {"GEMM_REDUCE_WARPS", "kReduceWarps", kLongKReduceWarps, "warps of a block that adds up sums of blocks"}};
    return list;
}

/// How often the loop over the steps of a k-tile is unrolled: less, the more sums a thread has.
int unrolled_steps(const SimtLongKConfig& c, int steps) {
    const int sums = c.thread.m * c.thread.n;
    if (sums >= 48 || steps % 2 != 0) return 1;
    return sums >= 24 || steps % 4 != 0 ? 2 : 4;
}

/// Lanes that add up one element: a power of two.
int sum_threads(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    int threads = 1;
    while (threads < 32 && 2 * threads * c.block().m * c.block().n <= g.threads) threads *= 2;
    return threads;
}

std::string layout_lines(const SimtLongKGeometry& g) {
    std::string text =
        "// Tiles in shared memory have the rows of global memory: kBlockK k, or the elements of one k. Pitches are in "
        "floats.\n// They put lanes that read at once into different banks.\n";
    if (!g.a.k_major || !g.b.k_major)
        text += constant_line("kPitchK", g.pitch_k, "floats from one of a thread's four k to the next");
    return text + constant_line("kLanePitchK", g.lane_pitch, "floats from one lane's first k to the next lane's") +
           constant_line("kPieceA", g.a.piece, "neighbours along M that a thread loads at once") +
           constant_line("kPieceB", g.b.piece, "and along N") +
           constant_line("kPitchA", g.a.pitch, "floats from one row of a tile to the next") +
           constant_line("kPitchB", g.b.pitch, "") + constant_line("kStageA", g.a.stage_floats, "floats of a stage") +
           constant_line("kStageB", g.b.stage_floats, "");
}

std::string long_k_derived(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    return constant_line("kThreads", g.threads, "threads of a block") +
           constant_line("kStepK", kLongKQuad * c.lanes.k * c.warps, "k that all threads take at once: four for each") +
           constant_line("kSteps", g.steps, "steps in a k-tile") +
           constant_line("kUnroll", unrolled_steps(c, g.steps), "") + layout_lines(g) +
           constant_line("kParts", c.warps * c.lanes.k, "threads of a block with sums of the same elements") +
           constant_line("kLanesMN", c.lanes.m * c.lanes.n, "lanes of a warp with sums of different elements") +
           constant_line("kPartPitch", g.part_pitch,
                         "floats from part to part: odd, so that lanes use different banks") +
           constant_line("kTileSums", c.block().m * c.block().n, "sums of a block tile") +
           constant_line("kSumThreads", sum_threads(c, g), "lanes that add up one sum");
}

std::string operand_text(const SimtLongKOperand& operand, char name, char extent) {
    return fmt::format(
        "#include \"simt_long_k/operand_{5}_major.cuh\"\n"
        "using Operand{0} = {2}MajorOperand<kBlock{1}, kThread{1}, kWarpLanes{1}, kVector{0}, kPitch{0}{3}{4}>;\n",
        name, extent, operand.k_major ? "K" : "MN", operand.k_major ? "" : ", kPiece",
        operand.k_major ? "" : std::string(1, name), operand.k_major ? "k" : "mn");
}

/// "const float* from_a = sA + read_stage * kStageA + place.m * kPitchA + place.k;"
std::string first_element(const SimtLongKOperand& operand, char name, char along) {
    const char upper = name == 'a' ? 'A' : 'B';
    const std::string place = operand.k_major
                                  ? fmt::format("place.{} * kPitch{} + place.k", along, upper)
                                  : fmt::format("place.k * kPitch{0} + place.{1} * kPiece{0}", upper, along);
    return fmt::format("const float* from_{0} = s{1} + read_stage * kStage{1} + {2};\n", name, upper, place);
}

std::string long_k_params(const GemmSignature& s, const std::vector<LongKConstant>& constants) {
    std::string text;
    for (const LongKConstant& constant : constants)
        if (constant.name != "kWarps") text += constant_line(constant.name, constant.value, constant.comment);
    text += "\n";
    if (s.d != DataType::f32 || (s.c && *s.c != DataType::f32))
        text += alias_line("Bits", "unsigned short", "a 16-bit element in memory");
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    return text + alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d)));
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
    input.generated["params.cuh"] = long_k_params(s, list) + "\n" + long_k_derived(c, g);
    input.generated["long_k_operands.inl"] = operand_text(g.a, 'A', 'M') + operand_text(g.b, 'B', 'N');
    input.generated["GEMM_FIRST_ELEMENTS"] = first_element(g.a, 'a', 'm') + first_element(g.b, 'b', 'n');
    FloatVectors cut;
    cut.add(g.a.vector);
    cut.add(g.b.vector);
    input.generated["cp_async.cuh"] = float_cp_async({}, cut);
    input.generated["epilogue_expression.cuh"] = epilogue_expression(s, FinishUnit::element);
    input.pieces["long_k_params.cuh"] = "params.cuh";
    return input;
}

std::vector<KernelEntry> SimtLongK::entries(const GemmSignature& s, const SimtLongKConfig& c) {
    const GridRule grid{.tile_m = c.block().m, .tile_n = c.block().n, .splits = c.split_k};
    KernelEntry gemm = gemm_entry(geometry(s, c), grid, gemm_arguments(s, true));
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
    return config.split_k * problem.row_major().m * problem.row_major().n * std::int64_t{4};
}

}  // namespace jitgemm
