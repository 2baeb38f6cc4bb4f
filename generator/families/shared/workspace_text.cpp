#include "generator/families/shared/workspace_text.hpp"

#include "generator/base/kernel_entry.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/families/shared/split_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm {
namespace {

using Contents = WorkspaceContents;

bool transposes(const Contents& c) { return c.transposes_a || c.transposes_b; }

/// The templates' type of an element that is packed.
std::string_view element_name(int bytes) { return bytes == 1 ? "Byte" : bytes == 2 ? "Bits" : "float"; }
/// The end of the name of a template that packs or transposes these.
std::string_view template_suffix(int bytes) { return bytes == 1 ? "_bytes" : bytes == 2 ? "" : "_words"; }

std::string contents_comment(const Contents& c) {
    std::string text = "// The workspace holds, each on a 256-byte boundary:\n";
    if (packs_a(c.pack)) text += fmt::format("// - packed A{}\n", c.transposes_a ? ", transposed" : "");
    if (packs_b(c.pack)) text += fmt::format("// - packed B{}\n", c.transposes_b ? ", transposed" : "");
    if (c.sums == WorkspaceSums::of_splits) text += "// - partial sums: (kSplitK, m, n rounded up to 4)\n";
    if (c.sums == WorkspaceSums::of_pieces) text += "// - sums of pieces, see partial_fragments\n";
    return text;
}

/// Something lies behind the first packed operand.
bool has_end(const Contents& c) { return c.pack == Pack::ab || c.sums != WorkspaceSums::none; }

/// Where the part behind the packed operands begins, of those that are there.
std::string_view end_of(bool a, bool b) { return b ? "behind_b(args)" : a ? "behind_a(args)" : "args.workspace"; }

/// PackedOperand::pitch() and workspace_bytes().
std::string pitch_functions(const Contents& c) {
    const std::int64_t line = PackedOperand{.element_bytes = c.element_bytes}.line();
    std::string text = transposes(c) ? "// K is contiguous in a packed operand. Its rows are padded to whole lines of "
                                       "L2, short rows to a half or "
                                       "a quarter\n// of a line.\n\n"
                                     : "// A packed operand keeps its order. Its rows are padded to whole lines of L2, "
                                       "short rows to a half or a "
                                       "quarter of a\n// line.\n\n";
    text += fmt::format(
        "// Elements from one row of a packed operand to the next.\n"
        "__device__ __forceinline__ long long packed_pitch(int columns) {{\n"
        "    return columns > {1} ? (columns + {3}ll) / {0} * {0} : columns > {2} ? {1} : {2};\n"
        "}}\n",
        line, line / 2, line / 4, line - 1);
    if (has_end(c))
        text += fmt::format(
            "\n__device__ __forceinline__ long long packed_bytes(int rows, int columns) {{\n"
            "    return (rows * packed_pitch(columns) * {} + 255) / 256 * 256;\n"
            "}}\n",
            c.element_bytes);
    return text;
}

/// A packed operand: where it begins, which fields of GemmArgs are its extents, and whether something follows it.
struct PackedPart {
    char name;
    std::string_view begin;
    char rows, columns;
    bool is_followed;
};

std::string part_functions(const PackedPart& p, std::string_view element) {
    std::string text = fmt::format(
        "\n__device__ __forceinline__ int packed_rows_{0}(const GemmArgs& args) {{ return args.{1}; }}\n"
        "__device__ __forceinline__ int packed_columns_{0}(const GemmArgs& args) {{ return args.{2}; }}\n"
        "__device__ __forceinline__ {4}* packed_{0}(const GemmArgs& args) {{ return reinterpret_cast<{4}*>({3}); "
        "}}\n",
        p.name, p.rows, p.columns, p.begin, element);
    if (p.is_followed)
        text += fmt::format(
            "__device__ __forceinline__ char* behind_{0}(const GemmArgs& args) {{\n"
            "    return {1} + packed_bytes(packed_rows_{0}(args), packed_columns_{0}(args));\n"
            "}}\n",
            p.name,
            p.begin == "args.workspace" ? "args.workspace"
                                        : fmt::format("reinterpret_cast<char*>(packed_{}(args))", p.name));
    return text;
}

std::string packed_operands(const Contents& c) {
    if (c.pack == Pack::none) return {};
    const bool sums = c.sums != WorkspaceSums::none;
    const std::string_view element = element_name(c.element_bytes);
    const char m = c.swaps_mn ? 'n' : 'm', n = c.swaps_mn ? 'm' : 'n';  // of the kernel
    std::string text = pitch_functions(c);
    if (packs_a(c.pack))
        text += part_functions(
            {'a', end_of(false, false), c.a_k_major ? m : 'k', c.a_k_major ? 'k' : m, sums || packs_b(c.pack)},
            element);
    if (packs_b(c.pack))
        text += part_functions(
            {'b', end_of(packs_a(c.pack), false), c.b_k_major ? n : 'k', c.b_k_major ? 'k' : n, sums}, element);
    return text;
}

std::string sums_functions(const Contents& c) {
    const std::string_view begin = end_of(packs_a(c.pack), packs_b(c.pack));
    if (c.sums == WorkspaceSums::of_pieces)
        return fmt::format("__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) {{ return {}; }}\n",
                           begin);
    if (c.sums == WorkspaceSums::none) return {};
    return fmt::format(
        "__device__ __forceinline__ long long partials_pitch(int n) {{ return (n + 3ll) / 4 * 4; }}\n"
        "__device__ __forceinline__ {1}* partials(const GemmArgs& args) {{ return reinterpret_cast<{1}*>({0}); }}\n",
        begin, c.has_s32_sums ? "int" : "float");
}

std::string packing_line(char name, bool transposes) {
    return fmt::format(
        "const {1} {0}{{args.{0}, args.ld{0}, packed_rows_{0}(args), packed_columns_{0}(args), "
        "packed_{0}(args)}};\n",
        name, transposes ? "Transposition" : "Packing");
}

std::string packings_text(const Contents& c) {
    std::string text;
    if (packs_a(c.pack)) text += packing_line('a', c.transposes_a);
    if (packs_b(c.pack)) text += packing_line('b', c.transposes_b);
    if (c.pack == Pack::ab)
        return text +
               "const unsigned vectors_a = a.vectors();\n"
               "const unsigned vectors = vectors_a + b.vectors();\n";
    return text + fmt::format("const unsigned vectors = {}.vectors();\n", c.pack == Pack::a ? 'a' : 'b');
}

/// A step of the loop over `index`, which goes over A and then over B: "a.move(v);".
std::string step_text(Pack pack, std::string_view function, std::string_view index) {
    const std::string_view of_a = function == "move" ? "vectors_a" : "units_a";
    if (pack == Pack::ab)
        return fmt::format("if ({1} < {2})\n    a.{0}({1});\nelse\n    b.{0}({1} - {2});\n", function, index, of_a);
    return fmt::format("{}.{}({});\n", pack == Pack::a ? 'a' : 'b', function, index);
}

/// "extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_pack(const GemmArgs args) {"
std::string entry_head(std::string_view bounds, std::string_view function, EntryArguments arguments) {
    const bool of_batch = arguments == EntryArguments::of_batch;
    return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}", bounds, function,
                       of_batch                             ? "const __grid_constant__ BatchArgs batch"
                       : arguments == EntryArguments::moved ? "GemmArgs args"
                                                            : "const GemmArgs args",
                       of_batch ? "    GemmArgs args(batch);\n" : "");
}

}  // namespace

void add_workspace(RenderInput& input, const WorkspaceContents& c) {
    std::string& text = input.generated["workspace.cuh"];
    if (c.parts) {
        text = parts_text(c);
        add_split(input, c);
        input.generated["GEMM_SPLITTING_KERNEL"] =
            entry_head(c.parts->are_scaled ? "kPackThreads" : "kPackThreads, 2", kSplittingFunction, c.arguments);
        input.generated["GEMM_SPLIT_UNIT"] = step_text(c.pack, "split", "unit");
        return;
    }
    if (c.pack == Pack::none && c.sums == WorkspaceSums::none) return;
    text = contents_comment(c) + packed_operands(c) + "\n" + sums_functions(c);
    if (c.pack == Pack::none) return;
    if (transposes(c)) text += fmt::format("#include \"common/transpose{}.cuh\"\n", template_suffix(c.element_bytes));
    if ((packs_a(c.pack) && !c.transposes_a) || (packs_b(c.pack) && !c.transposes_b))
        text += fmt::format("#include \"common/pack{}.cuh\"\n", template_suffix(c.element_bytes));
    text += "#include \"common/pack_entry.cuh\"\n";
    input.generated["GEMM_PACKING_KERNEL"] = entry_head("kPackThreads", "gemm_pack", c.arguments);
    input.generated["GEMM_PACKINGS"] = packings_text(c);
    input.generated["GEMM_MOVE_VECTOR"] = step_text(c.pack, "move", "v");
}

}  // namespace jitgemm
