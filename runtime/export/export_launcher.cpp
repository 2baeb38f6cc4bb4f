#include "runtime/export/export_launcher.hpp"

#include "generator/base/launch_text.hpp"
#include "generator/base/matrix_storage.hpp"
#include "generator/base/spread_blocks.hpp"
#include "generator/epilogue/names.hpp"
#include "generator/families/family.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "runtime/export/export_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

bool is_pitched_by_m(const GemmOperand& operand, const GemmSpec& spec) {
    const OperandIndex run = operand.order == Order::row ? operand.column : operand.row;
    return !operand.is_repeated() && run == OperandIndex::m && operand.leading_dimension() == spec.m;
}

namespace {

// ---- operands as the caller sees them -------------------------------------------------------------------------------

/// "m", "n / 2", "k/128". Those without blocks are expressions in C, too.
std::string words_of(OperandIndex index) {
    constexpr std::array<std::string_view, 11> kWords{"1",     "m",     "n",     "k",      "m / 2",      "n / 2",
                                                      "m/128", "n/128", "k/128", "groups", "source_rows"};
    return std::string(kWords.at(static_cast<std::size_t>(index)));
}

/// The same of a launcher's problem, in C.
std::string size_expression(OperandIndex index) {
    const auto blocks = [](char size) { return fmt::format("tiles(problem->{}, {})", size, kScaledBlock); };
    switch (index) {
        case OperandIndex::one: return "1";
        case OperandIndex::blocks_m: return blocks('m');
        case OperandIndex::blocks_n: return blocks('n');
        case OperandIndex::blocks_k: return blocks('k');
        default: return "problem->" + words_of(index);
    }
}

/// The size that counts its lines, and the size that counts the elements of a line.
OperandIndex lines_of(const GemmOperand& operand) { return operand.order == Order::row ? operand.row : operand.column; }
OperandIndex run_of(const GemmOperand& operand) { return operand.order == Order::row ? operand.column : operand.row; }

/// Groups of K are a batch that `groups` counts.
bool has_batch_field(const GemmSpec& spec) { return is_batched(spec) && !has_groups(spec); }

/// A size that a launch gives, as the C text and the spec have it.
struct LaunchSize {
    std::string_view name;
    std::int64_t value;
};
std::vector<LaunchSize> launch_sizes(const GemmSpec& spec) {
    std::vector<LaunchSize> sizes{{"m", spec.m}, {"n", spec.n}, {"k", spec.k}};
    if (has_batch_field(spec)) sizes.push_back({"batch", spec.batch});
    if (is_nested(spec)) sizes.push_back({"batch_inner", spec.outer->inner});
    if (has_groups(spec)) sizes.push_back({"groups", spec.groups});
    if (is_grouped(spec)) sizes.push_back({"group_rows", spec.group_rows});
    if (is_gathered(spec)) sizes.push_back({"source_rows", spec.source_rows});
    return sizes;
}
/// The number of them that may have a matrix each.
std::string_view problems_name(const GemmSpec& spec) { return has_groups(spec) ? "groups" : "batch"; }

std::string_view order_words(Order order) { return order == Order::row ? "row-major" : "column-major"; }

std::string pitch_name(const GemmOperand& operand) { return to_string({operand.name, ArgumentPart::pitch}); }
std::string stride_name(const GemmOperand& operand) { return to_string({operand.name, ArgumentPart::batch_stride}); }

/// Whether a launch says where the problems' matrices begin.
bool has_stride(const GemmOperand& operand, const GemmSpec& spec) {
    if (is_grouped_by_k(spec) && operand.is_factor()) return false;  // groups have parts of one matrix
    const bool is_of_problem = operand.batch_stride_field != nullptr || operand.is_of_group;
    return is_of_problem && has_batch_stride(operand.is_of_group, spec);
}

/// A stride between the matrices of problems, and how many problems it steps over.
struct ProblemStride {
    std::string name;
    std::int64_t value;
    std::string count;  ///< an expression
};
std::vector<ProblemStride> strides_of(const GemmOperand& operand, const GemmSpec& spec) {
    if (!has_stride(operand, spec)) return {};
    const std::string outer = to_string({operand.name, ArgumentPart::outer_stride});
    if (!is_nested(spec))
        return {{stride_name(operand), operand.batch_stride, fmt::format("problem->{}", problems_name(spec))}};
    return {{stride_name(operand), operand.batch_stride, "problem->batch_inner"},
            {outer, operand.outer_stride, "(problem->batch / problem->batch_inner)"}};
}

bool begins_early(const LauncherInput& input) { return input.source.entries.front().programmatic_launch; }

/// Whether a launch says it; else each does, or none.
bool may_broadcast_c(const LauncherInput& input) { return input.problem.asked.c && !input.problem.asked.broadcast_c; }

/// The meaning of the problem's text; null without one.
const EpilogueParts* text_of(const LauncherInput& input) { return parts_of(input.problem.asked); }

/// A value of the text that each launch gives, beside alpha and beta.
bool is_given_scalar(const EpilogueOperand& operand) { return operand.is_scalar && !is_launch_scalar(operand.name); }

std::vector<std::string_view> given_scalars(const LauncherInput& input) {
    std::vector<std::string_view> names;
    if (const EpilogueParts* const text = text_of(input))
        for (const EpilogueOperand& operand : text->operands)
            if (is_given_scalar(operand)) names.emplace_back(operand.name);
    return names;
}

bool has_scalar(const LauncherInput& input, std::string_view name) {
    const EpilogueParts* const text = text_of(input);
    return text != nullptr && std::ranges::find(text->operands, name, &EpilogueOperand::name) != text->operands.end();
}
bool has_beta(const LauncherInput& input) { return input.problem.asked.c.has_value() || has_scalar(input, "beta"); }

/// Operands of the text lie in a struct of their own, so that no name of theirs is one of the launcher's.
bool is_of_text(const GemmOperand& operand) { return operand.pointer == nullptr; }
std::string field_of(const GemmOperand& operand) {
    return fmt::format("{}{}", is_of_text(operand) ? "text." : "", operand.name);
}

/// "A (m, k)", "bias (n)", "B (batch, k, n)".
std::string with_shape(const GemmOperand& operand, const GemmSpec& spec) {
    std::string sizes;
    const auto add = [&](std::string_view size) { sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size); };
    if (has_stride(operand, spec)) add(problems_name(spec));
    for (const OperandIndex index : {operand.row, operand.column})
        if (index != OperandIndex::one) add(words_of(index));
    const std::string name(operand.name);
    return fmt::format("{} ({})", name.size() == 1 ? upper(name) : name, sizes.empty() ? "1" : sizes);
}

/// How the elements of an operand lie.
std::string place_words(const GemmOperand& operand, const GemmSpec& spec) {
    const bool by_row = operand.order == Order::row;
    if (!operand.is_repeated())
        return fmt::format("{}, pointer and {} {} aligned to {} bytes", order_words(operand.order),
                           by_row ? "row pitch" : "column pitch", pitch_name(operand), operand.alignment);
    const bool is_bias = spec.c && operand.pointer == &GemmArguments::c;
    return fmt::format("{}pointer aligned to {} bytes",
                       is_bias ? fmt::format("added to each {} of D, ", by_row ? "row" : "column") : "",
                       operand.alignment);
}

/// A line for each operand: its name and shape, its type, and its place.
std::string operand_lines(const LauncherInput& input) {
    const GemmSpec& spec = input.problem.asked;
    struct Line {
        std::string name;
        DataType type;
        std::string place;
    };
    std::vector<Line> operands;
    for (const GemmOperand& operand : input.operands)
        operands.push_back({with_shape(operand, spec), operand.type, place_words(operand, spec)});
    for (const std::string_view name : given_scalars(input))
        operands.push_back({std::string(name), DataType::f32, "a value of each launch"});
    std::size_t width = 0;
    for (const Line& line : operands) width = std::max(width, line.name.size());
    std::string text;
    for (const auto& [name, type, place] : operands)
        text += fmt::format(" *     {:<{}}  {:<5} {}\n", name, width, to_string(type), place);
    return text;
}

std::string integer_fields(const std::vector<std::string>& names, std::string_view comment) {
    return names.empty() ? "" : fmt::format("    int64_t {};    /* {} */\n", fmt::join(names, ", "), comment);
}

std::string problem_fields(const LauncherInput& input) {
    const GemmSpec& spec = input.problem.asked;
    std::vector<std::string> pitches, strides;
    for (const GemmOperand& operand : input.operands) {
        if (!operand.is_repeated()) pitches.push_back(pitch_name(operand));
        for (const ProblemStride& stride : strides_of(operand, spec)) strides.push_back(stride.name);
    }
    std::string text = "    int64_t m, n, k;\n" + integer_fields(pitches, "in elements");
    if (has_batch_field(spec)) text += integer_fields({"batch"}, "problems");
    if (is_nested(spec)) text += integer_fields({"batch_inner"}, "problems that batch strides step over");
    if (is_grouped(spec)) text += integer_fields({"groups", "group_rows"}, "group_rows 0: offsets are ends");
    if (is_grouped_by_k(spec)) text += integer_fields({"groups"}, "of K");
    if (is_gathered(spec)) text += integer_fields({"source_rows"}, "of A");
    return text + integer_fields(strides, "in elements; 0: all have one matrix");
}

/// Of the launcher's own struct: what a problem and the arguments of a launch have.
std::string full_fields(const LauncherInput& input) {
    std::string pointers, of_text;
    for (const GemmOperand& operand : input.operands) {
        if (is_of_text(operand))
            of_text += fmt::format("        CUdeviceptr {};\n", operand.name);
        else
            pointers += fmt::format("    CUdeviceptr {};\n", operand.name);
    }
    for (const std::string_view name : given_scalars(input)) of_text += fmt::format("        float {};\n", name);
    if (!of_text.empty()) pointers += "    struct {\n" + of_text + "    } text;\n";
    if (input.workspace.bytes != 0) pointers += "    CUdeviceptr workspace;\n";
    return pointers + problem_fields(input) + "    float alpha;\n" + (has_beta(input) ? "    float beta;\n" : "") +
           (may_broadcast_c(input) ? "    int broadcasts_c;\n" : "") +
           (begins_early(input) ? "    int begins_early;\n" : "");
}

bool has_operands_of_text(const LauncherInput& input) { return std::ranges::any_of(input.operands, is_of_text); }
bool looks_names_up(const LauncherInput& input) { return has_operands_of_text(input) || !given_scalars(input).empty(); }

/// The functions that look names up.
std::string lookup(const LauncherInput& input) {
    if (!looks_names_up(input)) return {};
    return std::string(export_text::kFindOperand) +
           std::string(has_operands_of_text(input) ? export_text::kAddressOf : "") +
           std::string(given_scalars(input).empty() ? "" : export_text::kGetValue);
}

/// Functions that look for members of jg_arguments.
std::string has_members(const LauncherInput& input) {
    std::string text;
    for (const GemmOperand& operand : input.operands)
        if (operand.has_row_numbers()) text += filled(export_text::kHasMember, {{"MEMBER", std::string(operand.name)}});
    return text;
}

/// Statements that look up the operands of a text. Each of its names is given once, and no other.
std::string full_text(const LauncherInput& input) {
    if (!looks_names_up(input)) return {};
    std::string lookups = "    given = 0;\n";
    for (const GemmOperand& operand : input.operands)
        if (is_of_text(operand))
            lookups += fmt::format("    full.text.{0} = address_of(arguments, \"{0}\", &given);\n", operand.name);
    for (const std::string_view name : given_scalars(input))
        lookups += fmt::format(
            "    if (!get_value(arguments, \"{0}\", &full.text.{0}, &given)) return CUDA_ERROR_INVALID_VALUE;\n", name);
    return lookups +
           "    if (has_operands(arguments) && given != arguments->operand_count) return "
           "CUDA_ERROR_INVALID_VALUE;\n";
}

std::string full_problem(const LauncherInput& input) {
    const GemmSpec& spec = input.problem.asked;
    const auto refuse_but = [](std::string_view scalar, int value, std::string_view missing) {
        return fmt::format("    if (arguments->{} != {}) return CUDA_ERROR_INVALID_VALUE; /* there is no {} */\n",
                           scalar, value, missing);
    };
    std::string text;
    if (!has_beta(input)) text += refuse_but("beta", 0, text_of(input) == nullptr ? "C" : "beta");
    if (text_of(input) != nullptr && !has_scalar(input, "alpha")) text += refuse_but("alpha", 1, "alpha");
    if (input.workspace.bytes != 0) {
        text +=
            fmt::format("    if (arguments->workspace_bytes >= {}) full.workspace = address(arguments->workspace);\n",
                        input.workspace.bytes);
    }
    const auto take = [&](std::string_view name) { text += fmt::format("    full.{0} = problem->{0};\n", name); };
    for (const GemmOperand& operand : input.operands) {
        if (operand.has_row_numbers())
            text += fmt::format("    if (has_{0}(arguments)) full.{0} = address(arguments->{0});\n", operand.name);
        else if (!is_of_text(operand))
            text += fmt::format("    full.{0} = address(arguments->{0});\n", operand.name);
        if (!operand.is_repeated()) take(pitch_name(operand));
        for (const ProblemStride& stride : strides_of(operand, spec)) take(stride.name);
    }
    for (const LaunchSize& size : launch_sizes(spec)) take(size.name);
    if (begins_early(input))
        text += "    full.begins_early = !has_dependent_launch(arguments) || arguments->dependent_launch != 1;\n";
    if (may_broadcast_c(input))
        text += "    full.broadcasts_c = has_broadcast_c(arguments) && arguments->broadcast_c != 0;\n";
    text += "    full.alpha = arguments->alpha;\n";
    return text + (has_beta(input) ? "    full.beta = arguments->beta;\n" : "") + full_text(input);
}

std::string exported_problem(const LauncherInput& input) {
    const GemmSpec& spec = input.problem.asked;
    std::string text;
    const auto set = [&](std::string_view name, std::int64_t value) {
        text += fmt::format("    problem.{} = {};\n", name, value);
    };
    for (const auto& [name, value] : launch_sizes(spec)) set(name, value);
    for (const GemmOperand& operand : input.operands) {
        if (!operand.is_repeated()) set(pitch_name(operand), operand.leading_dimension());
        for (const ProblemStride& stride : strides_of(operand, spec)) set(stride.name, stride.value);
    }
    return text;
}

/// A sentence of the header: the JIT has a workspace of its own, a launcher has none.
std::string workspace_rule(const LauncherInput& input) {
    if (input.workspace.bytes == 0) return {};
    return fmt::format(" The kernel has no workspace of its own:\n * `arguments` brings {} bytes, aligned to 16.",
                       input.workspace.bytes);
}

// ---- arguments of the kernel ----------------------------------------------------------------------------------------

// The kernel computes the row-major D; of a column-major one it gets the transposed problem.
ArgumentRole as_caller_sees(ArgumentRole role, bool swapped) {
    if (!swapped || role.is_packed) return role;
    constexpr std::array<std::string_view, 6> kNames{"a", "b", "m", "n", "m_blocks", "n_blocks"},
        kOthers{"b", "a", "n", "m", "n_blocks", "m_blocks"};
    const auto* const found = std::find(kNames.begin(), kNames.end(), role.name);
    if (found != kNames.end()) role.name = kOthers.at(static_cast<std::size_t>(found - kNames.begin()));
    return role;
}

/// m, n, k, a size made of them, or a scalar. 0 where there is none.
std::string value_name(ArgumentRole role, const LauncherInput& input) {
    if (role == ArgumentRole::h)
        return size_expression(input.problem.transposed ? OperandIndex::half_m : OperandIndex::half_n);
    role = as_caller_sees(role, input.problem.transposed);
    for (const OperandIndex index : {OperandIndex::blocks_m, OperandIndex::blocks_n, OperandIndex::blocks_k})
        if (role == size_role(index)) return size_expression(index);
    if (role == ArgumentRole::beta && !has_beta(input)) return "0";
    if (role == ArgumentRole::batch) return fmt::format("problem->{}", problems_name(input.problem.asked));
    const std::vector<std::string_view> scalars = given_scalars(input);
    const bool is_given = std::ranges::find(scalars, role.name) != scalars.end();
    return fmt::format("problem->{}{}", is_given ? "text." : "", role.name);
}

/// The field of the caller's problem for an argument of the kernel. It is 0 for a missing operand and for the pitch of
/// a repeated row, which have no field. The numbers of a copy in the workspace are those of the exported problem.
std::string name_of(const ArgumentRole& role, const LauncherInput& input) {
    const auto in_workspace = [](std::size_t offset) { return fmt::format("problem->workspace + {}", offset); };
    if (role == ArgumentRole::counters) return in_workspace(input.workspace.bytes - input.workspace.counters);
    if (role == ArgumentRole::reduction_parts) return in_workspace(input.workspace.reduction_parts);
    if (role == ArgumentRole::workspace) return input.workspace.bytes != 0 ? "problem->workspace" : "0";
    if (role.part == ArgumentPart::value) return value_name(role, input);
    const bool is_count = role.part == ArgumentPart::matrices || role.part == ArgumentPart::outer_matrices;
    const bool is_stride = role.part == ArgumentPart::batch_stride || role.part == ArgumentPart::outer_stride;
    if ((is_count || is_stride) && (role.is_packed || role.name == ArgumentRole::workspace.name))
        return std::to_string(extent(role, input.problem));
    const std::string_view seen = as_caller_sees(role, input.problem.transposed).name;
    const bool is_a = input.problem.asked.symmetric && seen == ArgumentRole::b.name;  // B is A transposed
    const GemmOperand* const operand = input.operands.find(is_a ? ArgumentRole::a.name : seen);
    if (operand == nullptr) return "0";
    if (role.part == ArgumentPart::pointer) return "problem->" + field_of(*operand);
    if (role.part == ArgumentPart::pitch) return operand->is_repeated() ? "0" : "problem->" + pitch_name(*operand);
    const std::vector<ProblemStride> strides = strides_of(*operand, input.problem.asked);
    if (strides.empty()) return is_stride ? "0" : "1";
    const bool is_outer = role.part == ArgumentPart::outer_matrices || role.part == ArgumentPart::outer_stride;
    const ProblemStride& stride = is_outer ? strides.back() : strides.front();
    return is_stride ? "problem->" + stride.name
                     : fmt::format("(problem->{} == 0 ? 1 : {})", stride.name, stride.count);
}

RoleName name_in(const LauncherInput& input) {
    return [&input](const ArgumentRole& role) { return name_of(role, input); };
}

// ---- checks ---------------------------------------------------------------------------------------------------------

/// "if (problem->alpha != 0 && problem->k != 0 && !is_operand(...)) return 0;"
std::string operand_check(const GemmOperand& operand, const LauncherInput& input) {
    std::string condition;
    for (const std::string& guard : guards_text(operand, name_in(input))) condition += guard + " != 0 && ";
    const auto refuse_unless = [&](std::string_view call) {
        return fmt::format("    if ({}!{}) return 0;\n", condition, call);
    };
    const std::string run = size_expression(run_of(operand));
    const std::string lines = operand.is_repeated() ? "1" : size_expression(lines_of(operand));
    const std::string pitch = operand.is_repeated() ? run : "problem->" + pitch_name(operand);
    std::string text = refuse_unless(fmt::format("is_operand(problem->{}, {}, {}, {}, {}, {})", field_of(operand),
                                                 lines, run, pitch, bytes(operand.type), operand.alignment));
    const GemmSpec& spec = input.problem.asked;
    for (const ProblemStride& stride : strides_of(operand, spec))
        text += refuse_unless(fmt::format("is_stride({}, problem->{}, {}, {}, {})", stride.count, stride.name,
                                          bytes(operand.type), operand.alignment, operand.is_written ? 1 : 0));
    return text;
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
        if (has_batch_field(input.problem.asked) && input.workspace.bytes != 0)
            checks += fmt::format("    if (problem->batch != {}) return 0;\n", input.problem.asked.batch);
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
        if (has_batch_field(input.problem.asked))
            checks += fmt::format("    if (problem->batch > {}) return 0;\n", kLargestExtent);
    }
    if (is_nested(input.problem.asked))
        checks += "    if (problem->batch_inner < 1 || problem->batch % problem->batch_inner != 0) return 0;\n";
    if (has_groups(input.problem.asked))
        checks += fmt::format("    if (problem->groups < 1 || problem->groups > {}) return 0;\n", kMostGroups);
    if (is_grouped(input.problem.asked))
        checks +=
            "    if (problem->group_rows < 0) return 0;\n"
            "    if (problem->group_rows != 0 && problem->m != problem->groups * problem->group_rows) return 0;\n";
    if (is_gathered(input.problem.asked))
        checks +=
            fmt::format("    if (problem->source_rows < 1 || problem->source_rows > {}) return 0;\n", kLargestExtent);
    return checks;
}

bool has_strides(const LauncherInput& input) {
    return std::ranges::any_of(input.operands,
                               [&](const GemmOperand& operand) { return has_stride(operand, input.problem.asked); });
}

std::string checks(const LauncherInput& input) {
    std::string text = shape_checks(input);
    for (const GemmOperand& operand : input.operands) text += operand_check(operand, input);
    return text;
}

// ---- entries --------------------------------------------------------------------------------------------------------

// alpha = 0 passes k = 0, so that neither A nor B is read; of a C that is one row, the pitch is 0.
std::string value_of(const KernelArgument& argument, const LauncherInput& input) {
    const auto* const extent = std::get_if<ExtentArgument>(&argument);
    const std::string name = name_of(role_of(argument), input);
    const bool is_narrow = extent != nullptr && extent->bytes == 4 && name != "0";
    std::string zero;
    if (role_of(argument) == ArgumentRole::k)
        for (const std::string& guard : guards_text(*input.operands.find("a"), name_in(input)))
            if (guard != name) zero += guard + " == 0 ? 0 : ";
    if (role_of(argument) == ArgumentRole::ldc && name != "0") zero = "problem->broadcasts_c ? 0 : ";
    if (!is_narrow) return zero + name;
    return zero + fmt::format(fmt::runtime(name.find(' ') == name.npos ? "(int32_t){}" : "(int32_t)({})"), name);
}

/// Padding between fields is named, too: cuda.h aligns a CUtensorMap to 64 bytes only from C11 and C++11 on.
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
    const RoleName name = name_in(input);
    const auto statement = [](const std::string& call) {
        return fmt::format("    result = {};\n    if (result != CUDA_SUCCESS) return result;\n", call);
    };
    return argument_assignments(entry, "arguments", value) + tensor_map_statements(entry, input.problem.row_major(),
                                                                                   "arguments", name,
                                                                                   "problem->broadcasts_c", statement);
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

/// `problems`: their number, in C.
std::string shared_bytes(const KernelEntry& entry, const std::string& problems) {
    if (!is_spread(entry)) return std::to_string(entry.shared_bytes);
    const bool own_blocks = entry.grid.batch == GridBatch::blocks;
    return fmt::format("problem->begins_early ? spread(blocks{}, {}, {}, {}) : {}", own_blocks ? " * " + problems : "",
                       cluster_blocks(entry.cluster), most_spread_blocks(entry), entry.shared_bytes,
                       entry.shared_bytes);
}

std::string call(const KernelEntry& entry, const std::string& problems) {
    const std::string attributes = launch_attributes(entry);
    const bool own_blocks = entry.grid.batch == GridBatch::blocks;
    return filled(attributes.empty() ? export_text::kPlainCall : export_text::kCallWithAttributes,
                  {{"GRID_Y", own_blocks ? fmt::format("(unsigned)least({}, {})", problems, kMostAlongY) : "1"},
                   {"GRID_Z", own_blocks ? fmt::format("(unsigned)tiles({}, {})", problems, kMostAlongY) : "1"},
                   {"THREADS", std::to_string(entry.threads)},
                   {"SHARED_BYTES", shared_bytes(entry, problems)},
                   {"ATTRIBUTES", attributes}});
}

/// As block_count() counts.
SizeExpressions grid_sizes(const GridRule& grid, const LauncherInput& input) {
    SizeExpressions sizes{name_of(ArgumentRole::m, input), name_of(ArgumentRole::n, input),
                          name_of(ArgumentRole::k, input)};
    const GemmSpec& spec = input.problem.asked;
    if (is_batched(spec)) sizes.problems = name_of(ArgumentRole::batch, input);
    if (is_grouped(spec) && grid.batch == GridBatch::tiles)
        sizes.m = fmt::format("({0} + least(problem->groups, {0}) * {1})", sizes.m, grid.tile_m - 1);
    if (grid.batch == GridBatch::groups)
        sizes.m = fmt::format("({0} / {1} + problem->groups) * {1}", sizes.m, grid.tile_m);
    return sizes;
}

std::string entry_function(const KernelEntry& entry, const LauncherInput& input) {
    return filled(export_text::kEntry, {{"FUNCTION", entry.function},
                                        {"NAME", input.name},
                                        {"RESULT", has_tensor_maps(entry) ? "    CUresult result;\n" : ""},
                                        {"BLOCKS", block_count_expression(entry.grid, grid_sizes(entry.grid, input))},
                                        {"ARGUMENT_FIELDS", argument_fields(entry)},
                                        {"ASSIGNMENTS", assignments(entry, input)},
                                        {"CALL", call(entry, name_of(ArgumentRole::batch, input))}});
}

/// " + beta * C (m, n)" where the problem has a C.
std::string beta_c(const GemmSpec& spec) {
    if (!spec.c) return {};
    return spec.broadcast_c ? fmt::format(" + beta * C ({})", spec.d_order == Order::row ? "n" : "m")
                            : " + beta * C (m, n)";
}

/// Functions that not every launcher needs, which must not be there unused.
std::string helpers(const std::vector<KernelEntry>& entries, const Arch& arch) {
    const auto any = [&](auto&& has) { return std::any_of(entries.begin(), entries.end(), has); };
    const bool persistent = any([](const KernelEntry& entry) { return needs_sm_count(entry.grid); });
    const bool capped =
        any([](const KernelEntry& entry) { return std::holds_alternative<CappedBlocks>(entry.grid.blocks); });
    const bool own_blocks = any([](const KernelEntry& entry) { return entry.grid.batch == GridBatch::blocks; });
    std::string text;
    if (persistent || capped || own_blocks) text += export_text::kLeast;
    if (persistent) text += export_text::kGreatest;
    if (persistent || any(is_spread)) text += export_text::kSmCount;
    if (any(is_spread))
        text += filled(export_text::kSpread, {{"SM_BYTES", std::to_string(arch.shared_bytes_per_sm)},
                                              {"RESERVED", std::to_string(arch.shared_reserved_per_block)}});
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
        text.lookups +=
            fmt::format("    if (result == CUDA_SUCCESS) result = get_function(kernel, {}, \"{}\", {}, {});\n", i,
                        entry.function, most_shared_bytes(entry, *input.source.arch),
                        cluster_blocks(entry.cluster) > kPortableClusterBlocks ? 1 : 0);
        text.launches +=
            fmt::format("    if (result == CUDA_SUCCESS) result = launch_{}(kernel->functions[{}], problem, stream);\n",
                        entry.function, i);
    }
    return text;
}

}  // namespace

std::string formula(const GemmSpec& spec) {
    if (spec.epilogue.empty()) return fmt::format("D (m, n) = alpha * A (m, k) * B (k, n){}", beta_c(spec));
    return fmt::format("acc (m, n) = A (m, k) * B (k, n),\n *     {}", spec.epilogue.text());
}

std::string launcher_header(const LauncherInput& input) {
    const std::string_view reason = own_shape_reason(input);
    return filled(export_text::kHeader,
                  {{"ARGUMENTS", std::string(export_text::kArguments)},
                   {"WORKSPACE", workspace_rule(input)},
                   {"OPERANDS", operand_lines(input)},
                   {"FIELDS", problem_fields(input)},
                   {"FORMULA", formula(input.problem.asked)},
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
    const bool batched = has_batch_field(input.problem.asked);
    const std::string most_operands = std::to_string(OperandArguments::kMost);
    return filled(export_text::kSource, {{"EXPORTED_PROBLEM", exported_problem(input)},
                                         {"FULL_FIELDS", full_fields(input)},
                                         {"FULL_PROBLEM", full_problem(input)},
                                         {"MOST_DEPENDENT", begins_early(input) ? "2" : "1"},
                                         {"MOST_BROADCAST_C", input.problem.asked.c ? "1" : "0"},
                                         {"LOOKUP", lookup(input)},
                                         {"GIVEN", looks_names_up(input) ? "\n    size_t given;" : ""},
                                         {"MOST_OPERANDS", looks_names_up(input) ? most_operands : "0"},
                                         {"HAS_MEMBERS", has_members(input)},
                                         {"IS_STRIDE", std::string(has_strides(input) ? export_text::kIsStride : "")},
                                         {"IS_NEGATIVE", batched ? " || problem->batch < 0" : ""},
                                         {"IS_EMPTY", batched ? " || problem->batch == 0" : ""},
                                         {"CHECKS", checks(input)},
                                         {"ENTRIES", entries.functions},
                                         {"GET_FUNCTIONS", entries.lookups},
                                         {"HELPERS", helpers(input.source.entries, *input.source.arch)},
                                         {"LAUNCHES", zero_counters(input) + entries.launches},
                                         {"NAME", input.name}});
}

}  // namespace jitgemm
