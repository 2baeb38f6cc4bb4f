#include "generator/families/shared/workspace_text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace jitgemm {
namespace {

using Contents = WorkspaceContents;

std::string contents_comment(const Contents& c) {
    std::string text = "// The workspace holds, each on a 256-byte boundary:\n";
    if (packs_a(c.pack)) text += "// - packed A\n";
    if (packs_b(c.pack)) text += "// - packed B\n";
    if (c.sums == WorkspaceSums::of_splits) text += "// - partial sums: (kSplitK, m, n rounded up to 4)\n";
    if (c.sums == WorkspaceSums::of_pieces) text += "// - sums of pieces, see partial_fragments\n";
    return text;
}

/// Something lies behind the first packed operand.
bool has_end(const Contents& c) { return c.pack == Pack::ab || c.sums != WorkspaceSums::none; }

std::string packed_struct(const Contents& c) {
    std::string text =
        "// A packed operand keeps its order; its rows are padded to whole lines of L2, short ones to a half or a "
        "quarter of one.\n"
        "struct PackedOperand {\n"
        "    Bits* elements;\n"
        "    int rows, columns;\n\n"
        "    // Elements from one row to the next.\n"
        "    __device__ __forceinline__ long long pitch() const {\n"
        "        return columns > 32 ? (columns + 63ll) / 64 * 64 : columns > 16 ? 32 : 16;\n"
        "    }\n";
    if (has_end(c))
        text +=
            "    // The next part of the workspace.\n"
            "    __device__ __forceinline__ char* end() const {\n"
            "        return reinterpret_cast<char*>(elements) + (rows * pitch() * 2 + 255) / 256 * 256;\n"
            "    }\n";
    return text + "};\n";
}

/// Where the part behind the packed operands begins, of those that are there.
std::string_view end_of(bool a, bool b) {
    return b ? "packed_b(args).end()" : a ? "packed_a(args).end()" : "args.workspace";
}

std::string packed_function(char name, std::string_view begin, std::string_view rows, std::string_view columns) {
    return fmt::format(
        "__device__ __forceinline__ PackedOperand packed_{}(const GemmArgs& args) {{\n"
        "    return {{reinterpret_cast<Bits*>({}), args.{}, args.{}}};\n"
        "}}\n",
        name, begin, rows, columns);
}

std::string packed_operands(const Contents& c) {
    if (c.pack == Pack::none) return {};
    std::string text = packed_struct(c);
    if (packs_a(c.pack))
        text += packed_function('a', end_of(false, false), c.a_k_major ? "m" : "k", c.a_k_major ? "k" : "m");
    if (packs_b(c.pack))
        text += packed_function('b', end_of(packs_a(c.pack), false), c.b_k_major ? "n" : "k", c.b_k_major ? "k" : "n");
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
        "__device__ __forceinline__ float* partials(const GemmArgs& args) {{ return reinterpret_cast<float*>({}); }}\n",
        begin);
}

std::string packing_line(char name) {
    return fmt::format("    const Packing {0}{{args.{0}, args.ld{0}, packed_{0}(args)}};\n", name);
}

std::string packings_text(Pack pack) {
    if (pack == Pack::ab)
        return packing_line('a') + packing_line('b') +
               "    const unsigned vectors_a = a.vectors();\n"
               "    const unsigned vectors = vectors_a + b.vectors();\n"
               "    const auto move = [&](unsigned vector) {\n"
               "        if (vector < vectors_a)\n"
               "            a.move(vector);\n"
               "        else\n"
               "            b.move(vector - vectors_a);\n"
               "    };\n";
    const char name = pack == Pack::a ? 'a' : 'b';
    return packing_line(name) + fmt::format(
                                    "    const unsigned vectors = {0}.vectors();\n"
                                    "    const auto move = [&](unsigned vector) {{ {0}.move(vector); }};\n",
                                    name);
}

}  // namespace

void add_workspace(RenderInput& input, const WorkspaceContents& c) {
    std::string& text = input.generated["workspace.cuh"];
    if (c.pack == Pack::none && c.sums == WorkspaceSums::none) return;
    text = contents_comment(c) + packed_operands(c) + "\n" + sums_functions(c);
    if (c.pack == Pack::none) return;
    text += "#include \"common/pack.cuh\"\n";
    input.generated["packings.inl"] = packings_text(c.pack);
}

}  // namespace jitgemm
