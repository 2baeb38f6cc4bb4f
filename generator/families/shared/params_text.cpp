#include "generator/families/shared/params_text.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::string commented(const std::string& code, std::string_view comment) {
    return comment.empty() ? code + '\n' : fmt::format("{}  // {}\n", code, comment);
}

std::string_view rasterization_comment(Rasterization rasterization) {
    switch (rasterization) {
        case Rasterization::grouped_n: return "tiles of N in a group that blocks walk m by m";
        case Rasterization::zigzag: return "tiles of M in a group that blocks walk n by n, forth and back";
        default: return "tiles of M in a group that blocks walk n by n";
    }
}

}  // namespace

int type_code(std::optional<DataType> type) {
    if (!type) return 3;
    switch (*type) {
        case DataType::f16: return 0;
        case DataType::bf16: return 1;
        case DataType::f32: return 2;
        case DataType::e4m3: return 4;
        case DataType::e5m2: return 5;
        case DataType::s8: return 6;
        case DataType::s32: return 7;
        default: throw Error(fmt::format("templates have no number for the type {}", to_string(*type)));
    }
}

std::string_view word_of(DataType type) {
    switch (bytes(type)) {
        case 1: return "unsigned char";
        case 2: return "unsigned short";
        default: return "unsigned";
    }
}

std::string_view element_type(DataType type) {
    if (type == DataType::s32) return "int";
    if (bytes(type) == 1) return word_of(type);
    return type == DataType::f32 ? "float" : "Bits";
}

std::string constant_line(std::string_view name, int value, std::string_view comment) {
    return commented(fmt::format("constexpr int {} = {};", name, value), comment);
}

std::string alias_line(std::string_view name, std::string_view type, std::string_view comment) {
    return commented(fmt::format("using {} = {};", name, type), comment);
}

std::string accumulator_line(DataType accumulator) {
    switch (accumulator) {
        case DataType::f16: return alias_line("Accumulator", "unsigned", "two f16 sums");
        case DataType::s32: return alias_line("Accumulator", "int", "one s32 sum");
        default: return alias_line("Accumulator", "float", "one f32 sum");
    }
}

std::string indented(int spaces, std::string_view lines) {
    std::string text;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        text += fmt::format("{:{}}{}\n", "", spaces, lines.substr(0, end));
        lines.remove_prefix(end + 1);
    }
    return text;
}

std::string tile_lines(const TileShape& block, const TileShape& warp) {
    return constant_line("kBlockM", block.m,
                         "block tile: the part of D that a block computes, and of K that it loads at a time") +
           constant_line("kBlockN", block.n, "") + constant_line("kBlockK", block.k, "") +
           constant_line("kWarpM", warp.m, "warp tile: the part of the block tile that a warp computes") +
           constant_line("kWarpN", warp.n, "");
}

std::string group_line(Rasterization rasterization, int group) {
    return has_groups(rasterization) ? constant_line("kGroup", group, rasterization_comment(rasterization)) : "";
}

std::string parts_lines(const OperandParts& parts) {
    return constant_line("kParts", parts.count, "parts of an element") +
           constant_line("kPartBytes", kGroupOfParts * bytes(parts.type),
                         fmt::format("bytes of a part of a group, {} of K", kGroupOfParts));
}

std::map<std::string, int, std::less<>> type_macros(const GemmSignature& signature) {
    return {{"GEMM_TYPE_AB", type_code(signature.a)},
            {"GEMM_TYPE_C", type_code(signature.c)},
            {"GEMM_TYPE_D", type_code(signature.d)},
            {"GEMM_EPILOGUE", signature.epilogue.has_value()},
            {"GEMM_MORE_OUTPUTS", signature.epilogue && signature.epilogue->parts().outputs.size() > 1},
            {"GEMM_ACCUMULATOR_F16", signature.accumulator == DataType::f16},
            {"GEMM_ACCUMULATOR_S32", signature.accumulator == DataType::s32},
            {"GEMM_EXACT_SUMS", has_exact_sums(signature)}};
}

}  // namespace jitgemm
