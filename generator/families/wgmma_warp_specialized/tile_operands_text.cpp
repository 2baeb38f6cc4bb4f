#include "generator/base/kernel_argument.hpp"
#include "generator/base/packed_lines.hpp"
#include "generator/epilogue/expression_text.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/reductions.hpp"
#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"
#include "generator/families/wgmma_warp_specialized/tile_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace jitgemm {
namespace {

std::string_view type_name(DataType type) {
    return type == DataType::f32 ? "F32" : type == DataType::f16 ? "F16" : "Bf16";
}

/// How far apart the elements for the two columns of a pair lie.
std::string_view second_column(const TileOperands& all) {
    return all.pairs != EpiloguePairs::halves ? "1" : all.swap_ab ? "args.m / 2" : "args.n";
}
/// From the elements of one pair to those of the next.
int step_of(const TileOperand& one, const TileOperands& all) {
    return one.differs && all.pairs == EpiloguePairs::neighbours ? 2 : 1;
}

std::string part(const TileOperand& one) { return one.operand.name + "_part"; }
/// Of a column vector for both sums of pairs, each has its own.
std::vector<std::string> parts(const TileOperand& one) {
    if (one.reader != OperandReader::paired_column || !one.differs) return {part(one)};
    return {part(one) + "_0", part(one) + "_1"};
}
std::string is_read(const TileOperand& one) { return one.guard.empty() ? "true" : one.guard; }

// ---- types ----------------------------------------------------------------------------------------------------------

/// Of two neighbours.
std::string pair_type(const TileOperand& one) {
    const DataType type = one.operand.type;
    if (!one.by_pair) return fmt::format("ElementPair<{}>", type_name(type));
    return type == DataType::f32 ? "FloatPair" : fmt::format("WordPair<{}>", type_name(type));
}

std::string reader_type(const TileOperand& one, const TileOperands& all) {
    const std::string_view type = type_name(one.operand.type);
    const bool swap_ab = all.swap_ab;
    switch (one.reader) {
        case OperandReader::paired_row_vector: return fmt::format("PairedRowVector<{}, {}>", type, step_of(one, all));
        case OperandReader::paired_column: return fmt::format("PairedColumnVector<{}, {}>", type, step_of(one, all));
        case OperandReader::row_vector: return fmt::format("RowVector<{}>", pair_type(one));
        case OperandReader::column_vector: return fmt::format("ColumnVector<{}>", type);
        case OperandReader::panels:
            return one.operand.type == DataType::f32 ? "Panels" : fmt::format("Panels<{}>", type);
        case OperandReader::elements: return fmt::format("Elements<{}>", swap_ab ? std::string(type) : pair_type(one));
        case OperandReader::single: break;
    }
    return std::string(element_type(one.operand.type));
}

/// Templates that the readers of an operand need.
std::vector<std::string_view> templates_of(const TileOperand& one, const TileOperands& all) {
    using enum OperandReader;
    const bool swap_ab = all.swap_ab;
    const bool is_f32 = one.operand.type == DataType::f32;
    const bool in_pairs = one.by_pair && (one.reader == row_vector || (one.reader == elements && !swap_ab));
    std::vector<std::string_view> names;
    if (!is_f32 || (!in_pairs && one.reader != panels))
        names.emplace_back(is_f32 ? "operand_f32" : one.operand.type == DataType::f16 ? "operand_f16" : "operand_bf16");
    if (!in_pairs && one.reader != panels) names.emplace_back(is_f32 ? "load_float" : "load_bits");
    if (in_pairs) names.emplace_back(is_f32 ? "float_pair" : "word_pair");
    if (!in_pairs && (one.reader == row_vector || (one.reader == elements && !swap_ab)))
        names.emplace_back("element_pair");
    switch (one.reader) {
        case row_vector: names.emplace_back("row_vector"); break;
        case paired_row_vector: names.emplace_back("paired_row_vector"); break;
        case paired_column: names.emplace_back("paired_column_vector"); break;
        case column_vector: names.emplace_back("column_vector"); break;
        case panels: names.emplace_back("panels"); break;
        case elements:
            names.emplace_back(!all.swap_ab                       ? "elements"
                               : all.pairs != EpiloguePairs::none ? "elements_of_pairs"
                                                                  : "elements_transposed");
            break;
        case single: break;
    }
    return names;
}

/// All of them in an order in which each stands behind what it calls: loads of all types before what reads pairs.
constexpr std::array<std::string_view, 16> kTemplates{
    "operand_bf16",         "operand_f16",  "operand_f32",       "load_bits",          "load_float", "word_pair",
    "float_pair",           "element_pair", "row_vector",        "paired_row_vector",  "panels",     "column_vector",
    "paired_column_vector", "elements",     "elements_of_pairs", "elements_transposed"};

/// The types of the parts that warps make of reductions.
std::string reduction_includes(const TileOperands& all) {
    std::set<std::string_view> names;
    for (const KernelReduction& one : all.reductions)
        names.insert(one.is_by_column() ? "column_part" : one.is_of_all() ? "whole_part" : "row_part");
    std::string text;
    if (!all.blocks.empty()) names.insert("block_part");
    for (const TileBlock& one : all.blocks) names.insert(to_string(one.made.kind));
    for (const std::string_view name : names) text += fmt::format("#include \"reduction/{}.cuh\"\n", name);
    return text;
}

std::string includes(const TileOperands& all) {
    std::set<std::string_view> names;
    for (const TileOperand& one : all.operands)
        for (const std::string_view name : templates_of(one, all)) names.insert(name);
    return include_lines(names, kTemplates) + reduction_includes(all);
}

// ---- the struct -----------------------------------------------------------------------------------------------------

/// Writes `struct TileOperands`.
class TileOperandsWriter {
public:
    TileOperandsWriter(const TileOperands& all, int columns, bool is_overlapped)
        : all_(all), columns_(columns), is_overlapped_(is_overlapped) {}

    [[nodiscard]] std::string write() const {
        std::string text = "\n// Operands of the results of a warp's part of a tile.\nstruct TileOperands {\n";
        if (has_edges()) text += "    const Edges& edges;\n";
        if (all_.needs_places()) text += "    int slice_row = 0, slice_column = 0;\n";
        for (const TileOperand& one : all_.operands)
            for (const std::string& part : parts(one))
                text += fmt::format("    {} {};\n", reader_type(one, all_), part);
        for (const KernelReduction& one : all_.reductions)
            text += fmt::format("    {}<{}> {}_part;\n", part_type(one), combiner_of(one.made.kind), one.name);
        for (const TileBlock& one : all_.blocks)
            text += fmt::format("    BlockPart<{}> {};\n", combiner_of(one.made.kind), block(one));
        for (const TileBlock& one : all_.blocks)
            if (one.is_divisor) text += fmt::format("    Divisor {}[2];  // of rows g and g + 8\n", divisors(one));
        if (!all_.operands.empty() || has_edges()) text += "\n";
        if (all_.has_constructor()) text += constructor() + "\n";
        if (!is_overlapped_) text += below() + "\n";
        if (has_edges()) text += read_slice() + "\n";
        if (all_.has(OperandReader::panels)) text += begin_slice() + "\n";
        if (!all_.blocks.empty()) text += take_atom() + "\n" + begin_block() + "\n" + finish_block() + "\n";
        text += all_.swap_ab ? finish_pair() : finish_atom();
        if (!all_.reductions.empty()) text += "\n" + store_parts();
        return text + "};\n";
    }

private:
    [[nodiscard]] bool has_slices() const { return all_.has(OperandReader::elements); }
    /// Whether something is read or stored a slice at a time.
    [[nodiscard]] bool has_edges() const { return has_slices() || all_.needs_places(); }
    [[nodiscard]] bool by_unit() const { return all_.finish == TileFinish::by_unit; }
    [[nodiscard]] bool has_pairs() const { return all_.pairs != EpiloguePairs::none; }
    [[nodiscard]] bool reads_row() const {
        return all_.has(OperandReader::row_vector) || all_.has(OperandReader::paired_row_vector);
    }

    /// A parameter, whose name is a comment where it isn't used.
    static std::string parameter(std::string_view type, std::string_view name, bool is_used) {
        return is_used ? fmt::format("{} {}", type, name) : fmt::format("{} /*{}*/", type, name);
    }

    [[nodiscard]] std::vector<std::string> initializers() const {
        std::vector<std::string> list;
        if (has_edges()) list.emplace_back("edges(edges)");
        for (const TileOperand& one : all_.operands) {
            const std::string& name = one.operand.name;
            if (one.reader == OperandReader::row_vector)
                list.push_back(
                    fmt::format("{}(args.{}, column, edges.end_column, {}, lane)", part(one), name, is_read(one)));
            if (one.reader == OperandReader::paired_row_vector)
                list.push_back(fmt::format("{}(args.{}, args.{} + {}, column, edges.end_column, {}, lane)", part(one),
                                           name, name, second_column(all_), is_read(one)));
            for (const std::string& part : parts(one))
                if (one.reader == OperandReader::paired_column)
                    list.push_back(fmt::format("{}(args.{}{}, row / 2, edges.end_row / 2, {}, lane)", part, name,
                                               part.ends_with("_1") ? fmt::format(" + {}", second_column(all_)) : "",
                                               is_read(one)));
            if (one.reader == OperandReader::column_vector)
                list.push_back(fmt::format("{}(args.{}, row, edges.end_row, {}, lane)", part(one), name, is_read(one)));
            if (one.reader == OperandReader::single)
                list.push_back(fmt::format("{}(load_if(args.{}, {}))", part(one), name, is_read(one)));
        }
        return list;
    }

    [[nodiscard]] std::string constructor() const {
        using enum OperandReader;
        const bool has_row = all_.has(column_vector) || all_.has(paired_column);
        const bool has_column = all_.has(row_vector) || all_.has(paired_row_vector);
        const bool reads = has_row || has_column || all_.has(single);
        const std::string head = fmt::format("    __device__ __forceinline__ TileOperands({}, {}, {}, {}, {})",
                                             parameter("const GemmArgs&", "args", reads),
                                             parameter("const Edges&", "edges", has_row || has_column || has_edges()),
                                             parameter("int", "row", has_row), parameter("int", "column", has_column),
                                             parameter("int", "lane", has_row || has_column));
        const std::string start = "    // Reads what is a part of a row or a column.\n" + call_in_lines(head) + "\n";
        const std::string one_line = fmt::format("        : {} {{}}", fmt::join(initializers(), ", "));
        if (one_line.size() <= kTextColumns) return start + one_line + "\n";
        return start + fmt::format("        : {} {{}}\n", fmt::join(initializers(), ",\n          "));
    }

    [[nodiscard]] std::string below() const {
        const auto moves = [](const TileOperand& one) {
            return one.reader == OperandReader::column_vector || one.reader == OperandReader::paired_column ||
                   one.reader == OperandReader::panels;
        };
        std::string text = "    // The part `rows` rows below.\n";
        if (std::ranges::none_of(all_.operands, moves))
            return text +
                   "    __device__ __forceinline__ const TileOperands& below(int /*rows*/) const { return *this; }\n";
        text +=
            "    __device__ __forceinline__ TileOperands below(int rows) const {\n        TileOperands there = "
            "*this;\n";
        for (const TileOperand& one : all_.operands)
            for (const std::string& part : parts(one))
                if (moves(one)) text += fmt::format("        there.{0} = {0}.below(rows);\n", part);
        return text + "        return there;\n    }\n";
    }

    [[nodiscard]] std::string read_slice() const {
        const std::string head =
            fmt::format("    __device__ __forceinline__ void read_slice({}, int row, int column, {}) {{",
                        parameter("const GemmArgs&", "args", has_slices()), parameter("int", "lane", has_slices()));
        std::string text =
            "    // Reads what goes with the slice of D that begins at (row, column).\n" + call_in_lines(head) + "\n";
        if (all_.needs_places()) text += "        slice_row = row;\n        slice_column = column;\n";
        for (const TileOperand& one : all_.operands)
            if (one.reader == OperandReader::elements)
                text += call_in_lines(
                            fmt::format("        {0}.read(args.{1}, args.{2}, edges, row, column, {3}, lane);",
                                        part(one), one.operand.name,
                                        to_string(ArgumentRole{one.operand.name, ArgumentPart::pitch}), is_read(one))) +
                        "\n";
        return text + "    }\n";
    }

    [[nodiscard]] std::string begin_slice() const {
        return fmt::format("    __device__ __forceinline__ void begin_slice(int slice) {{ {}.begin_slice(slice); }}\n",
                           part(*all_.find(OperandReader::panels)));
    }

    // ---- any text

    /// An operand's element for the x or the y of a pair; `i` counts rows g and g + 8.
    [[nodiscard]] std::string element(const TileOperand& one, char place, std::string_view i) const {
        const std::string value = one.operand.name + "_here";
        switch (one.reader) {
            case OperandReader::paired_row_vector: return fmt::format("{0}_0.{1}, {0}_1.{1}", value, place);
            case OperandReader::row_vector: return fmt::format("{}.{}", value, place);
            case OperandReader::column_vector: return fmt::format("{}.row({})", part(one), i);
            case OperandReader::paired_column: return fmt::format("{}.row()", fmt::join(parts(one), ".row(), "));
            case OperandReader::single: return fmt::format("{}::to_float({})", type_name(one.operand.type), part(one));
            default: break;
        }
        return all_.swap_ab ? fmt::format("{}.{}", value, place) : fmt::format("{}.pair[{}].{}", value, i, place);
    }

    /// The elements that a thread needs at once, as local values.
    [[nodiscard]] std::string local_values() const {
        std::string text;
        for (const TileOperand& one : all_.operands) {
            const std::string& name = one.operand.name;
            if (one.reader == OperandReader::row_vector)
                text += fmt::format("        const float2 {}_here = {}.pair(slice, j, lane);\n", name, part(one));
            for (int which = 0; which < 2 && one.reader == OperandReader::paired_row_vector; ++which)
                text += fmt::format("        const float2 {0}_here_{2} = {1}.pair({2}, slice, j, lane);\n", name,
                                    part(one), which);
            if (one.reader == OperandReader::elements && all_.swap_ab)
                text += fmt::format("        const float2 {}_here = {}.pair(j{});\n", name, part(one),
                                    has_pairs() ? "" : ", pair");
            if (one.reader == OperandReader::elements && !all_.swap_ab)
                text += fmt::format("        const Atom {}_here = {}.atom(j);\n", name, part(one));
            if (one.reader == OperandReader::panels && one.guard.empty())
                text += fmt::format("        const Atom {}_here = {}.atom(slice, j, lane);\n", name, part(one));
            if (one.reader == OperandReader::panels && !one.guard.empty())
                text += fmt::format("        const Atom {}_here = {} ? {}.atom(slice, j, lane) : Atom{{}};\n", name,
                                    one.guard, part(one));
        }
        return text;
    }

    /// "const Results x = finish(args, sum.x, bias_here.x);"
    [[nodiscard]] std::string finished(std::size_t indent, char place, std::string_view i) const {
        std::string call = call_of("finish", place, i);
        for (const TileBlock& one : all_.blocks)
            if (one.made.is_read_back && !one.is_divisor) call += fmt::format(", {}.values[{}]", block(one), i);
        for (const TileBlock& one : all_.blocks)
            if (one.is_divisor) call += fmt::format(", {}[{}]", divisors(one), i);
        return declared(indent, "Results", place, call + ");");
    }
    /// Without the closing parenthesis.
    [[nodiscard]] std::string call_of(std::string_view function, char place, std::string_view i) const {
        std::string call = fmt::format(
            fmt::runtime(has_pairs() ? "{1}(args, sum_0.{0}, sum_1.{0}" : "{1}(args, sum.{0}"), place, function);
        for (const TileOperand& one : all_.operands) call += ", " + element(one, place, i);
        return call;
    }
    static std::string declared(std::size_t indent, std::string_view type, char name, const std::string& call) {
        const std::string start = fmt::format("{:{}}const {} {} =", "", indent, type, name);
        const std::size_t next = indent + kTextIndent;  // where clang-format puts a call that fits there alone
        if (start.size() + 1 + call.size() > kTextColumns && next + call.size() <= kTextColumns)
            return fmt::format("{}\n{:{}}{}\n", start, "", next, call);
        return call_in_lines(start + " " + call) + "\n";
    }
    static std::string block(const TileBlock& one) { return one.name + "_block"; }
    static std::string divisors(const TileBlock& one) { return one.name + "_divisors"; }

    /// Where a thread's pair lies, and how many of the two are elements of D.
    static std::string place_lines(std::size_t indent, std::string_view i) {
        return fmt::format(
            "{0:{1}}const int row = slice_row + lane / 4 + {2} * 8;\n"
            "{0:{1}}const int column = slice_column + j * 8 + lane % 4 * 2;\n"
            "{0:{1}}const int left = row < edges.end_row ? edges.end_column - column : 0;\n",
            "", indent, i);
    }

    [[nodiscard]] std::string take_atom() const {
        const bool needs_slice = reads_row() || all_.has(OperandReader::panels);
        std::string text =
            "    // Takes a thread's part of the j-th eight columns of a slice into the reductions of its block.\n" +
            call_in_lines(fmt::format("    __device__ __forceinline__ void take_atom(const GemmArgs& args, const "
                                      "Accumulator* sums, {}, int j, int lane) {{",
                                      parameter("int", "slice", needs_slice))) +
            "\n" + local_values() + "        const Atom atom = atom_of(sums);\n";
        if (has_pairs()) text += "        const Atom second = atom_of(sums + kRegistersC);\n";
        text += "#pragma unroll\n        for (int i = 0; i < 2; ++i) {\n" + sums_of_row();
        for (const char place : {'x', 'y'})
            text += declared(12, "Reduced", place, call_of("reduced", place, "i") + ");");
        text += place_lines(12, "i");
        for (const TileBlock& one : all_.blocks)
            text += fmt::format("            {0}.take(x.{1}, y.{1}, left, i);\n", block(one), one.name);
        return text + "        }\n    }\n";
    }
    [[nodiscard]] std::string sums_of_row() const {
        return has_pairs() ? "            const float2 sum_0 = atom.pair[i], sum_1 = second.pair[i];\n"
                           : "            const float2 sum = atom.pair[i];\n";
    }
    [[nodiscard]] std::string begin_block() const {
        const std::string head = "    __device__ __forceinline__ void begin_block() {";
        if (all_.blocks.size() == 1) return fmt::format("{} {} = {{}}; }}\n", head, block(all_.blocks.front()));
        std::string text = head + "\n";
        for (const TileBlock& one : all_.blocks) text += fmt::format("        {} = {{}};\n", block(one));
        return text + "    }\n";
    }
    /// "value == 0.0f ? 1.0f : value / 448.0f": a scale that is read back is never 0.
    static std::string result_of(const TileBlock& one) {
        const std::string scaled = one.made.scaled_by == ' '
                                       ? "value"
                                       : fmt::format("value {} {}", one.made.scaled_by, cuda_number(one.made.number));
        const bool is_scale = one.made.is_read_back && one.made.kind == ReductionKind::max;
        return is_scale ? "value == 0.0f ? 1.0f : " + scaled : scaled;
    }
    [[nodiscard]] std::string finish_block() const {
        std::string text =
            "    // Makes the results of the block of columns that begins at (row, column) of D, and stores them.\n"
            "    __device__ __forceinline__ void finish_block(const GemmArgs& args, int row, int column, int lane) {\n";
        for (const TileBlock& one : all_.blocks) {
            text += fmt::format("        {}.combine();\n", block(one));
            if (const std::string result = result_of(one); result != "value")
                text += fmt::format("        for (float& value : {}.values) value = {};\n", block(one), result);
            text += call_in_lines(fmt::format(
                        "        {}.store(args.{} + column / {}, args.{}, edges, row, column, lane);", block(one),
                        one.name, one.columns, to_string(ArgumentRole{one.name, ArgumentPart::pitch}))) +
                    "\n";
            if (one.is_divisor)
                text += fmt::format("        for (int i = 0; i < 2; ++i) {}[i] = Divisor({}.values[i]);\n",
                                    divisors(one), block(one));
        }
        return text + "    }\n";
    }

    /// Statements that store a pair of results, `x` and `y`, in outputs without slices and in reductions. `i` is 0 for
    /// row g and 1 for row g + 8.
    [[nodiscard]] std::string direct_stores(std::size_t indent, std::string_view i) const {
        if (!all_.finishes_by_place()) return {};
        const std::string start(indent, ' ');
        std::string text = place_lines(indent, i);
        for (const TileOutput& one : all_.outputs)
            if (!one.is_staged) text += call_in_lines(start + direct_store(one)) + "\n";
        for (const KernelReduction& one : all_.reductions)
            text += call_in_lines(start + fmt::format("{0}_part.take(x.{0}, y.{0}, left{1}{2});", one.name,
                                                      one.is_by_column() ? ", eight" : "",
                                                      one.is_of_all() ? std::string() : fmt::format(", {}", i))) +
                    "\n";
        return text;
    }
    static std::string_view part_type(const KernelReduction& one) {
        return !one.over_columns ? "ColumnPart" : one.over_rows ? "WholePart" : "RowPart";
    }

    [[nodiscard]] bool reduces_columns() const {
        return std::ranges::any_of(all_.reductions, [](const KernelReduction& one) { return one.is_by_column(); });
    }
    [[nodiscard]] std::string eight_line() const {
        if (!reduces_columns()) return {};
        return "        const int eight = slice * (kSliceColumns / 8) + j;  // of the columns of the warpgroup tile\n";
    }
    /// Behind the last pair of four atoms.
    [[nodiscard]] std::string store_columns(std::string_view condition) const {
        std::string text;
        const auto count = std::ranges::count_if(all_.reductions, &KernelReduction::is_by_column);
        for (const KernelReduction& one : all_.reductions)
            if (one.is_by_column())
                text += call_in_lines(fmt::format("            {0}_part.store(parts_of_{0}(args), edges, slice_row, "
                                                  "slice_column + (j - 3) * 8, 32, lane);",
                                                  one.name)) +
                        "\n";
        if (count == 0) return {};
        return fmt::format("        if ({}){}\n{}{}", condition, count > 1 ? " {" : "", text,
                           count > 1 ? "        }\n" : "");
    }
    [[nodiscard]] std::string store_parts() const {
        const int rest = columns_ % 32;  // of the last four atoms, where these are fewer
        std::string text =
            "    // Stores what is left of the parts. A warp's 16 rows begin at (row, column) of D.\n"
            "    __device__ __forceinline__ void store_parts(const GemmArgs& args, int row, int column, int lane) {\n";
        for (const KernelReduction& one : all_.reductions) {
            if (one.is_by_column() && rest == 0) continue;
            const std::string place =
                one.is_by_column() ? fmt::format("column + {}, {}", columns_ - rest, rest) : "column";
            text += call_in_lines(fmt::format("        {0}_part.store(parts_of_{0}(args), edges, row, {1}, lane);",
                                              one.name, place)) +
                    "\n";
        }
        return text + "    }\n";
    }
    [[nodiscard]] std::string direct_store(const TileOutput& one) const {
        const std::string& name = one.output.name;
        const std::string pitch = "args." + to_string(ArgumentRole{name, ArgumentPart::pitch});
        const std::string pair =
            fmt::format("{1}(x.{0}, y.{0})", name, is_f32(one) ? "make_float2" : packing_function(one));
        if (all_.swap_ab)
            return fmt::format("store_across(args.{} + column * {} + row, {}, left, {});", name, pitch, pitch, pair);
        return fmt::format("store_neighbours{}(args.{} + row * {} + column, left, {});",
                           one.by_pair ? "<true>" : "<false>", name, pitch, pair);
    }

    /// "atoms.pre.pair[i] = make_float2(x.pre, y.pre);" of D and of each output that has slices.
    [[nodiscard]] std::string kept_results(std::size_t indent, std::string_view whole, std::string_view pair) const {
        std::string text;
        for (const std::string& name : kept_names(all_))
            text += assignment(indent, fmt::format("{}.{}{}", whole, name, pair),
                               fmt::format("make_float2(x.{0}, y.{0});", name));
        return text;
    }

    [[nodiscard]] std::string finish_atom() const {
        const bool needs_slice = reads_row() || all_.has(OperandReader::panels) || reduces_columns();
        const bool needs_lane = needs_slice || all_.finishes_by_place();
        const bool needs_j = needs_lane || has_slices();
        const bool has_more = all_.has_staged_outputs();
        std::string text =
            "    // A thread's part of the j-th eight columns of a slice.\n" +
            call_in_lines(fmt::format("    __device__ __forceinline__ {} finish_atom(const GemmArgs& args, const "
                                      "Accumulator* sums, {}, {}, {}){} {{",
                                      has_more ? "FinishedAtoms" : "Atom", parameter("int", "slice", needs_slice),
                                      parameter("int", "j", needs_j), parameter("int", "lane", needs_lane),
                                      all_.reductions.empty() ? " const" : "")) +
            "\n";
        if (by_unit()) return text + unit_atom() + "    }\n";
        text += local_values() + fmt::format("        {}Atom atom = atom_of(sums);\n", has_more ? "const " : "");
        if (has_pairs()) text += "        const Atom second = atom_of(sums + kRegistersC);\n";
        if (has_more) text += "        FinishedAtoms finished;\n";
        text += eight_line();
        text += "#pragma unroll\n        for (int i = 0; i < 2; ++i) {\n";
        text += sums_of_row();
        text += finished(12, 'x', "i") + finished(12, 'y', "i") + direct_stores(12, "i");
        const std::string stored = store_columns("eight % 4 == 3");
        if (!has_more)
            return text + "            atom.pair[i] = make_float2(x.d, y.d);\n        }\n" + stored +
                   "        return atom;\n    }\n";
        return text + kept_results(12, "finished", ".pair[i]") + "        }\n" + stored +
               "        return finished;\n    }\n";
    }

    [[nodiscard]] std::string unit_atom() const {
        const TileOperand& one = all_.operands.front();
        const std::string name = one.operand.name;
        if (one.reader == OperandReader::panels)
            return fmt::format(
                "        return finish(args, atom_of(sums), [&] {{ return {}.atom(slice, j, lane); }});\n", part(one));
        return fmt::format(
            "        const float2 {0} = {1}.pair(slice, j, lane);\n"
            "        return finish(args, atom_of(sums), [&] {{ return Atom{{{0}, {0}}}; }});\n",
            name, part(one));
    }

    [[nodiscard]] std::string finish_pair() const {
        const bool needs_slice = reads_row() || reduces_columns();
        const bool needs_lane = needs_slice || all_.finishes_by_place();
        const bool needs_j = needs_lane || has_slices();
        const bool has_more = all_.has_staged_outputs();
        std::string text =
            has_pairs()
                ? "    // A thread's elements of the j-th eight columns of a slice, in row g.\n"
                : "    // A thread's pair of the j-th eight columns of a slice: in row g (pair 0) or g + 8 (pair 1).\n";
        text +=
            call_in_lines(fmt::format("    __device__ __forceinline__ {} finish_pair(const GemmArgs& args, const "
                                      "Accumulator* sums, {}, {}, {}{}){} {{",
                                      has_more ? "FinishedPairs" : "float2", parameter("int", "slice", needs_slice),
                                      parameter("int", "j", needs_j), has_pairs() ? "" : "int pair, ",
                                      parameter("int", "lane", needs_lane), all_.reductions.empty() ? " const" : "")) +
            "\n";
        if (by_unit()) return text + unit_pair() + "    }\n";
        text += local_values();
        text += has_pairs() ? "        const float2 sum_0 = accumulator_pair(sums, 0);\n"
                              "        const float2 sum_1 = accumulator_pair(sums, 1);\n"
                            : "        const float2 sum = accumulator_pair(sums, pair);\n";
        text += finished(8, 'x', "pair") + finished(8, 'y', "pair") + eight_line() + direct_stores(8, "pair");
        text += store_columns("pair == 1 && eight % 4 == 3");
        if (!has_more) return text + "        return make_float2(x.d, y.d);\n    }\n";
        return text + "        FinishedPairs finished;\n" + kept_results(8, "finished", "") +
               "        return finished;\n    }\n";
    }

    [[nodiscard]] std::string unit_pair() const {
        const TileOperand& one = all_.operands.front();
        return fmt::format(
            "        return finish(args, accumulator_pair(sums, pair), [&] {{\n"
            "            const float {0} = {1}.row(pair);\n"
            "            return make_float2({0}, {0});\n"
            "        }});\n",
            one.operand.name, part(one));
    }

    const TileOperands& all_;
    int columns_;  ///< of a warpgroup's part of D
    bool is_overlapped_;
};

// ---- the ring -------------------------------------------------------------------------------------------------------

/// C may be one row, if the launch says so.
std::string panel_operand(const TileOperand& one, bool by_unit, bool has_rest) {
    const std::string& name = one.operand.name;
    const std::string guard = one.guard.empty() ? "/*args*/) { return true; }" : "args) { return " + one.guard + "; }";
    const std::string_view step =
        by_unit ? "args) { return args.ldc != 0; }  // 0 where C is one row" : "/*args*/) { return 1; }";
    const std::string_view map = by_unit ? "c" : "panels";
    std::string text = fmt::format(
        "// {} is in the ring.\n"
        "__device__ __forceinline__ bool reads_panels(const GemmArgs& {}\n"
        "__device__ __forceinline__ int panel_row_step(const GemmArgs& {}\n"
        "__device__ __forceinline__ const TensorMap& map_of_panels(const GemmArgs& args) {{ return args.map_{}; }}\n",
        by_unit ? "C" : name, guard, step, map);
    if (has_rest)
        text += call_in_lines(fmt::format(
            "__device__ __forceinline__ const TensorMap& map_of_rest_panels(const GemmArgs& args) {{ return "
            "args.map_{}_rest; }}\n",
            map));
    return text;
}

std::string_view struct_template(TileFinish finish) {
    switch (finish) {
        case TileFinish::by_row: return "#include \"epilogue/tile_of_sums.cuh\"\n";
        case TileFinish::by_element: return "#include \"epilogue/tile_of_elements.cuh\"\n";
        default: return "#include \"epilogue/tile_without_operands.cuh\"\n";
    }
}

/// Elements of neighbours lie one after the other; those of halves are two vectors. With swap_ab, rows count sums.
std::string prefetch_pairs(const TileOperand& one, const TileOperands& all) {
    const bool in_halves = one.differs && all.pairs == EpiloguePairs::halves;
    const bool has_one = !one.differs || in_halves;
    const std::string_view first = all.swap_ab ? has_one ? "tile.row / 2" : "tile.row"
                                   : has_one   ? "tile.column"
                                               : "2 * tile.column";
    std::string end =
        all.swap_ab ? "min(tile.row + kBlockM, tile.end_row)" : "min(tile.column + kBlockN, tile.end_column)";
    if (all.swap_ab && has_one) end += " / 2";
    if (!all.swap_ab && !has_one) end = "2 * " + end;
    if (!one.guard.empty()) end = fmt::format("{} ? {} : 0", one.guard, end);
    const std::string vector = "args." + one.operand.name;
    std::string text = call_statement("prefetch_vector", vector, {std::string(first), end});
    if (in_halves)
        text += call_statement("prefetch_vector", fmt::format("{} + {}", vector, second_column(all)),
                               {std::string(first), end});
    return text;
}

}  // namespace

std::string prefetch_vectors(const TileOperands& all) {
    std::string text;
    for (const TileOperand& one : all.operands) {
        if (one.reader == OperandReader::paired_row_vector || one.reader == OperandReader::paired_column)
            text += prefetch_pairs(one, all);
        if (one.reader != OperandReader::row_vector && one.reader != OperandReader::column_vector) continue;
        const bool is_row = one.reader == OperandReader::row_vector;
        const std::string begin = is_row ? "tile.column" : "tile.row";
        const std::string end =
            is_row ? "min(tile.column + kBlockN, tile.end_column)" : "min(tile.row + kBlockM, tile.end_row)";
        text += call_statement("prefetch_vector", "args." + one.operand.name,
                               {begin, one.guard.empty() ? end : fmt::format("{} ? {} : 0", one.guard, end)});
    }
    return text;
}

void add_tile_operands(RenderInput& input, const TileOperands& all, const WgmmaWarpSpecializedConfig& c,
                       const WgmmaGeometry& g) {
    const bool has_struct = all.finish == TileFinish::by_text || !all.operands.empty();
    input.macros["GEMM_TILE_PANELS"] = all.has(OperandReader::panels);
    input.macros["GEMM_PREFETCH_PANELS"] = all.has(OperandReader::panels) && c.schedule != WarpgroupSchedule::pingpong;
    input.macros["GEMM_READ_PARTS"] = all.reads_parts();
    input.macros["GEMM_ROW_VECTORS"] = all.has(OperandReader::row_vector);
    input.macros["GEMM_BLOCK_REDUCTIONS"] = !all.blocks.empty();
    input.macros["GEMM_ODD_EDGES"] = all.odd_edges;
    if (!has_struct) {
        input.generated["tile_operands.inl"] = struct_template(all.finish);
        return;
    }
    std::string text = includes(all);
    if (!prefetch_vectors(all).empty()) text += "#include \"epilogue/prefetch_vector.cuh\"\n";
    input.generated["tile_operands.inl"] =
        text + TileOperandsWriter(all, g.output_n, c.schedule == WarpgroupSchedule::overlapped).write();
    if (const TileOperand* const panels = all.find(OperandReader::panels))
        input.generated["panel_operand.inl"] =
            panel_operand(*panels, all.finish == TileFinish::by_unit, g.rest_columns != 0);
}

}  // namespace jitgemm
