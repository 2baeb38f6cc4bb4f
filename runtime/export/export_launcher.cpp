#include "runtime/export/export_launcher.hpp"

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "runtime/device/entry_json.hpp"
#include "runtime/export/export_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace jitgemm {
namespace {

using Value = std::pair<std::string_view, std::string>;

// Replaces every @KEY@ by its value.
std::string filled(std::string_view text, std::initializer_list<Value> values) {
    std::string result(text);
    for (const auto& [key, value] : values) {
        const std::string token = fmt::format("@{}@", key);
        for (std::size_t at = result.find(token); at != std::string::npos; at = result.find(token, at + value.size())) {
            result.replace(at, token.size(), value);
        }
    }
    return result;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

// ---- operands as the caller sees them --------------------------------------------------------------------------------

struct OperandText {
    std::string_view name;  // field of the problem
    std::string_view rows;
    std::string_view columns;
    DataType type;
    Order order;
    int alignment;
    bool is_input_product;  // A or B: not read when alpha or k is 0
};

std::vector<OperandText> operands(const GemmSpec& spec) {
    std::vector<OperandText> list = {{"a", "m", "k", spec.a, order_a(spec.layout), spec.align_a, true},
                                     {"b", "k", "n", spec.b, order_b(spec.layout), spec.align_b, true}};
    if (spec.c) list.push_back({"c", "m", "n", *spec.c, spec.d_order, spec.align_c, false});
    list.push_back({"d", "m", "n", spec.d, spec.d_order, spec.align_d, false});
    return list;
}

std::string_view order_words(Order order) { return order == Order::row ? "row-major" : "column-major"; }

std::string operand_lines(const GemmSpec& spec) {
    std::string lines;
    for (const OperandText& operand : operands(spec)) {
        lines += fmt::format(" *     {} ({}, {})  {:<5} {}, pointer and {} ld{} aligned to {} bytes\n",
                             upper(std::string(operand.name)), operand.rows, operand.columns, to_string(operand.type),
                             order_words(operand.order), operand.order == Order::row ? "row pitch" : "column pitch",
                             operand.name, operand.alignment);
    }
    return lines;
}

std::string problem_fields(const LauncherInput& input) {
    std::string pointers;
    std::string pitches;
    for (const OperandText& operand : operands(input.spec)) {
        pointers += fmt::format("    CUdeviceptr {};\n", operand.name);
        pitches += fmt::format("{}ld{}", pitches.empty() ? "" : ", ", operand.name);
    }
    if (input.workspace_bytes != 0) {
        pointers += fmt::format("    CUdeviceptr workspace;    /* {} bytes, aligned to 16 */\n", input.workspace_bytes);
    }
    return pointers + "    int64_t m, n, k;\n    int64_t " + pitches + ";    /* in elements */\n    float alpha;\n" +
           (input.spec.c ? "    float beta;    /* 0: C is not read */\n" : "");
}

std::string exported_problem(const GemmSpec& spec) {
    std::string text =
        fmt::format("    problem.m = {};\n    problem.n = {};\n    problem.k = {};\n", spec.m, spec.n, spec.k);
    text += fmt::format("    problem.lda = {};\n    problem.ldb = {};\n", spec.lda, spec.ldb);
    if (spec.c) text += fmt::format("    problem.ldc = {};\n", spec.ldc);
    return text + fmt::format("    problem.ldd = {};\n    problem.alpha = 1;\n", spec.ldd);
}

// ---- checks ----------------------------------------------------------------------------------------------------------

std::string operand_check(const OperandText& operand) {
    const bool by_row = operand.order == Order::row;
    const std::string_view lines = by_row ? operand.rows : operand.columns;
    const std::string_view run = by_row ? operand.columns : operand.rows;
    std::string_view condition;
    if (operand.is_input_product) condition = "problem->alpha != 0 && problem->k != 0 && ";
    if (operand.name == "c") condition = "problem->beta != 0 && ";
    return fmt::format(
        "    if ({}!is_operand(problem->{}, problem->{}, problem->{}, problem->ld{}, {}, {})) return 0;\n", condition,
        operand.name, lines, run, operand.name, bytes(operand.type), operand.alignment);
}

/// Why the kernel is sure of its own m, n and k alone; empty where any will do. One that asks for no bounds reads beyond the
/// matrices of a problem that is not whole tiles; blocks reckon in 32 bits with the tiles of a raster group, which wide ones hold only
/// where the extents are not of the largest.
std::string_view own_shape_reason(const LauncherInput& input) {
    if (input.workspace_bytes != 0) return "its workspace is made for";
    const KernelConfig config = parse_kernel_name(input.source.name).config;
    const KernelAnatomy anatomy = family_of(config).anatomy(with_row_major_d(input.spec), config);
    return anatomy.needs_whole_tiles || anatomy.raster_group > kGroupOfAnyExtents ? "it was exported for" : "";
}

std::string shape_checks(const LauncherInput& input) {
    std::string checks;
    if (!own_shape_reason(input).empty()) {
        checks += fmt::format("    if (problem->m != {} || problem->n != {} || problem->k != {}) return 0;\n",
                              input.spec.m, input.spec.n, input.spec.k);
    }
    if (input.workspace_bytes != 0) {
        checks += "    if (problem->workspace == 0 || problem->workspace % 16 != 0) return 0;\n";
    }
    const auto is_narrow = [](const KernelArgument& argument) {
        return argument.role == ArgumentRole::m && argument.kind == ArgumentKind::i32;
    };
    const std::vector<KernelArgument>& arguments = input.source.entries.front().arguments;
    if (std::any_of(arguments.begin(), arguments.end(), is_narrow)) {
        checks += fmt::format("    if (problem->m > {0} || problem->n > {0} || problem->k > {0}) return 0;\n",
                              kLargestExtent);
    }
    return checks;
}

std::string checks(const LauncherInput& input) {
    std::string text = shape_checks(input);
    for (const OperandText& operand : operands(input.spec)) text += operand_check(operand);
    return text;
}

// ---- entries ---------------------------------------------------------------------------------------------------------

// The kernel computes the row-major D; of a column-major one it gets the transposed problem.
ArgumentRole as_caller_sees(ArgumentRole role, bool traded) {
    if (!traded) return role;
    switch (role) {
        case ArgumentRole::a: return ArgumentRole::b;
        case ArgumentRole::b: return ArgumentRole::a;
        case ArgumentRole::m: return ArgumentRole::n;
        case ArgumentRole::n: return ArgumentRole::m;
        case ArgumentRole::lda: return ArgumentRole::ldb;
        case ArgumentRole::ldb: return ArgumentRole::lda;
        default: return role;
    }
}

std::string_view c_type(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::pointer: return "CUdeviceptr";
        case ArgumentKind::i32: return "int32_t";
        case ArgumentKind::i64: return "int64_t";
        default: return "float";
    }
}

std::string value_of(const KernelArgument& argument, const LauncherInput& input) {
    const std::string_view field = to_string(as_caller_sees(argument.role, input.spec.d_order == Order::column));
    const bool has_field = (argument.role != ArgumentRole::c && argument.role != ArgumentRole::ldc &&
                            argument.role != ArgumentRole::beta) ||
                           input.spec.c.has_value();
    if (!has_field || (argument.role == ArgumentRole::workspace && input.workspace_bytes == 0)) return "0";
    const std::string value = fmt::format("problem->{}", field);
    if (argument.role == ArgumentRole::k)
        return fmt::format("problem->alpha == 0 ? 0 : ({}){}", c_type(argument.kind), value);
    return argument.kind == ArgumentKind::i32 ? fmt::format("(int32_t){}", value) : value;
}

std::string argument_fields(const KernelEntry& entry) {
    std::string text;
    for (const KernelArgument& argument : entry.arguments) {
        text += fmt::format("        {} {};\n", c_type(argument.kind), to_string(argument.role));
    }
    return text;
}

std::string assignments(const KernelEntry& entry, const LauncherInput& input) {
    std::string text;
    for (const KernelArgument& argument : entry.arguments) {
        text += fmt::format("    arguments.{} = {};\n", to_string(argument.role), value_of(argument, input));
    }
    return text;
}

bool is_portable(const std::array<int, 3>& cluster) {
    return cluster[0] * cluster[1] * cluster[2] <= kPortableClusterBlocks;
}

std::string call(const KernelEntry& entry) {
    const bool single = entry.cluster == std::array<int, 3>{1, 1, 1};
    return filled(single ? export_text::kPlainCall : export_text::kClusterCall,
                  {{"THREADS", std::to_string(entry.threads)},
                   {"SHARED_BYTES", std::to_string(entry.shared_bytes)},
                   {"CLUSTER_X", std::to_string(entry.cluster[0])},
                   {"CLUSTER_Y", std::to_string(entry.cluster[1])},
                   {"CLUSTER_Z", std::to_string(entry.cluster[2])}});
}

/// The grid rule in C, as block_count() has it.
std::string block_count_text(const GridRule& rule, bool traded) {
    const std::string_view m = traded ? "problem->n" : "problem->m";
    const std::string_view n = traded ? "problem->m" : "problem->n";
    const std::string_view rows = rule.matrix == GridMatrix::b ? n : m;
    const std::string_view columns = rule.matrix == GridMatrix::d ? n : "problem->k";
    const std::string text =
        fmt::format("tiles({}, {}) * tiles({}, {}) * {}", rows, rule.tile_m, columns, rule.tile_n, rule.splits);
    if (rule.wave > 0) return fmt::format("{0} + {0} % {1}", text, rule.wave);
    return rule.most > 0 ? fmt::format("{0} < {1} ? {0} : {1}", text, rule.most) : text;
}

std::string entry_function(const KernelEntry& entry, const LauncherInput& input) {
    const bool traded = input.spec.d_order == Order::column;
    return filled(export_text::kEntry, {{"FUNCTION", entry.function},
                                        {"NAME", input.name},
                                        {"BLOCKS", block_count_text(entry.grid, traded)},
                                        {"ARGUMENT_FIELDS", argument_fields(entry)},
                                        {"ASSIGNMENTS", assignments(entry, input)},
                                        {"CALL", call(entry)}});
}

struct EntriesText {
    std::string functions;
    std::string lookups;
    std::string launches;
};

EntriesText entries_text(const LauncherInput& input) {
    EntriesText text;
    for (std::size_t i = 0; i < input.source.entries.size(); ++i) {
        const KernelEntry& entry = input.source.entries[i];
        text.functions += entry_function(entry, input);
        text.lookups +=
            fmt::format("    if (result == CUDA_SUCCESS) result = get_function(kernel, {}, \"{}\", {}, {});\n", i,
                        entry.function, entry.shared_bytes, is_portable(entry.cluster) ? 0 : 1);
        text.launches +=
            fmt::format("    if (result == CUDA_SUCCESS) result = launch_{}(kernel->functions[{}], problem, stream);\n",
                        entry.function, i);
    }
    return text;
}

}  // namespace

std::string launcher_header(const LauncherInput& input) {
    const std::string_view reason = own_shape_reason(input);
    return filled(export_text::kHeader,
                  {{"OPERANDS", operand_lines(input.spec)},
                   {"FIELDS", problem_fields(input)},
                   {"BETA_C", input.spec.c ? " + beta * C (m, n)" : ""},
                   {"KERNEL", input.source.name},
                   {"ARCH", std::string(input.source.arch->name)},
                   {"SHAPES", reason.empty() ? "Any m, n, k and leading dimensions will do."
                                             : fmt::format("Only for the m, n and k {}.", reason)},
                   {"GUARD", upper(input.name) + "_H"},
                   {"FUNCTIONS", std::to_string(input.source.entries.size())},
                   {"NAME", input.name}});
}

std::string launcher_source(const LauncherInput& input) {
    const EntriesText entries = entries_text(input);
    return filled(export_text::kSource, {{"EXPORTED_PROBLEM", exported_problem(input.spec)},
                                         {"CHECKS", checks(input)},
                                         {"ENTRIES", entries.functions},
                                         {"GET_FUNCTIONS", entries.lookups},
                                         {"LAUNCHES", entries.launches},
                                         {"NAME", input.name}});
}

}  // namespace jitgemm
