#include "runtime/export/export_launcher.hpp"

#include "generator/base/launch_text.hpp"
#include "generator/families/family.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "runtime/export/export_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace jitgemm {

std::string filled(std::string_view text, std::initializer_list<TextValue> values) {
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

namespace {

// ---- operands as the caller sees them -------------------------------------------------------------------------------

std::string_view name_of(OperandIndex index) {
    constexpr std::array<std::string_view, 4> kNames{"1", "m", "n", "k"};
    return kNames.at(static_cast<std::size_t>(index));
}

/// The size that counts its lines, and the size that counts the elements of a line.
std::string_view lines_of(const GemmOperand& operand) {
    return name_of(operand.order == Order::row ? operand.row : operand.column);
}
std::string_view run_of(const GemmOperand& operand) {
    return name_of(operand.order == Order::row ? operand.column : operand.row);
}

std::string_view order_words(Order order) { return order == Order::row ? "row-major" : "column-major"; }

std::string operand_lines(const OperandList& operands) {
    std::string lines;
    for (const GemmOperand& operand : operands) {
        if (operand.is_repeated()) {
            lines += fmt::format(" *     {} ({})     {:<5} added to each {} of D, pointer aligned to {} bytes\n",
                                 upper(std::string(operand.name)), run_of(operand), to_string(operand.type),
                                 operand.order == Order::row ? "row" : "column", operand.alignment);
            continue;
        }
        lines += fmt::format(
            " *     {} ({}, {})  {:<5} {}, pointer and {} ld{} aligned to {} bytes\n", upper(std::string(operand.name)),
            name_of(operand.row), name_of(operand.column), to_string(operand.type), order_words(operand.order),
            operand.order == Order::row ? "row pitch" : "column pitch", operand.name, operand.alignment);
    }
    return lines;
}

bool begins_early(const LauncherInput& input) { return input.source.entries.front().programmatic_launch; }

/// Whether a launch says it; else each does, or none.
bool may_broadcast_c(const LauncherInput& input) { return input.problem.asked.c && !input.problem.asked.broadcast_c; }

std::string problem_fields(const LauncherInput& input) {
    std::string pitches;
    for (const GemmOperand& operand : input.operands)
        if (!operand.is_repeated()) pitches += fmt::format("{}ld{}", pitches.empty() ? "" : ", ", operand.name);
    return "    int64_t m, n, k;\n    int64_t " + pitches + ";    /* in elements */\n";
}

/// Of the launcher's own struct: what a problem and the arguments of a launch have.
std::string full_fields(const LauncherInput& input) {
    std::string pointers;
    for (const GemmOperand& operand : input.operands) pointers += fmt::format("    CUdeviceptr {};\n", operand.name);
    if (input.workspace.bytes != 0) pointers += "    CUdeviceptr workspace;\n";
    return pointers + problem_fields(input) + "    float alpha;\n" +
           (input.problem.asked.c ? "    float beta;\n" : "") +
           (may_broadcast_c(input) ? "    int broadcasts_c;\n" : "") +
           (begins_early(input) ? "    int begins_early;\n" : "");
}

std::string full_problem(const LauncherInput& input) {
    std::string text;
    if (!input.problem.asked.c)
        text += "    if (arguments->beta != 0) return CUDA_ERROR_INVALID_VALUE; /* there is no C */\n";
    if (input.workspace.bytes != 0) {
        text +=
            fmt::format("    if (arguments->workspace_bytes >= {}) full.workspace = address(arguments->workspace);\n",
                        input.workspace.bytes);
    }
    for (const GemmOperand& operand : input.operands) {
        text += fmt::format("    full.{0} = address(arguments->{0});\n", operand.name);
        if (!operand.is_repeated()) text += fmt::format("    full.ld{0} = problem->ld{0};\n", operand.name);
    }
    for (const std::string_view extent : {"m", "n", "k"}) text += fmt::format("    full.{0} = problem->{0};\n", extent);
    if (begins_early(input))
        text += "    full.begins_early = !has_dependent_launch(arguments) || arguments->dependent_launch != 1;\n";
    if (may_broadcast_c(input))
        text += "    full.broadcasts_c = has_broadcast_c(arguments) && arguments->broadcast_c != 0;\n";
    text += "    full.alpha = arguments->alpha;\n";
    return text + (input.problem.asked.c ? "    full.beta = arguments->beta;\n" : "");
}

std::string exported_problem(const LauncherInput& input) {
    const GemmSpec& spec = input.problem.asked;
    std::string text =
        fmt::format("    problem.m = {};\n    problem.n = {};\n    problem.k = {};\n", spec.m, spec.n, spec.k);
    for (const GemmOperand& operand : input.operands)
        if (!operand.is_repeated())
            text += fmt::format("    problem.ld{} = {};\n", operand.name, operand.leading_dimension());
    return text;
}

/// A sentence of the header: the JIT has a workspace of its own, a launcher has none.
std::string workspace_rule(const LauncherInput& input) {
    if (input.workspace.bytes == 0) return {};
    return fmt::format(" The kernel has no workspace of its own:\n * `arguments` brings {} bytes, aligned to 16.",
                       input.workspace.bytes);
}

// ---- checks ---------------------------------------------------------------------------------------------------------

std::string operand_check(const GemmOperand& operand) {
    const std::string pitch = operand.is_repeated() ? std::string(run_of(operand)) : fmt::format("ld{}", operand.name);
    const std::string lines = operand.is_repeated() ? "1" : fmt::format("problem->{}", lines_of(operand));
    std::string_view condition;
    if (operand.guard == OperandGuard::alpha) condition = "problem->alpha != 0 && problem->k != 0 && ";
    if (operand.guard == OperandGuard::beta) condition = "problem->beta != 0 && ";
    return fmt::format("    if ({}!is_operand(problem->{}, {}, problem->{}, problem->{}, {}, {})) return 0;\n",
                       condition, operand.name, lines, run_of(operand), pitch, bytes(operand.type), operand.alignment);
}

/// Why the kernel is sure of its own m, n and k alone; empty where any will do. One that asks for no bounds reads
/// beyond the matrices of a problem that is not whole tiles; blocks reckon in 32 bits with the tiles of a raster group,
/// which wide ones hold only where the extents are not of the largest.
std::string_view own_shape_reason(const LauncherInput& input) {
    if (input.workspace.bytes != 0) return "its workspace is made for";
    const KernelConfig& config = input.source.id.config;
    const KernelAnatomy anatomy = family_of(config).anatomy(input.problem, config);
    return anatomy.needs_whole_tiles || anatomy.raster_group > kGroupOfAnyExtents ? "it was exported for" : "";
}

/// The condition that m is none of the kernel's.
std::string other_rows(const LauncherInput& input) {
    if (input.first_m == input.last_m) return fmt::format("problem->m != {}", input.first_m);
    return fmt::format("problem->m < {} || problem->m > {}", input.first_m, input.last_m);
}

std::string shape_checks(const LauncherInput& input) {
    std::string checks;
    if (!own_shape_reason(input).empty()) {
        checks += fmt::format("    if ({} || problem->n != {} || problem->k != {}) return 0;\n", other_rows(input),
                              input.problem.asked.n, input.problem.asked.k);
    }
    if (input.workspace.bytes != 0) {
        checks += "    if (problem->workspace == 0 || problem->workspace % 16 != 0) return 0;\n";
    }
    const auto is_narrow = [](const KernelArgument& argument) {
        const auto* const extent = std::get_if<ExtentArgument>(&argument);
        return extent != nullptr && extent->role == ArgumentRole::m && extent->bytes == 4;
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
    for (const GemmOperand& operand : input.operands) text += operand_check(operand);
    return text;
}

// ---- entries --------------------------------------------------------------------------------------------------------

// The kernel computes the row-major D; of a column-major one it gets the transposed problem.
ArgumentRole as_caller_sees(ArgumentRole role, bool swapped) {
    if (!swapped || role.is_packed) return role;
    constexpr std::array<std::string_view, 4> kNames{"a", "b", "m", "n"}, kOthers{"b", "a", "n", "m"};
    const auto* const found = std::find(kNames.begin(), kNames.end(), role.name);
    if (found != kNames.end()) role.name = kOthers.at(static_cast<std::size_t>(found - kNames.begin()));
    return role;
}

/// Whether the caller's struct has a field for it. It has none for a missing operand, and no pitch for a repeated row.
bool is_field(const ArgumentRole& role, const LauncherInput& input) {
    if (role == ArgumentRole::workspace) return input.workspace.bytes != 0;
    if (role == ArgumentRole::beta) return input.problem.asked.c.has_value();
    if (role.part == ArgumentPart::value) return true;
    const GemmOperand* const operand = input.operands.find(role.name);
    return operand != nullptr && (role.part == ArgumentPart::pointer || !operand->is_repeated());
}

/// What the caller's problem calls an argument of the kernel; 0 where it has no such field.
std::string name_of(const ArgumentRole& role, const LauncherInput& input) {
    if (role == ArgumentRole::counters)
        return fmt::format("problem->workspace + {}", input.workspace.bytes - input.workspace.counters);
    if (!is_field(role, input)) return "0";
    return fmt::format("problem->{}", to_string(as_caller_sees(role, input.problem.transposed)));
}

// alpha = 0 passes k = 0, so that neither A nor B is read; of a C that is one row, the pitch is 0.
std::string value_of(const KernelArgument& argument, const LauncherInput& input) {
    const auto* const extent = std::get_if<ExtentArgument>(&argument);
    const std::string name = name_of(role_of(argument), input);
    const std::string_view cast = extent != nullptr && extent->bytes == 4 && name != "0" ? "(int32_t)" : "";
    std::string_view zero;
    if (role_of(argument) == ArgumentRole::k) zero = "problem->alpha == 0 ? 0 : ";
    if (role_of(argument) == ArgumentRole::ldc && name != "0") zero = "problem->broadcasts_c ? 0 : ";
    return fmt::format("{}{}{}", zero, cast, name);
}

/// What lies between fields is named, too: cuda.h aligns a CUtensorMap to 64 bytes only from C11 and C++11 on.
std::string argument_fields(const KernelEntry& entry) {
    const ArgumentLayout layout = argument_layout(entry.arguments);
    std::string text;
    std::size_t end = 0;
    const auto fill_up_to = [&](std::size_t offset) {
        if (offset > end) text += fmt::format("        unsigned char gap_{}[{}];\n", end, offset - end);
    };
    for (const ArgumentField& field : layout.fields) {
        fill_up_to(field.offset);
        text += fmt::format("        {} {};\n", field.c_type, field.name);
        end = field.offset + field.bytes;
    }
    fill_up_to(layout.bytes);
    return text;
}

std::string assignments(const KernelEntry& entry, const LauncherInput& input) {
    const auto value = [&](const KernelArgument& argument) { return value_of(argument, input); };
    const auto name = [&](ArgumentRole role) { return name_of(role, input); };
    const auto statement = [](const std::string& call) {
        return fmt::format("    result = {};\n    if (result != CUDA_SUCCESS) return result;\n", call);
    };
    return argument_assignments(entry, "arguments", value) +
           tensor_map_statements(entry, input.problem.row_major, "arguments", name, "problem->broadcasts_c", statement);
}

/// Of cuLaunchKernelEx, beside the grid: empty for a plain launch.
std::string launch_attributes(const KernelEntry& entry) {
    std::string text;
    int count = 0;
    if (cluster_blocks(entry.cluster) > 1) {
        text += fmt::format("    attributes[{}].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n", count);
        for (std::size_t axis = 0; axis < 3; ++axis)
            text += fmt::format("    attributes[{}].value.clusterDim.{} = {};\n", count, "xyz"[axis],
                                entry.cluster.at(axis));
        ++count;
    }
    if (entry.programmatic_launch) {
        text += fmt::format(
            "    attributes[{0}].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;\n"
            "    attributes[{0}].value.programmaticStreamSerializationAllowed = problem->begins_early;\n",
            count);
        ++count;
    }
    return count == 0 ? text : text + fmt::format("    config.numAttrs = {};\n", count);
}

std::string call(const KernelEntry& entry) {
    const std::string attributes = launch_attributes(entry);
    return filled(attributes.empty() ? export_text::kPlainCall : export_text::kCallWithAttributes,
                  {{"THREADS", std::to_string(entry.threads)},
                   {"SHARED_BYTES", std::to_string(entry.shared_bytes)},
                   {"ATTRIBUTES", attributes}});
}

std::string entry_function(const KernelEntry& entry, const LauncherInput& input) {
    const auto name = [&](ArgumentRole role) { return name_of(role, input); };
    return filled(export_text::kEntry,
                  {{"FUNCTION", entry.function},
                   {"NAME", input.name},
                   {"RESULT", has_tensor_maps(entry) ? "    CUresult result;\n" : ""},
                   {"BLOCKS", block_count_expression(entry.grid, name(ArgumentRole::m), name(ArgumentRole::n),
                                                     name(ArgumentRole::k))},
                   {"ARGUMENT_FIELDS", argument_fields(entry)},
                   {"ASSIGNMENTS", assignments(entry, input)},
                   {"CALL", call(entry)}});
}

/// Functions that not every launcher needs, which must not be there unused.
std::string helpers(const std::vector<KernelEntry>& entries) {
    const auto any = [&](auto&& has) { return std::any_of(entries.begin(), entries.end(), has); };
    const bool persistent = any([](const KernelEntry& entry) { return needs_sm_count(entry.grid); });
    const bool capped =
        any([](const KernelEntry& entry) { return std::holds_alternative<CappedBlocks>(entry.grid.blocks); });
    std::string text;
    if (persistent || capped) text += export_text::kLeast;
    if (persistent) text += export_text::kPersistent;
    return text + encode_tensor_map_texts(entries);
}

std::string zero_counters(const LauncherInput& input) {
    if (input.workspace.counters == 0) return {};
    return fmt::format("    result = cuMemsetD8Async({}, 0, {}, stream);\n", name_of(ArgumentRole::counters, input),
                       input.workspace.counters);
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
        text.lookups += fmt::format(
            "    if (result == CUDA_SUCCESS) result = get_function(kernel, {}, \"{}\", {}, {});\n", i, entry.function,
            entry.shared_bytes, cluster_blocks(entry.cluster) > kPortableClusterBlocks ? 1 : 0);
        text.launches +=
            fmt::format("    if (result == CUDA_SUCCESS) result = launch_{}(kernel->functions[{}], problem, stream);\n",
                        entry.function, i);
    }
    return text;
}

}  // namespace

std::string beta_c(const GemmSpec& spec) {
    if (!spec.c) return {};
    return spec.broadcast_c ? fmt::format(" + beta * C ({})", spec.d_order == Order::row ? "n" : "m")
                            : " + beta * C (m, n)";
}

std::string launcher_header(const LauncherInput& input) {
    const std::string_view reason = own_shape_reason(input);
    return filled(export_text::kHeader,
                  {{"ARGUMENTS", std::string(export_text::kArguments)},
                   {"WORKSPACE", workspace_rule(input)},
                   {"OPERANDS", operand_lines(input.operands)},
                   {"FIELDS", problem_fields(input)},
                   {"BETA_C", beta_c(input.problem.asked)},
                   {"KERNEL", input.source.name},
                   {"ARCH", std::string(input.source.arch->name)},
                   {"SHAPES", reason.empty() ? "Any m, n, k and leading dimensions will do."
                                             : fmt::format("Only for the m, n and k {}.", reason)},
                   {"GUARD", upper(input.name) + "_H"},
                   {"FUNCTIONS", std::to_string(input.source.entries.size())},
                   {"CUBIN", input.cubin},
                   {"NAME", input.name}});
}

std::string launcher_source(const LauncherInput& input) {
    const EntriesText entries = entries_text(input);
    return filled(export_text::kSource, {{"EXPORTED_PROBLEM", exported_problem(input)},
                                         {"FULL_FIELDS", full_fields(input)},
                                         {"FULL_PROBLEM", full_problem(input)},
                                         {"MOST_DEPENDENT", begins_early(input) ? "2" : "1"},
                                         {"MOST_BROADCAST_C", input.problem.asked.c ? "1" : "0"},
                                         {"CHECKS", checks(input)},
                                         {"ENTRIES", entries.functions},
                                         {"GET_FUNCTIONS", entries.lookups},
                                         {"HELPERS", helpers(input.source.entries)},
                                         {"LAUNCHES", zero_counters(input) + entries.launches},
                                         {"NAME", input.name}});
}

}  // namespace jitgemm
