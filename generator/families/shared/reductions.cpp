#include "generator/families/shared/reductions.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/packed_lines.hpp"
#include "generator/base/round_up.hpp"
#include "generator/epilogue/expression_text.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/params_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kFinishWarps = 16;    // of a block that combines parts
constexpr int kFinishBlocks = 512;  // at most: each takes 32 results of a reduction at a time
constexpr int kPartWarps = 4;       // of a block that makes parts of stored values, each of 32 rows and columns
constexpr int kPartBlocks = 65536;  // at most

constexpr std::array kKinds{ReductionKind::sum, ReductionKind::max, ReductionKind::min};

/// The number of D's columns. Kernels that store values call the product's columns n, and wgmma kernels D's.
std::string_view columns_of(const PartTile& tile) { return tile.is_of_stored_values ? "columns_of_d(args)" : "args.n"; }

/// "row_parts(args)", the number of parts that make a result.
std::string_view count_of(const KernelReduction& one) {
    if (one.is_of_all()) return "all_parts(args)";
    return one.over_rows ? "row_parts(args)" : "column_parts(args)";
}
/// The number of results; "" of a single one.
std::string_view size_of(const KernelReduction& one, const PartTile& tile) {
    if (one.is_of_all()) return "";
    return one.over_rows ? columns_of(tile) : "args.m";
}

/// "__device__ … { return value; }", in one line if there is room.
std::string getter(const std::string& head, const std::string& value) {
    const std::string start = "__device__ __forceinline__ " + head + "(const GemmArgs& args) {";
    const std::string line = fmt::format("{} return {}; }}", start, value);
    if (line.size() <= kTextColumns) return line + "\n";
    const std::string body = fmt::format("    return {};", value);
    if (body.size() <= kTextColumns) return fmt::format("{}\n{}\n}}\n", start, body);
    const std::size_t cut = value.rfind(" + ");
    return fmt::format("{}\n    return {} +\n           {};\n}}\n", start, value.substr(0, cut), value.substr(cut + 3));
}

/// How many parts there are.
std::string counts_text(const std::vector<KernelReduction>& all, const PartTile& tile) {
    const auto has = [&](auto is_it) { return std::ranges::any_of(all, is_it); };
    std::string text;
    if (has(&KernelReduction::over_rows)) text += getter("int row_parts", "(args.m + (kPartRows - 1)) / kPartRows");
    if (has(&KernelReduction::over_columns))
        text += getter("int column_parts", fmt::format("({} + (kPartColumns - 1)) / kPartColumns", columns_of(tile)));
    if (has(&KernelReduction::is_of_all))
        text += getter("long long all_parts", "static_cast<long long>(row_parts(args)) * column_parts(args)");
    return text;
}

/// Whether tiles make parts of its results. One over blocks of D has all of a block in a tile.
bool has_parts_of_tiles(const EpilogueOutput& output) { return output.reduction && !output.index.is_over_blocks(); }

/// Values that reductions go over, each once, by the name of its first reduction.
std::vector<std::string> stored_values(const std::vector<KernelReduction>& all) {
    std::vector<std::string> names;
    for (const KernelReduction& one : all)
        if (one.values_of == one.name) names.push_back(one.name);
    return names;
}

/// Where the parts of each reduction begin: one behind the other, each (parts, results).
std::string places_text(const std::vector<KernelReduction>& all, const PartTile& tile) {
    std::string text = "\n// Where each reduction's parts lie: (parts, results).\n";
    std::string begin = tile.is_of_stored_values
                            ? fmt::format("values_of_{}(args) + args.m * values_pitch(args)", stored_values(all).back())
                            : "args.reduction_parts";
    for (const KernelReduction& one : all) {
        text += getter("float* parts_of_" + one.name, begin);
        begin = fmt::format("parts_of_{}(args) + ", one.name) +
                (one.is_of_all() ? std::string(count_of(one))
                                 : fmt::format("static_cast<long long>({}) * {}", count_of(one), size_of(one, tile)));
    }
    return text;
}

std::string values_text(const std::vector<KernelReduction>& all, bool has_pairs) {
    std::string text =
        "\n// A reduction goes over values that the kernel leaves in the workspace, one for each element of D: f32, "
        "rows "
        "padded\n// to four.\n" +
        getter("int columns_of_d", has_pairs ? "args.n / 2" : "args.n") +
        getter("long long values_pitch", "(columns_of_d(args) + 3ll) / 4 * 4");
    std::string begin = "args.reduction_parts";
    for (const std::string& name : stored_values(all)) {
        text += getter("float* values_of_" + name, begin);
        begin = fmt::format("values_of_{}(args) + args.m * values_pitch(args)", name);
    }
    return text;
}

std::string workspace_text(const std::vector<KernelReduction>& all, const PartTile& tile, bool has_pairs) {
    std::string text = tile.is_of_stored_values ? values_text(all, has_pairs) : "";
    text += "\n// A reduction has parts in the workspace, each of some rows and columns of D.\n";
    if (tile.is_of_stored_values)
        text += constant_line("kPartWarps", kPartWarps, "warps of a block that makes parts of 32 rows and columns");
    text += constant_line("kFinishWarps", kFinishWarps, "warps of a block that combines parts");
    if (std::ranges::any_of(all, &KernelReduction::over_rows))
        text += constant_line("kPartRows", tile.rows, "rows of a part");
    if (std::ranges::any_of(all, &KernelReduction::over_columns))
        text += constant_line("kPartColumns", tile.columns, "columns of a part");
    return text + counts_text(all, tile) + places_text(all, tile);
}

/// "Over{448.0f}" of a result that is divided; "" where nothing is done.
std::string scale_of(const EpilogueReduction& made) {
    if (made.scaled_by == ' ') return {};
    return fmt::format("{}{{{}}}", made.scaled_by == '*' ? "Times" : "Over", cuda_number(made.number));
}

std::string finish_statement(const KernelReduction& one, const PartTile& tile) {
    const std::string function =
        fmt::format("finish_{}<{}>", one.is_of_all() ? "one" : "each", combiner_of(one.made.kind));
    std::vector<std::string> values{fmt::format("parts_of_{}(args)", one.name), std::string(count_of(one))};
    if (!one.is_of_all()) values.emplace_back(size_of(one, tile));
    if (const std::string scale = scale_of(one.made); !scale.empty()) values.push_back(scale);
    return call_statement(function, "args." + one.name, values);
}

/// "ValueTile<Sum>(args, values_of_r(args), row, column).reduce_rows(parts_of_r(args));"
std::string part_statement(const KernelReduction& one) {
    const std::string_view over = one.is_of_all() ? "all" : one.over_rows ? "rows" : "columns";
    return fmt::format("ValueTile<{}>(args, values_of_{}(args), row, column).reduce_{}(parts_of_{}(args));\n",
                       combiner_of(one.made.kind), one.values_of, over, one.name);
}

std::int64_t values_bytes(const Problem& problem) {
    const MatrixSize d = size_of_d(problem.row_major());
    const auto count = static_cast<std::int64_t>(stored_values(reductions_of(problem.signature, false)).size());
    return count * d.rows * round_up<std::int64_t>(d.columns, 4) * bytes(DataType::f32);
}

}  // namespace

int count_of_reductions(const GemmSignature& signature) {
    if (!signature.epilogue) return 0;
    return static_cast<int>(std::ranges::count_if(signature.epilogue->parts().outputs, has_parts_of_tiles));
}

std::vector<KernelReduction> reductions_of(const GemmSignature& signature, bool is_transposed) {
    std::vector<KernelReduction> all;
    std::vector<std::int32_t> nodes;  // of each: what it goes over
    if (!signature.epilogue) return all;
    for (const EpilogueOutput& output : signature.epilogue->parts().outputs) {
        if (!has_parts_of_tiles(output)) continue;
        const EpilogueIndex index = is_transposed ? transposed(output.index) : output.index;
        const auto first = static_cast<std::size_t>(std::ranges::find(nodes, output.value) - nodes.begin());
        const std::string values_of = first == nodes.size() ? output.name : all[first].name;
        nodes.push_back(output.value);
        all.push_back({output.name, values_of, *output.reduction, !index.row, !index.column});
    }
    return all;
}

std::string_view combiner_of(ReductionKind kind) {
    return kind == ReductionKind::sum ? "Sum" : kind == ReductionKind::max ? "Max" : "Min";
}

std::int64_t part_bytes(const Problem& problem, const PartTile& tile) {
    const MatrixSize d = size_of_d(problem.row_major());
    const std::int64_t rows = tile.is_transposed ? d.columns : d.rows;
    const std::int64_t columns = tile.is_transposed ? d.rows : d.columns;
    const std::int64_t row_parts = ceil_div<std::int64_t>(rows, tile.rows);
    const std::int64_t column_parts = ceil_div<std::int64_t>(columns, tile.columns);
    std::int64_t parts = 0;
    for (const KernelReduction& one : reductions_of(problem.signature, tile.is_transposed))
        parts += (one.over_rows ? row_parts : rows) * (one.over_columns ? column_parts : columns);
    return parts * bytes(DataType::f32) + (tile.is_of_stored_values ? values_bytes(problem) : 0);
}

double reduction_us(const Problem& problem, const PartTile& tile, const GpuModel& gpu) {
    const int entries = tile.is_of_stored_values ? 2 : 1;
    const auto moved = 2 * static_cast<double>(part_bytes(problem, tile));
    return entries * HardwareCosts::of(gpu)["reducing_entry_us"] + moved / gpu.dram_bytes_per_second * 1e6;
}

void add_reducing_entries(std::vector<KernelEntry>& entries, const PartTile& tile) {
    for (KernelEntry& entry : entries) entry.arguments.emplace_back(PointerArgument{ArgumentRole::reduction_parts});
    const auto add = [&](std::string_view function, int warps, const GridRule& grid) {
        KernelEntry entry;
        entry.function = function;
        entry.threads = warps * 32;
        entry.programmatic_launch = entries.front().programmatic_launch;
        entry.grid = grid;
        entry.arguments = entries.front().arguments;
        entries.push_back(std::move(entry));
    };
    if (tile.is_of_stored_values)
        add("gemm_make_parts", kPartWarps,
            {.tile_m = 32, .tile_n = kPartWarps * 32, .blocks = CappedBlocks{kPartBlocks}});
    add("gemm_finish_parts", kFinishWarps, {.tile_m = 32, .tile_n = 32, .blocks = CappedBlocks{kFinishBlocks}});
}

void add_reductions(RenderInput& input, const GemmSignature& signature, const PartTile& tile) {
    const std::vector<KernelReduction> all = reductions_of(signature, tile.is_transposed);
    const auto has = [&](auto is_it) { return std::ranges::any_of(all, is_it); };
    input.macros["GEMM_REDUCE_ROWS"] = has([](const auto& one) { return !one.over_columns; });
    input.macros["GEMM_REDUCE_COLUMNS"] = has([](const auto& one) { return !one.over_rows; });
    input.macros["GEMM_REDUCE_ALL"] = has(&KernelReduction::is_of_all);
    input.macros["GEMM_REDUCTION_TIMES"] = has([](const auto& one) { return one.made.scaled_by == '*'; });
    input.macros["GEMM_REDUCTION_OVER"] = has([](const auto& one) { return one.made.scaled_by == '/'; });
    input.generated["gemm_args.cuh"] += workspace_text(all, tile, has_pairs(signature));
    std::string& expression = input.generated["epilogue_expression.cuh"];
    for (const ReductionKind kind : kKinds)
        if (has([&](const KernelReduction& one) { return one.made.kind == kind; }))
            expression += fmt::format("#include \"reduction/{}.cuh\"\n", to_string(kind));
    std::string& finish = input.generated["GEMM_FINISH_PARTS"];
    for (const KernelReduction& one : all) finish += finish_statement(one, tile);
    if (tile.is_of_stored_values) {
        expression += "#include \"reduction/make_parts.cuh\"\n";
        std::string& make = input.generated["GEMM_MAKE_PARTS"];
        for (const KernelReduction& one : all) make += part_statement(one);
    }
    expression += "#include \"reduction/finish_parts.cuh\"\n";
}

}  // namespace jitgemm
