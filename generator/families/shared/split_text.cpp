#include "generator/families/shared/split_text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace jitgemm {
namespace {

using Contents = WorkspaceContents;

bool splits_a(const Contents& c) { return packs_a(c.pack); }
bool splits_b(const Contents& c) { return packs_b(c.pack); }
bool splits(const Contents& c) { return c.pack != Pack::none; }
bool has_sums(const Contents& c) { return c.sums == WorkspaceSums::of_pieces; }
/// Something lies behind the first operand in parts.
bool has_more(const Contents& c) { return c.pack == Pack::ab || (splits(c) && has_sums(c)); }

std::string_view kind_comment(const OperandParts& parts) {
    if (parts.are_scaled)
        return "// f32 operands in parts. A line is a row of A or a column of B. Each line is multiplied with a power "
               "of "
               "two, after\n"
               "// which its largest element lies between 2^14 and 2^15. Then each element is the sum of an upper "
               "part, "
               "which is the\n"
               "// element rounded to 16 bits, and a lower part, which is the rest rounded to 16 bits.\n";
    if (parts.type == DataType::tf32)
        return "// f32 operands in parts. A line is a row of A or a column of B. Each element is the sum of two parts "
               "of "
               "tf32: the\n"
               "// element rounded, and the rest rounded.\n";
    return "// f32 operands in parts. A line is a row of A or a column of B. Each element is the sum of three parts of "
           "bf16: the\n"
           "// element rounded, the rest rounded, and what is left, which bf16 holds.\n";
}

/// An operand in the comment and in the functions: A has `m` rows, B has `n` columns.
struct Side {
    char name, letter, extent;
    std::string_view line;
};
constexpr Side kSideA{'A', 'a', 'm', "row"};
constexpr Side kSideB{'B', 'b', 'n', "column"};

std::string split_comment(const Side& side, bool scaled) {
    return fmt::format(
        "// - {0} in parts: ({1}, groups of 32 of K), a group's first parts first. What lies beyond K is zero.\n{2}",
        side.name, side.extent,
        scaled ? fmt::format("// - two factors for each {} of {}, whose product undoes its power of two\n", side.line,
                             side.name)
               : "");
}

std::string taken_comment(const Side& side, bool scaled) {
    return fmt::format(
        "// An earlier kernel has written {0} in parts to args.prepared_{1}: ({2}, groups of 32 of K), a group's first "
        "parts first.\n{3}",
        side.name, side.letter, side.extent,
        scaled ? fmt::format("// Behind them, on a 256-byte boundary, lie two factors for each {}, whose product "
                             "undoes its power of two.\n",
                             side.line)
               : "");
}

std::string parts_comment(const Contents& c) {
    const bool scaled = c.parts->are_scaled;
    std::string text(kind_comment(*c.parts));
    text += "//\n";
    if (splits(c)) text += "// The workspace holds, each on a 256-byte boundary:\n";
    if (splits_a(c)) text += split_comment(kSideA, scaled);
    if (splits_b(c)) text += split_comment(kSideB, scaled);
    if (c.takes_a) text += taken_comment(kSideA, scaled);
    if (c.takes_b) text += taken_comment(kSideB, scaled);
    return text;
}

std::string size_functions(const Contents& c) {
    const bool scaled = c.parts->are_scaled;
    std::string text;
    if (scaled || splits(c))
        text +=
            "__device__ __forceinline__ int groups_of(int k) { return max(1, static_cast<int>((k + 31ll) / 32)); }\n";
    if (scaled || has_more(c))
        text +=
            "__device__ __forceinline__ long long bytes_of_parts(int lines, int k) {\n"
            "    return (lines * (groups_of(k) * static_cast<long long>(kParts * kPartBytes)) + 255) / 256 * 256;\n"
            "}\n";
    if (scaled && has_more(c))
        text +=
            "__device__ __forceinline__ long long bytes_of_factors(int lines) { return (lines * 8ll + 255) / 256 * "
            "256; }\n";
    return text + "\n";
}

/// "__device__ __forceinline__ uint4* parts_a(const GemmArgs& args) { return reinterpret_cast<uint4*>(…); }", in one
/// line where `begin` is the workspace.
std::string place_function(std::string_view type, std::string_view name, char operand, const std::string& begin) {
    const bool is_short = begin == "args.workspace";
    return fmt::format(
        "__device__ __forceinline__ {0} {1}_{2}(const GemmArgs& args) {{{3}return "
        "reinterpret_cast<{0}>({4});{5}}}\n",
        type, name, operand, is_short ? " " : "\n    ", begin, is_short ? " " : "\n");
}

/// "args.workspace + bytes_of_parts(args.m, args.k)"
std::string behind_parts(std::string_view begin, const Side& side) {
    return fmt::format("{} + bytes_of_parts(args.{}, args.k)", begin, side.extent);
}

std::string as_bytes(std::string_view name, const Side& side) {
    return fmt::format("reinterpret_cast<char*>({}_{}(args))", name, side.letter);
}

/// Where what lies behind an operand begins: behind its factors, if there are any. `begin` is that of its parts.
std::string behind(const Side& side, std::string_view begin, bool scaled) {
    if (!scaled) return behind_parts(begin, side);
    return fmt::format("{} + bytes_of_factors(args.{})", as_bytes("factors", side), side.extent);
}

std::string factors_function(const Side& side, bool is_split, std::string_view begin) {
    return is_split ? place_function("float2*", "factors", side.letter, behind_parts(begin, side))
                    : place_function("const float2*", "factors", side.letter,
                                     behind_parts(fmt::format("args.prepared_{}", side.letter), side));
}

std::string places(const Contents& c) {
    const bool scaled = c.parts->are_scaled;
    std::string text, next = "args.workspace";
    if (splits_a(c)) {
        text += place_function("uint4*", "parts", 'a', next);
        if (scaled) text += factors_function(kSideA, true, next);
        next = behind(kSideA, next, scaled);
    } else if (scaled && c.takes_a) {
        text += factors_function(kSideA, false, next);
    }
    if (splits_b(c)) {
        text += place_function("uint4*", "parts", 'b', next);
        if (scaled) text += factors_function(kSideB, true, as_bytes("parts", kSideB));
        next = behind(kSideB, as_bytes("parts", kSideB), scaled);
    } else if (scaled && c.takes_b) {
        text += factors_function(kSideB, false, next);
    }
    if (has_sums(c))
        text += fmt::format(
            "__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) {{\n    return {};\n"
            "}}\n",
            next);
    return text;
}

/// "const SplitRows a{args.a, args.lda, args.m, args.k, parts_a(args), factors_a(args)};"
std::string split_line(const Side& side, bool transposes, bool scales) {
    return fmt::format("const Split{1} {0}{{args.{0}, args.ld{0}, args.{2}, args.k, parts_{0}(args){3}}};\n",
                       side.letter, transposes ? "Columns" : "Rows", side.extent,
                       scales ? fmt::format(", factors_{}(args)", side.letter) : std::string());
}

std::string splits_text(const Contents& c) {
    std::string text;
    if (splits_a(c)) text += split_line(kSideA, c.transposes_a, c.parts->are_scaled);
    if (splits_b(c)) text += split_line(kSideB, c.transposes_b, c.parts->are_scaled);
    if (c.pack == Pack::ab) return text + "const unsigned units_a = a.units(), units = units_a + b.units();\n";
    return text + fmt::format("const unsigned units = {}.units();\n", splits_a(c) ? 'a' : 'b');
}

bool splits_rows(const Contents& c) { return (splits_a(c) && !c.transposes_a) || (splits_b(c) && !c.transposes_b); }
bool splits_columns(const Contents& c) { return (splits_a(c) && c.transposes_a) || (splits_b(c) && c.transposes_b); }

/// What differs where each line has a power of two: it is found before the line is split, and elements are multiplied
/// with it. Only then a group is staged whole, as its parts are taken at once.
void add_scale_statements(RenderInput& input, bool scaled, bool columns) {
    const auto statement = [&](const char* name, const char* text, const char* unscaled = "") {
        input.generated[name] = scaled ? text : unscaled;
    };
    statement("GEMM_FACTORS_OF_LINES", "float2* factors;\n");
    statement("GEMM_SCALE_ELEMENTS", "scale.apply(x);\n");
    statement(
        "GEMM_LONG_LINES",
        "// An operand in memory, (lines, k) with pitch ld. A warp splits a short line, and a block a long one: the "
        "second pass\n// over a line then finds it in L1.\n",
        "// An operand in memory, (lines, k) with pitch ld. A warp splits a short line, and a block a long one.\n");
    statement("GEMM_STORE_CHUNKS",
              "for (int i = 0; i < 8 / kChunkElements; ++i)\n"
              "    chunks[part * kPartChunks + i] = take_part(x + i * kChunkElements);\n",
              "for (int i = 0; i < 8 / kChunkElements; ++i)\n"
              "    chunks[part * kPartChunks + i] = take_part(x + i * kChunkElements, part);\n");
    statement(
        "GEMM_STAGED_ROWS",
        "// Groups on their way to memory: rows of 128 bytes, and 16 more that spread them over banks.\n",
        "// Parts of groups on their way to memory, and 16 bytes more in each row that spread them over banks.\n");
    statement("GEMM_LARGEST_OF_THREADS", "__shared__ unsigned largest_of[kPackThreads];\n");
    statement("GEMM_STAGE_CHUNKS",
              "for (int i = 0; i < kStagedChunks; ++i)\n"
              "    staged[warp][lane][i] = take_part(x + i % kPartChunks * kChunkElements);\n",
              "for (int i = 0; i < kStagedChunks; ++i)\n"
              "    staged[warp][lane][i] = take_part(x + i * kChunkElements, chunk);\n");
    input.generated["GEMM_STAGED_CHUNKS"] =
        columns ? fmt::format("constexpr int kStagedChunks = {};  // of a group, on their way to memory\n",
                              scaled ? "kGroupChunks" : "kPartChunks")
                : std::string();
}

}  // namespace

std::string parts_text(const WorkspaceContents& c) {
    std::string text = parts_comment(c) + size_functions(c) + places(c);
    if (!splits(c)) return text;
    const std::string_view kind = c.parts->type == DataType::tf32 ? "tf32"
                                  : c.parts->are_scaled           ? "scaled"
                                                                  : "unscaled";
    return text + fmt::format("#include \"common/split_{}.cuh\"\n#include \"common/split.cuh\"\n", kind);
}

void add_split(RenderInput& input, const WorkspaceContents& c) {
    const bool is_tf32 = c.parts->type == DataType::tf32;
    input.macros["GEMM_PARTS"] = c.parts->count;
    input.macros["GEMM_PARTS_SCALED"] = c.parts->are_scaled;
    input.macros["GEMM_SPLIT_ROWS"] = splits_rows(c);
    input.macros["GEMM_SPLIT_COLUMNS"] = splits_columns(c);
    input.pieces["split_pair.cuh"] =
        c.parts->type == DataType::f16 ? "common/split_pair_f16.cuh" : "common/split_pair_bf16.cuh";
    add_scale_statements(input, c.parts->are_scaled, splits_columns(c));
    input.generated["GEMM_UNROLL_STORES"] = is_tf32 ? "#pragma unroll 4\n" : "#pragma unroll\n";
    input.generated["GEMM_SPLITS"] = splits_text(c);
}

}  // namespace jitgemm
