#include "generator/families/shared/tensor_core_render.hpp"

#include "generator/base/packed_lines.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/wrapper_text.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

bool is_shifted(const OperandGeometry& operand) { return !operand.async && operand.shifted; }

std::string copy_include(const OperandGeometry& operand) {
    return fmt::format("#include \"multistage/copy_{}.cuh\"\n", operand.async     ? "async"
                                                                : operand.shifted ? "realign"
                                                                                  : "registers");
}

std::string_view element_name(const OperandGeometry& operand) {
    return operand.element_bytes == 1 ? "Byte" : operand.element_bytes == 2 ? "Bits" : "float";
}

/// "using CopyA = AsyncCopy<Bits, true, kBlockM, kPitchA, kAlignA>;"
std::string copy_alias(const OperandGeometry& operand, char name, char extent) {
    return fmt::format("using Copy{0} = {1}Copy<{5}{2}, kBlock{3}, kPitch{0}{4}>;  // K-major: {2}\n", name,
                       operand.async     ? "Async"
                       : operand.shifted ? "Realign"
                                         : "Register",
                       operand.k_major, extent, operand.async ? fmt::format(", kAlign{}", name) : "",
                       operand.async ? fmt::format("{}, ", element_name(operand)) : "");
}

bool has_pass_residue(const OperandGeometry& operand, int threads) {
    return operand.tile_rows % (threads / operand.vectors_per_row) != 0;
}

// ---- cp.async -------------------------------------------------------------------------------------------------------

std::string instruction(bool through_l1, int l2_prefetch) {
    const std::string prefetch = l2_prefetch == 0 ? std::string() : fmt::format(".L2::{}B", l2_prefetch);
    return fmt::format("cp.async.{}.shared.global{}", through_l1 ? "ca" : "cg", prefetch);
}

std::string whole_copy(const std::string& name, bool deeper) {
    return indented(
        deeper ? 4 : 0,
        fmt::format("    asm volatile(\n"
                    "        \"{{ .reg .pred ignore, skip; setp.eq.s32 ignore, %2, 0; setp.ne.s32 skip, %3, 0;\"\n"
                    "        \" @!skip {} [%0], [%1], %4, ignore; }}\" ::\"r\"(destination),\n"
                    "        \"l\"(source), \"r\"(static_cast<int>(in_range)), "
                    "\"r\"(static_cast<int>(skip)), \"n\"(kVectorBytes)\n"
                    "        : \"memory\");\n",
                    name));
}

std::string cut_copy(const std::string& name, bool deeper) {
    const std::string start(deeper ? 8 : 4, ' ');
    const std::size_t indent = start.size() + std::string_view("asm volatile(").size();
    return packed_items(fmt::format("{}asm volatile(\"{} [%0], [%1], %3, %2;\" ::", start, name),
                        {"\"r\"(destination)", "\"l\"(source)", "\"r\"(bytes)", "\"n\"(kVectorBytes)"}, indent, 0) +
           fmt::format("\n{:{}}: \"memory\");\n", "", indent);
}

/// The instruction of each width that is used.
template <typename Copy>
std::string by_width(bool wide, bool narrow, const CpAsyncCaching& caching, const Copy& copy) {
    const std::string of_16 = copy(instruction(caching.through_l1, caching.l2_prefetch), narrow);
    const std::string of_less = copy(instruction(true, caching.l2_prefetch), wide);
    if (wide && narrow) return "    if constexpr (kVectorBytes == 16)\n" + of_16 + "    else\n" + of_less;
    return wide ? of_16 : of_less;
}

std::string cp_async_text(std::string_view element, bool wide, bool narrow, const CpAsyncCaching& caching) {
    return "// cp.async: kVectorBytes from global to shared memory past the registers. Out of range, it reads nothing\n"
           "// and writes zeros: that is the instruction's operand ignore-src. Skipped, the instruction isn't "
           "executed, and\n"
           "// the destination stays as it is. Both are predicates, not branches.\n"
           "template <int kVectorBytes>\n"
           "__device__ __forceinline__ void cp_async(unsigned destination, const " +
           std::string(element) + "* source, bool in_range, bool skip) {\n" +
           by_width(wide, narrow, caching, whole_copy) +
           "}\n\n"
           "// The same for a vector cut by the edge of the matrix: only the first `bytes` are read, the rest is "
           "zero.\n"
           "template <int kVectorBytes>\n"
           "__device__ __forceinline__ void cp_async_cut(unsigned destination, const " +
           std::string(element) + "* source, int bytes) {\n" + by_width(wide, narrow, caching, cut_copy) + "}\n\n" +
           cp_async_groups();
}

/// The statements of the pipeline for cp.async. They are empty if cp.async copies no operand.
void add_cp_async_statements(RenderInput& input, bool async) {
    const auto statement = [&](const char* name, const char* text) { input.generated[name] = async ? text : ""; };
    statement("GEMM_COMMIT_COPIES", "cp_async_commit();\n");
    statement("GEMM_WAIT_FOR_OLDEST_COPY", "cp_async_wait<kStages - 2>();\n");
    statement("GEMM_WAIT_FOR_ALL_COPIES", "cp_async_wait<0>();\n");
}

}  // namespace

std::string tiling_lines(const TensorCoreGeometry& g, const TensorCoreTiling& tiling) {
    std::string text = constant_line("kWarpsN", g.warps_n, "warps of a block, side by side along N") +
                       constant_line("kThreads", g.threads, "threads of a block") +
                       constant_line("kKBlocks", g.k_blocks, "k-blocks of a k-tile") +
                       constant_line("kTilesM", g.tiles_m, "atoms of a warp tile along M and N") +
                       constant_line("kTilesN", g.tiles_n, "") +
                       "// Tiles in shared memory: pitch of a row, and a stage's size, in bytes.\n" +
                       constant_line("kPitchA", g.a.pitch_bytes,
                                     g.a.k_major ? "sA is (kBlockM, kBlockK)" : "sA is (kBlockK, kBlockM)") +
                       constant_line("kPitchB", g.b.pitch_bytes,
                                     g.b.k_major ? "sB is (kBlockN, kBlockK)" : "sB is (kBlockK, kBlockN)") +
                       constant_line("kStageBytesA", g.a.stage_bytes, "");
    if (tiling.stages > 1) text += constant_line("kStageBytesB", g.b.stage_bytes, "");
    if (tiling.staged_columns > 0)
        text += constant_line("kPitchC", tiling.staged_columns + 8,
                              "elements from row to row of sC; eight are padding against bank conflicts");
    return text;
}

void add_copies(RenderInput& input, const TensorCoreGeometry& g, const CpAsyncCaching& caching) {
    const auto any = [&](auto holds) { return holds(g.a) || holds(g.b); };
    input.macros["GEMM_A_K_MAJOR"] = g.a.k_major;
    input.macros["GEMM_B_K_MAJOR"] = g.b.k_major;
    input.macros["GEMM_ROW_PADDING"] = g.a.pitch_bytes - g.a.row_bytes;
    input.macros["GEMM_COPY_ASYNC"] = any([](const OperandGeometry& o) { return o.async; });
    input.macros["GEMM_COPY_REALIGN"] = any(is_shifted);
    input.macros["GEMM_PASS_RESIDUE"] = any([&](const auto& o) { return has_pass_residue(o, g.threads); });
    input.generated["copies.inl"] =
        copy_include(g.a) + copy_include(g.b) + copy_alias(g.a, 'A', 'M') + copy_alias(g.b, 'B', 'N');
    add_cp_async_statements(input, input.macros["GEMM_COPY_ASYNC"] != 0);
    input.generated["cp_async.cuh"] =
        cp_async_text(element_name(g.a), any([](const OperandGeometry& o) { return o.async && o.vector_bytes == 16; }),
                      any([](const OperandGeometry& o) { return o.async && o.vector_bytes < 16; }), caching);
}

}  // namespace jitgemm
