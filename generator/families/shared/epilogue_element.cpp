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

constexpr std::array kServedTypes{DataType::f16, DataType::bf16, DataType::f32};

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

constexpr std::string_view kToF16 =
    "__device__ __forceinline__ unsigned short f16_of_float(float value) {\n"
    "    unsigned short bits;\n"
    "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(value));\n"
    "    return bits;\n"
    "}\n";
constexpr std::string_view kToBf16 =
    "__device__ __forceinline__ unsigned short bf16_of_float(float value) {\n"
    "    unsigned bits;\n"
    "    asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(bits) : \"f\"(0.0f), \"f\"(value));\n"
    "    return static_cast<unsigned short>(bits);\n"
    "}\n";

bool is_served(DataType type) { return std::ranges::find(kServedTypes, type) != kServedTypes.end(); }

/// Where an element lies; `column` names its column.
std::string place(const std::string& name, const EpilogueIndex& index, std::string_view column = "column") {
    if (index.is_matrix())
        return fmt::format("row * args.{} + {}", to_string(ArgumentRole{name, ArgumentPart::pitch}), column);
    return index.row ? "row" : index.column ? std::string(column) : "0";
}

std::string reading(const EpilogueParts& parts, const EpilogueOperand& operand, std::string_view column) {
    const std::string element =
        as_float(operand.type, fmt::format("args.{}[{}]", operand.name, place(operand.name, operand.index, column)));
    const std::string unread = unread_condition(parts, operand.guards);
    return unread.empty() ? element : fmt::format("{} ? 0.0f : {}", unread, element);
}

/// The columns of the product that make a column of D.
std::array<std::string_view, 2> columns_of_pair(EpiloguePairs pairs) {
    if (pairs == EpiloguePairs::halves) return {"column", "column + args.n / 2"};
    return {"2 * column", "2 * column + 1"};
}

/// "bf16_of_float(results.pre)"
std::string converted(const EpilogueOutput& output) {
    const std::string value = "results." + output.name;
    return output.type == DataType::f32 ? value : fmt::format("{}_of_float({})", to_string(*output.type), value);
}

/// "args.pre + row * args.ld_pre"; of a reduction, the row of its values in the workspace.
std::string row_of(const EpilogueOutput& output) {
    if (output.reduction) return fmt::format("values_of_{}(args) + row * values_pitch(args)", output.name);
    return fmt::format("args.{} + row * args.{}", output.name,
                       to_string(ArgumentRole{output.name, ArgumentPart::pitch}));
}

/// "args.pre[row * args.ld_pre + column] = bf16_of_float(results.pre);"
std::string storing(const EpilogueOutput& output) {
    const std::string target = output.reduction
                                   ? fmt::format("values_of_{}(args)[row * values_pitch(args) + column]", output.name)
                                   : fmt::format("args.{}[{}]", output.name, place(output.name, output.index));
    return assignment(kTextIndent, target, converted(output) + ";");
}

/// Outputs that an element stores beside d: those of the text, and for reductions the values that they go over, each
/// once.
std::vector<const EpilogueOutput*> stored_beside_d(const EpilogueParts& parts) {
    std::vector<const EpilogueOutput*> stored;
    const auto is_reduced = [&](std::int32_t value) {
        return std::ranges::any_of(stored, [&](const auto* one) { return one->reduction && one->value == value; });
    };
    for (const EpilogueOutput& output : parts.outputs)
        if (is_beside_d(output) && !(output.reduction && is_reduced(output.value))) stored.push_back(&output);
    return stored;
}

/// The operands of the element at (row, column), each a line; `values` gets ", bias_here".
std::string read_operands(const EpilogueParts& parts, std::string_view indent, std::string& values) {
    std::string text;
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.is_scalar || operand.is_block_scale()) continue;
        // The user's names may be those of the parameters.
        const auto add = [&](std::string_view suffix, std::string_view column) {
            text += fmt::format("{}const float {}_here{} = {};\n", indent, operand.name, suffix,
                                reading(parts, operand, column));
            values += fmt::format(", {}_here{}", operand.name, suffix);
        };
        const std::array<std::string_view, 2> columns = columns_of_pair(parts.pairs);
        if (differs_in_pair(parts, operand))
            add("_0", columns[0]), add("_1", columns[1]);
        else
            add("", "column");
    }
    return text;
}

std::string finish_element(const EpilogueParts& parts) {
    const std::vector<const EpilogueOutput*> stored = stored_beside_d(parts);
    const bool stores = !stored.empty();
    const auto has = [&](auto part) {
        return stores ||
               std::ranges::any_of(parts.operands, [&](const auto& one) { return (one.index.*part).has_value(); });
    };
    const bool has_pairs = parts.pairs != EpiloguePairs::none;
    const std::string head = fmt::format(
        "__device__ __forceinline__ float finish_element(const GemmArgs& args, Row {}, int {}, float acc{}) {{",
        has(&EpilogueIndex::row) ? "row" : "/*row*/", has(&EpilogueIndex::column) ? "column" : "/*column*/",
        has_pairs ? "_0, float acc_1" : "");
    std::string text = fmt::format(
        "// D's element at (row, column) from its {} of products.{}\ntemplate <typename Row>\n{}\n",
        has_pairs ? "two sums" : "sum", stores ? " Stores the other outputs there." : "", call_in_lines(head));
    std::string values = has_pairs ? "acc_0, acc_1" : "acc";
    text += read_operands(parts, "    ", values);
    if (!stores) return text + fmt::format("    return finish(args, {}).d;\n}}\n", values);
    text += fmt::format("    const Results results = finish(args, {});\n", values);
    for (const EpilogueOutput* const output : stored) text += storing(*output);
    return text + "    return results.d;\n}\n";
}

/// The functions that make 16-bit elements of the outputs beside d, each once.
std::string output_conversions(const EpilogueParts& parts) {
    const auto has = [&](DataType type) {
        return std::ranges::any_of(
            parts.outputs, [&](const EpilogueOutput& output) { return is_beside_d(output) && output.type == type; });
    };
    return std::string(has(DataType::f16) ? kToF16 : "") + std::string(has(DataType::bf16) ? kToBf16 : "");
}

bool is_row_block(const EpilogueIndex& index) {
    return index.row && index.row->over == 1 && index.column &&
           std::ranges::find(kBlockColumns, index.column->over) != kBlockColumns.end();
}

/// A kernel reduces blocks of one size; "" if these are.
std::string unserved_blocks(const EpilogueParts& parts) {
    const std::vector<const EpilogueOutput*> all = outputs_for_blocks(parts);
    for (const EpilogueOutput* const one : all)
        if (one->index.column != all.front()->index.column)
            return fmt::format("{} and {}: no kernel makes outputs for blocks of two sizes",
                               with_index(all.front()->name, all.front()->index), with_index(one->name, one->index));
    return {};
}

/// Why no kernel has this output; "" if kernels do.
std::string unserved(const EpilogueOutput& output, const EpilogueParts& parts, bool is_transposed) {
    const std::string name = with_index(output.name, is_transposed ? transposed(output.index) : output.index);
    if (output.index.is_over_blocks() && !is_row_block(output.index))
        return fmt::format("no kernel makes {}: a block is 32, 64 or 128 columns of a row of D", name);
    if (!is_beside_d(output) || output.reduction) return {};
    if (parts.pairs != EpiloguePairs::none) return fmt::format("no kernel stores {} beside a d of pairs", name);
    if (is_served(*output.type)) return {};
    return fmt::format("no kernel stores {}, a {}: outputs beside d are f16, bf16 or f32", output.name,
                       to_string(*output.type));
}

}  // namespace

std::string_view operand_element(DataType type) { return type == DataType::f32 ? "float" : "unsigned short"; }

std::string operand_conversions(const EpilogueParts& parts) {
    std::set<DataType> types;
    for (const EpilogueOperand& operand : parts.operands)
        if (!operand.is_scalar && !operand.is_block_scale()) types.insert(operand.type);
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
    return render_epilogue(epilogue) + operand_conversions(parts) + output_conversions(parts) + finish_element(parts);
}

std::string epilogue_vector(const Epilogue& epilogue) {
    const EpilogueParts& parts = epilogue.parts();
    const std::vector<const EpilogueOutput*> more = stored_beside_d(parts);
    if (more.empty()) return {};
    std::string values, declared, kept, stored;
    const std::string reads = read_operands(parts, "        ", values);
    for (const EpilogueOutput* const output : more) {
        const std::string type = fmt::format("Neighbours<{}, kCount>", operand_element(*output->type));
        declared += fmt::format("    {} {}_here;\n", type, output->name);
        kept += fmt::format("        {}_here.element[i] = {};\n", output->name, converted(*output));
        stored += fmt::format("    store_neighbours({} + first_column, {}_here);\n", row_of(*output), output->name);
    }
    return fmt::format(
               "// Elements that a thread stores at once, in vectors of at most 16 bytes.\n"
               "template <typename Element, int kCount>\n"
               "struct alignas(kCount * sizeof(Element) < 16 ? kCount * sizeof(Element) : 16) Neighbours {{\n"
               "    Element element[kCount];\n"
               "}};\n\n"
               "template <typename Element, int kCount>\n"
               "__device__ __forceinline__ void store_neighbours(Element* first, const Neighbours<Element, kCount>& "
               "all) {{\n"
               "    *reinterpret_cast<Neighbours<Element, kCount>*>(first) = all;\n"
               "}}\n\n"
               "// Neighbours of D in a row from their sums of products. Stores the other outputs there.\n"
               "template <int kCount, typename Row>\n"
               "__device__ __forceinline__ void finish_vector(const GemmArgs& args, Row row, int first_column,\n"
               "                                              const float (&acc)[kCount], float (&d)[kCount]) {{\n"
               "{}#pragma unroll\n    for (int i = 0; i < kCount; ++i) {{\n",
               declared) +
           (reads.find("column") == std::string::npos ? "" : "        const int column = first_column + i;\n") + reads +
           fmt::format("        const Results results = finish(args, acc[i]{});\n", values) + kept +
           "        d[i] = results.d;\n    }\n" + stored + "}\n";
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
        if (std::string why = unserved(output, parts, is_transposed); !why.empty())
            reasons.push_back(at(output.name) + why);
    if (std::string why = unserved_blocks(parts); !why.empty()) reasons.push_back(std::move(why));
    if (std::ranges::none_of(parts.outputs, [](const auto& output) { return output.name == "d"; }))
        reasons.push_back(at("d") + "the text stores no d");
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.index.is_over_blocks() && !operand.is_block_scale())
            reasons.push_back(at(operand.name) + fmt::format("no kernel reads {}, an element for a block",
                                                             written(operand.name, operand.index)));
        if (!operand.is_scalar && !is_served(operand.type))
            reasons.push_back(at(operand.name) + fmt::format("no kernel reads {}, a {}: operands are f16, bf16 or f32",
                                                             operand.name, to_string(operand.type)));
    }
    return reasons;
}

}  // namespace jitgemm
