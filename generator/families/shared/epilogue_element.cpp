#include "generator/families/shared/epilogue_element.hpp"

#include "generator/base/kernel_argument.hpp"
#include "generator/base/packed_lines.hpp"
#include "generator/epilogue/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace jitgemm {
namespace {

constexpr std::array kReadTypes{DataType::f16, DataType::bf16, DataType::f32};

constexpr std::string_view kOfF16 =
    "__device__ __forceinline__ float float_of_f16(unsigned short bits) {\n"
    "    float value;\n"
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(value) : \"h\"(bits));\n"
    "    return value;\n"
    "}\n";
constexpr std::string_view kOfBf16 =
    "__device__ __forceinline__ float float_of_bf16(unsigned short bits) {\n"
    "    return __uint_as_float(static_cast<unsigned>(bits) << 16);\n"
    "}\n";

/// Where an operand's element lies; `column` names its column.
std::string place(const EpilogueOperand& operand, std::string_view column) {
    const EpilogueIndex& index = operand.index;
    if (index.is_matrix())
        return fmt::format("row * args.{} + {}", to_string(ArgumentRole{operand.name, ArgumentPart::pitch}), column);
    return index.row ? "row" : index.column ? std::string(column) : "0";
}

std::string reading(const EpilogueParts& parts, const EpilogueOperand& operand, std::string_view column) {
    const std::string element =
        as_float(operand.type, fmt::format("args.{}[{}]", operand.name, place(operand, column)));
    const std::string unread = unread_condition(parts, operand.guards);
    return unread.empty() ? element : fmt::format("{} ? 0.0f : {}", unread, element);
}

/// The columns of the product that make a column of D.
std::array<std::string_view, 2> columns_of_pair(EpiloguePairs pairs) {
    if (pairs == EpiloguePairs::halves) return {"column", "column + args.n / 2"};
    return {"2 * column", "2 * column + 1"};
}

std::string finish_element(const EpilogueParts& parts) {
    const auto has = [&](auto part) {
        return std::ranges::any_of(parts.operands, [&](const auto& one) { return (one.index.*part).has_value(); });
    };
    const bool has_pairs = parts.pairs != EpiloguePairs::none;
    const std::string head = fmt::format(
        "__device__ __forceinline__ float finish_element(const GemmArgs& args, Row {}, int {}, float acc{}) {{",
        has(&EpilogueIndex::row) ? "row" : "/*row*/", has(&EpilogueIndex::column) ? "column" : "/*column*/",
        has_pairs ? "_0, float acc_1" : "");
    std::string text =
        fmt::format("// D's element at (row, column) from its {} of products.\ntemplate <typename Row>\n{}\n",
                    has_pairs ? "two sums" : "sum", in_lines(head, head.find('(') + 1));
    std::string values = has_pairs ? "acc_0, acc_1" : "acc";
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.is_scalar) continue;
        // The user's names may be those of the parameters.
        const auto add = [&](std::string_view suffix, std::string_view column) {
            text +=
                fmt::format("    const float {}_here{} = {};\n", operand.name, suffix, reading(parts, operand, column));
            values += fmt::format(", {}_here{}", operand.name, suffix);
        };
        const std::array<std::string_view, 2> columns = columns_of_pair(parts.pairs);
        if (differs_in_pair(parts, operand))
            add("_0", columns[0]), add("_1", columns[1]);
        else
            add("", "column");
    }
    return text + fmt::format("    return finish(args, {}).d;\n}}\n", values);
}

}  // namespace

std::string_view operand_element(DataType type) { return type == DataType::f32 ? "float" : "unsigned short"; }

std::string operand_conversions(const EpilogueParts& parts) {
    std::set<DataType> types;
    for (const EpilogueOperand& operand : parts.operands)
        if (!operand.is_scalar) types.insert(operand.type);
    return std::string(types.contains(DataType::f16) ? kOfF16 : "") +
           std::string(types.contains(DataType::bf16) ? kOfBf16 : "");
}

std::string as_float(DataType type, const std::string& element) {
    return type == DataType::f32 ? element : fmt::format("float_of_{}({})", to_string(type), element);
}

std::string unread_condition(const EpilogueParts& parts, const std::vector<int>& guards) {
    std::string condition;
    for (const int guard : guards)
        condition += fmt::format("{}args.{} == 0.0f", condition.empty() ? "" : " || ",
                                 parts.operands[static_cast<std::size_t>(guard)].name);
    return guards.size() > 1 ? "(" + condition + ")" : condition;
}

std::string epilogue_element(const Epilogue& epilogue) {
    const EpilogueParts& parts = epilogue.parts();
    return render_epilogue(epilogue) + operand_conversions(parts) + finish_element(parts);
}

std::vector<std::string> unserved_epilogue(const Epilogue& epilogue, bool is_transposed) {
    const EpilogueParts& parts = epilogue.parts();
    const auto at = [&](std::string_view name) {
        return place_in_text(is_transposed ? epilogue.transposed() : epilogue, name);
    };
    const auto written = [&](std::string_view name, const EpilogueIndex& index) {
        return with_index(name, is_transposed ? transposed(index) : index);
    };
    std::vector<std::string> reasons;
    for (const EpilogueOutput& output : parts.outputs)
        if (output.name != "d")
            reasons.push_back(at(output.name) +
                              fmt::format("no kernel stores {} beside d", written(output.name, output.index)));
    if (std::ranges::none_of(parts.outputs, [](const auto& output) { return output.name == "d"; }))
        reasons.push_back(at("d") + "the text stores no d");
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.index.is_over_blocks())
            reasons.push_back(at(operand.name) + fmt::format("no kernel reads {}, an element for a block",
                                                             written(operand.name, operand.index)));
        if (!operand.is_scalar && std::ranges::find(kReadTypes, operand.type) == kReadTypes.end())
            reasons.push_back(at(operand.name) + fmt::format("no kernel reads {}, a {}: operands are f16, bf16 or f32",
                                                             operand.name, to_string(operand.type)));
    }
    return reasons;
}

}  // namespace jitgemm
