#include "generator/families/mma_multistage/family.hpp"

#include "generator/base/packed_lines.hpp"
#include "generator/families/mma_multistage/block_scales.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/mma_multistage/statements.hpp"
#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/split_k.hpp"
#include "generator/families/shared/tensor_core_render.hpp"
#include "generator/families/shared/tile_schedule.hpp"
#include "generator/families/shared/workspace_text.hpp"
#include "generator/families/shared/wrapper_text.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// Whether warps rearrange rows of their own tiles through shared memory; a cluster does so with whole block tiles.
bool stages_rows(const MmaMultistageConfig& c) { return !c.splits_in_cluster(); }

Macros macros(const GemmSignature& s, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    Macros macros{{"GEMM_BLOCK_M", c.block.m},
                  {"GEMM_BLOCK_N", c.block.n},
                  {"GEMM_BLOCK_K", c.block.k},
                  {"GEMM_WARP_M", c.warp.m},
                  {"GEMM_WARP_N", c.warp.n},
                  {"GEMM_MMA_K", c.mma.k},
                  {"GEMM_STAGES", c.stages},
                  {"GEMM_LDMATRIX_A", c.ldmatrix_a},
                  {"GEMM_LDMATRIX_B", c.ldmatrix_b},
                  {"GEMM_SWIZZLE", c.shared_layout == SharedLayout::swizzle},
                  {"GEMM_RASTERIZATION", static_cast<int>(c.rasterization)},
                  {"GEMM_GROUP", c.group},
                  {"GEMM_SPLIT_K", c.split_k},
                  {"GEMM_SPLIT_CLUSTER", c.splits_in_cluster()},
                  {"GEMM_DEPENDENT_LAUNCH", c.dependent_launch},
                  {"GEMM_PACK_A", packs_a(c.pack)},
                  {"GEMM_PACK_B", packs_b(c.pack)},
                  {"GEMM_ALIGN_A", packs_a(c.pack) ? 16 : s.align_a},
                  {"GEMM_ALIGN_B", packs_b(c.pack) ? 16 : s.align_b},
                  {"GEMM_ELEMENT_BYTES", bytes(s.a)},
                  {"GEMM_TRANSPOSE_REALIGN", realigns_transposed(s)},
                  {"GEMM_LOAD_WORDS", loads_words(g.a) || loads_words(g.b)},
                  {"GEMM_PARTS", has_parts(s)},
                  {"GEMM_PROMOTED", c.promote != 0},
                  {"GEMM_PAIRS", has_pairs(s)},
                  {"GEMM_PAIRED_HALVES", pairs_of(s) == EpiloguePairs::halves},
                  {"GEMM_VECTOR_D", g.vector_d}};
    macros.merge(type_macros(s));
    return macros;
}

/// The offsets in a stage that a lane keeps for its fragments: one for each 16-byte chunk of a row that they take in
/// turn. Of words, one for each of four rows eight apart, which repeat.
int offsets(const OperandGeometry& operand, int block_k, int warp_extent) {
    constexpr int kOffsetsOfWords = 4;
    if (loads_words(operand)) return kOffsetsOfWords;
    return (operand.k_major ? block_k : warp_extent) * operand.element_bytes / kChunkBytes;
}

std::string_view offsets_comment(const OperandGeometry& operand) {
    return loads_words(operand) ? "rows of words, eight apart, whose offsets repeat every 32 rows"
                                : "16-byte chunks of a row of shared memory that a warp's fragments take in turn";
}

std::string fragment_lines(const GemmSignature& s, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    constexpr int kBytesOfRegister = 4 * 32;  // of all lanes
    const int a = c.mma.m * c.mma.k * bytes(s.a) / kBytesOfRegister;
    const int b = c.mma.n * c.mma.k * bytes(s.b) / kBytesOfRegister;
    return "// 32-bit registers of a thread for A, B and C: for one atom, and for a k-block of the warp tile.\n" +
           constant_line("kRegistersA", a, "") + constant_line("kRegistersB", b, "") +
           constant_line("kRegistersC", s.accumulator == DataType::f16 ? 2 : 4, "") +
           constant_line("kFragmentA", g.tiles_m * a, "") + constant_line("kFragmentB", g.tiles_n * b, "") +
           constant_line("kChunksA", offsets(g.a, c.block.k, c.warp.m), offsets_comment(g.a)) +
           constant_line("kChunksB", offsets(g.b, c.block.k, c.warp.n),
                         loads_words(g.a) == loads_words(g.b) ? "" : offsets_comment(g.b));
}

/// The types of A's and B's elements. `Bits` is added if C or D has 16 bits.
std::string factor_lines(const GemmSignature& s) {
    if (bytes(s.a) == 2) return alias_line("Bits", word_of(s.a), fmt::format("{} in memory", to_string(s.a)));
    const bool has_16_bits = bytes(s.d) == 2 || (s.c && bytes(*s.c) == 2);
    std::string bits =
        has_16_bits ? alias_line("Bits", word_of(DataType::f16), "a 16-bit element in memory") : std::string();
    if (s.a == DataType::f32) return bits;
    const std::string factors = s.a == s.b ? std::string(to_string(s.a)) : "an element of A or B";
    return alias_line("Byte", word_of(s.a), fmt::format("{} in memory", factors)) + bits;
}

/// The type of the elements that a warp rearranges through shared memory. If the warp stores elements of another type,
/// that type follows.
std::string staged_lines(const GemmSignature& s, const MmaMultistageConfig& c) {
    if (c.splits_in_cluster()) return alias_line("ElementOut", "ElementD", "the element that the epilogue stores");
    const bool has_sums = stages_sums(s, c), split = c.splits_in_workspace();
    const bool has_integers = has_exact_sums(s) || (split && s.accumulator == DataType::s32);
    std::string text = alias_line("Staged",
                                  has_integers                       ? "int"
                                  : has_sums || s.d == DataType::f32 ? "float"
                                                                     : "Bits",
                                  "the element that the epilogue rearranges through shared memory");
    if (has_sums && !split && s.d != DataType::f32 && !has_integers && !has_pairs(s))
        text += alias_line("ElementOut", "ElementD", "the element that it stores");
    return text;
}

std::string params_text(const GemmSignature& s, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    const bool split = c.splits_in_workspace();
    std::string text;
    text += tile_lines(c.block, c.warp);
    text += constant_line("kMmaM", c.mma.m, "mma shape: the tile of one instruction");
    text += constant_line("kMmaN", c.mma.n, "");
    text += constant_line("kMmaK", c.mma.k, "");
    text += constant_line("kStages", c.stages, "k-tiles in shared memory: one in use, the others in flight");
    if (!loads_words(g.a))
        text += constant_line("kLdmatrixA", c.ldmatrix_a, "8x8 matrices that an ldmatrix of A loads");
    if (!loads_words(g.b)) text += constant_line("kLdmatrixB", c.ldmatrix_b, "the same of B");
    text += group_line(c.rasterization, c.group);
    if (c.split_k > 1)
        text += constant_line(
            "kSplitK", c.split_k,
            split ? "blocks that share the K of one tile" : "blocks that share the K of one tile: a cluster");
    if (g.a.async)
        text += constant_line("kAlignA", g.a.vector_bytes,
                              "bytes to which A is aligned, and which a thread copies at once");
    if (g.b.async) text += constant_line("kAlignB", g.b.vector_bytes, "bytes to which B is aligned");
    if (c.promote != 0)
        text += constant_line("kPromotedBlocks", c.promote / c.mma.k,
                              "k-blocks that tensor cores add up before they begin anew");
    text += constant_line("kVectorD", g.vector_d, "elements of D that a thread stores at once");
    if (c.pack != Pack::none)
        text += constant_line("kPackThreads", kPackThreads, "threads of a block that packs an operand");
    if (split) text += constant_line("kReduceThreads", kReduceThreads, "threads of a block that adds partial sums");
    text += "\n";
    text += factor_lines(s) + accumulator_line(s.accumulator);
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    text += alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d)));
    text += staged_lines(s, c);
    return text + "\n" + tiling_lines(g, {c.stages, stages_rows(c) ? c.warp.n : 0}) + fragment_lines(s, c, g);
}

/// "    CopyA copy_a(args.a, args.lda, tile.row, tile.end_row, tile.first_k, tile.end_k);"
std::string start_of_copy(char name, bool packed, std::string_view along) {
    const char upper = name == 'a' ? 'A' : 'B';
    const std::string source = packed ? fmt::format("packed_{0}(args), packed_pitch(packed_columns_{0}(args))", name)
                                      : fmt::format("args.{0}, args.ld{0}", name);
    const std::string call = fmt::format("    Copy{0} copy_{1}({2}, tile.{3}, tile.end_{3}, tile.first_k, tile.end_k);",
                                         upper, name, source, along);
    return call_in_lines(call) + "\n";
}

/// A tile has the columns of pairs beside each other, whether or not they are neighbours in B.
void add_pairs(RenderInput& input, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    input.generated["second_entry.inl"] =
        c.splits_in_workspace() ? "#include \"epilogue/split_k_reduce_pairs.cuh\"\n" : "";
    if (input.macros["GEMM_PAIRED_HALVES"] == 0) return;
    input.generated["copies.inl"] += "#include \"multistage/copy_halves.cuh\"\n";
    input.generated["GEMM_START_COPIES"] +=
        fmt::format("    take_halves<{}>(copy_b, {}, tile.column, args.n / 2);\n", g.b.k_major,
                    packs_b(c.pack) ? "packed_pitch(packed_columns_b(args))" : "args.ldb");
}

void add_pieces(RenderInput& input, const GemmSignature& s, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    input.pieces["mma_params.cuh"] = "params.cuh";
    if (has_block_scales(s)) input.pieces["multistage/partial_sums.cuh"] = "multistage/block_scales.cuh";
    if (c.promote == 0) input.pieces["multistage/partial_sums.cuh"] = "";  // left out
    input.generated["GEMM_START_COPIES"] =
        start_of_copy('a', packs_a(c.pack), "row") + start_of_copy('b', packs_b(c.pack), "column");
    input.generated["second_entry.inl"] = c.splits_in_workspace() ? "#include \"epilogue/split_k_reduce.cuh\"\n" : "";
    add_workspace(input, {.pack = c.pack,
                          .element_bytes = g.a.element_bytes,
                          .a_k_major = g.a.k_major,
                          .b_k_major = g.b.k_major,
                          .transposes_a = packs_a(c.pack) && transposes_a(s),
                          .transposes_b = packs_b(c.pack) && transposes_b(s),
                          .has_s32_sums = s.accumulator == DataType::s32,
                          .sums = c.splits_in_workspace() ? WorkspaceSums::of_splits : WorkspaceSums::none,
                          .arguments = s.batched ? EntryArguments::moved : EntryArguments::of_problem});
}

std::string mma_atom_text(const GemmSignature& s, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    const MmaAtom* atom = atom_of(s, c);
    std::string text = mma_wrapper(*atom);
    if (!loads_words(g.a)) text += "\n" + ldmatrix_wrapper(Operand::a, c.ldmatrix_a, !g.a.k_major);
    if (!loads_words(g.b)) text += "\n" + ldmatrix_wrapper(Operand::b, c.ldmatrix_b, !g.b.k_major);
    return text;
}

}  // namespace

RenderInput MmaMultistage::render_input(const GemmSignature& signature, const MmaMultistageConfig& c) {
    const TensorCoreGeometry g = geometry(signature, c);
    RenderInput input;
    input.macros = macros(signature, c, g);
    input.generated["params.cuh"] = params_text(signature, c, g);
    input.generated["epilogue_expression.cuh"] = epilogue_expression(signature, FinishUnit::element);
    input.generated["mma_atom.cuh"] = mma_atom_text(signature, c, g);
    add_copies(input, g, {});
    add_pieces(input, signature, c, g);
    if (has_pairs(signature)) add_pairs(input, c, g);
    add_block_scales(input, signature, c);
    add_statements(input, signature, c, g);
    return input;
}

std::vector<KernelEntry> MmaMultistage::entries(const GemmSignature& signature, const MmaMultistageConfig& c) {
    const TensorCoreGeometry g = geometry(signature, c);
    const bool has_workspace = c.splits_in_workspace() || c.pack != Pack::none;
    KernelEntry gemm = gemm_entry(g, {c.block.m, c.block.n, c.split_k}, gemm_arguments(signature, has_workspace));
    if (c.splits_in_cluster()) gemm.cluster = {c.split_k, 1, 1};
    const bool transposes =
        (packs_a(c.pack) && transposes_a(signature)) || (packs_b(c.pack) && transposes_b(signature));
    std::vector<KernelEntry> entries = pack_entries(c.pack, gemm.arguments, transposes ? bytes(signature.a) : 0);
    entries.push_back(gemm);
    if (c.splits_in_workspace()) entries.push_back(reduce_entry(gemm.arguments));
    for (KernelEntry& entry : entries) entry.programmatic_launch = c.dependent_launch;
    return entries;
}

std::int64_t MmaMultistage::workspace_bytes(const Problem& problem, const MmaMultistageConfig& c) {
    const GemmSpec& spec = problem.row_major();
    return packed_workspace_bytes(spec, c.pack) + (c.splits_in_workspace() ? partial_sum_bytes(spec, c.split_k) : 0);
}

ElementOwner MmaMultistage::owner(const Problem& problem, const MmaMultistageConfig& c, std::int64_t row,
                                  std::int64_t column) {
    const GemmSpec& spec = problem.row_major();
    column = first_sum_of(pairs_of(problem.signature), column);
    ElementOwner owner = tile_owner(c, c.block, c.warp, spec, row, column);
    owner.block = first_block_of_tile(c, {owner.tile_m, owner.tile_n}, tiles_of(c.block, spec.m, spec.n));
    const int in_warp_m = static_cast<int>(row % c.warp.m);
    const int in_warp_n = static_cast<int>(column % c.warp.n);
    const MmaAtom* atom = atom_of(spec, c);
    const ThreadValue held = owner_of(atom->layout_c, {in_warp_m % c.mma.m, in_warp_n % c.mma.n});
    owner.lane = held.thread;
    const int values_per_register = atom->layout_c.values() / atom->registers(Operand::c);
    const int atom_index = in_warp_m / c.mma.m * (c.warp.n / c.mma.n) + in_warp_n / c.mma.n;
    owner.accumulator_register = atom_index * atom->registers(Operand::c) + held.value / values_per_register;
    return owner;
}

}  // namespace jitgemm
