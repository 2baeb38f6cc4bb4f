#include "generator/families/shared/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

namespace jitgemm {
namespace {

using Role = ArgumentRole;

constexpr std::array<std::string_view, 4> kMatrices{"a", "b", "c", "d"};

bool is_matrix(std::string_view name) { return std::ranges::find(kMatrices, name) != kMatrices.end(); }

/// Whether a launch passes an array of addresses. A text's c has strides.
bool has_addresses(std::string_view name, const GemmSignature& signature) {
    return signature.pointers && is_matrix(name) && (name != "c" || !signature.epilogue);
}

/// Whether the problems of a batch may have matrices of their own: those of a text have, where its index names b.
/// Groups of rows have nothing but B, and groups of K share A and B. Addresses replace the strides of A, B, C and D.
bool has_stride(std::string_view name, const GemmSignature& signature) {
    if (has_addresses(name, signature)) return false;
    if (signature.grouped && (name == "a" || name == "c" || name == "d")) return false;
    if (signature.grouped_by_k && (name == "a" || name == "b")) return false;
    if (!signature.epilogue) return is_matrix(name);
    const EpilogueParts& parts = signature.epilogue->parts();
    for (const EpilogueOperand& operand : parts.operands)
        if (operand.name == name) return operand.index.of_problem;
    for (const EpilogueOutput& output : parts.outputs)
        if (output.name == name && is_beside_d(output)) return output.index.of_problem;
    return name == "a" || name == "b" || name == "d";
}

bool has(std::span<const KernelArgument> arguments, const Role& role) {
    return std::ranges::find(arguments, role, role_of) != arguments.end();
}

/// The launch need not pass an array that it doesn't read. Where it doesn't read A and B, it passes k = 0.
std::string_view condition_of(std::string_view name) {
    if (name == "d") return "";
    return name == "c" ? "if (args.beta != 0.0F) " : "if (args.k != 0) ";
}

/// "args.map_a.problem = args.batch_stride_a == 0 ? 0 : problem;". The map of operands that problems may share has one
/// matrix or all.
std::string map_move(std::string_view field, const Role& stride, std::string_view member, std::string_view place,
                     bool may_be_shared) {
    return may_be_shared
               ? fmt::format("    args.{0}.{1} = args.{2} == 0 ? 0 : {3};\n", field, member, to_string(stride), place)
               : fmt::format("    args.{}.{} = {};\n", field, member, place);
}

/// "    args.a += problem * args.batch_stride_a;".
std::string moves(std::span<const KernelArgument> arguments, const GemmSignature& signature) {
    const bool is_nested = signature.nested;
    std::string text = is_nested ? "    const int outer = static_cast<int>(problem) / args.batch_inner;\n"
                                   "    const int inner = static_cast<int>(problem) - outer * args.batch_inner;\n"
                                 : "";
    const std::string_view place = is_nested ? "inner" : "static_cast<int>(problem)";
    for (const KernelArgument& argument : arguments) {
        const Role role = role_of(argument);
        const Role stride{role.name, ArgumentPart::batch_stride}, outer{role.name, ArgumentPart::outer_stride};
        const std::string field = field_name(argument);
        if (has_addresses(role.name, signature) && role.part == ArgumentPart::pointer)
            text += fmt::format("    {}args.{} = matrix_of_problem(args.{}, problem);\n", condition_of(role.name),
                                field, field);
        if (std::holds_alternative<PointerArgument>(argument) && has(arguments, outer))
            text += fmt::format("    args.{0} += inner * args.{1} + outer * args.{2};\n", field, to_string(stride),
                                to_string(outer));
        else if (std::holds_alternative<PointerArgument>(argument) && has(arguments, stride))
            text += fmt::format("    args.{} += problem * args.{};\n", field, to_string(stride));
        if (!std::holds_alternative<TensorMapArgument>(argument)) continue;
        const bool is_of_d = role == Role::d && !has(arguments, Role::group_rows);
        if (role.is_packed) {
            text += fmt::format("    args.{}.problem = static_cast<int>(problem);\n", field);
        } else if (is_of_d || has(arguments, stride)) {
            text += map_move(field, stride, "problem", place, !is_of_d);
            if (is_nested) text += map_move(field, outer, "outer", "outer", !is_of_d);
        }
    }
    return text;
}

/// The kernel's parameter and its view of one problem. TMA reads tensor maps where the launch has put them.
std::string structs_with_maps(std::span<const KernelArgument> arguments, bool is_nested, std::string_view fields) {
    std::string of_launch(fields), members;
    constexpr std::string_view kMap = " TensorMap ";
    for (std::size_t at = 0; (at = of_launch.find(kMap, at)) != std::string::npos;)
        of_launch.replace(at, kMap.size(), " EncodedTensorMap ");
    for (const KernelArgument& argument : arguments) {
        const std::string name = field_name(argument);
        const bool is_map = std::holds_alternative<TensorMapArgument>(argument);
        members += fmt::format("{}{}", members.empty() ? "" : ",\n          ",
                               is_map ? fmt::format("{0}{{&all.{0}, 0{1}}}", name, is_nested ? ", 0" : "")
                                      : fmt::format("{0}(all.{0})", name));
    }
    return fmt::format(
        "struct BatchArgs {{\n{}}};\n\n"
        "// The arguments of one problem. The constructor gives those of the first.\n"
        "struct GemmArgs {{\n{}\n"
        "    __device__ __forceinline__ explicit GemmArgs(const BatchArgs& all)\n        : {} {{}}\n}};\n",
        of_launch, fields, members);
}

}  // namespace

std::vector<KernelArgument> with_batch(std::vector<KernelArgument> arguments, const GemmSignature& signature) {
    std::vector<std::string_view> operands;  // in the order of their arguments, each once
    for (KernelArgument& argument : arguments) {
        const Role role = role_of(argument);
        if (role.part == ArgumentPart::pointer && has_stride(role.name, signature) &&
            std::ranges::find(operands, role.name) == operands.end())
            operands.push_back(role.name);
        auto* const map = std::get_if<TensorMapArgument>(&argument);
        if (map == nullptr) continue;
        map->dimensions.emplace_back(1, Role{role.name, ArgumentPart::matrices, role.is_packed},
                                     Role{role.name, ArgumentPart::batch_stride, role.is_packed});
        if (signature.nested)
            map->dimensions.emplace_back(1, Role{role.name, ArgumentPart::outer_matrices, role.is_packed},
                                         Role{role.name, ArgumentPart::outer_stride, role.is_packed});
    }
    const bool has_workspace = has(arguments, Role::workspace);
    const bool has_groups = signature.grouped || signature.grouped_by_k;
    if (has_groups) arguments.emplace_back(PointerArgument{Role::offsets});
    if (signature.gathered) arguments.emplace_back(PointerArgument{Role::row_index});
    arguments.emplace_back(ExtentArgument{has_groups ? Role::groups : Role::batch});
    if (signature.grouped) arguments.emplace_back(ExtentArgument{Role::group_rows});
    if (signature.nested) arguments.emplace_back(ExtentArgument{Role::batch_inner});
    for (const std::string_view operand : operands) {
        arguments.emplace_back(ExtentArgument{{operand, ArgumentPart::batch_stride}, 8});
        if (signature.nested) arguments.emplace_back(ExtentArgument{{operand, ArgumentPart::outer_stride}, 8});
    }
    if (has_workspace) arguments.emplace_back(ExtentArgument{Role::workspace_stride, 8});
    return arguments;
}

void make_batched(std::vector<KernelEntry>& entries, const GemmSignature& signature) {
    for (KernelEntry& entry : entries) {
        entry.arguments = with_batch(std::move(entry.arguments), signature);
        const bool deals_out_tiles = std::holds_alternative<PersistentBlocks>(entry.grid.blocks);
        entry.grid.batch = deals_out_tiles     ? GridBatch::tiles
                           : signature.grouped ? GridBatch::groups
                                               : GridBatch::blocks;
    }
}

std::string batch_arguments_text(std::span<const KernelArgument> arguments, const GemmSignature& signature,
                                 std::string_view fields) {
    const bool has_maps = !tensor_map_ranks(arguments).empty();
    const bool has_own_blocks = !has_maps || has(arguments, Role::workspace);  // in some entry
    const std::string_view problem = has(arguments, Role::groups) ? "first group to another one"
                                     : signature.pointers         ? "arguments of the launch to those of a problem"
                                                                  : "first problem of the batch to another one";
    std::string text = has_maps ? structs_with_maps(arguments, signature.nested, fields)
                                : fmt::format("struct GemmArgs {{\n{}}};\n", fields);
    if (signature.pointers)
        text +=
            "\n// `matrices` is the launch's array of addresses, which has the type of one of them.\n"
            "template <typename Matrix>\n"
            "__device__ __forceinline__ Matrix* matrix_of_problem(Matrix* matrices, long long problem) {\n"
            "    return reinterpret_cast<Matrix* const*>(matrices)[problem];\n"
            "}\n";
    text += fmt::format(
        "\n// Moves from the {}.\n"
        "__device__ __forceinline__ void move_to_problem(GemmArgs& args, long long problem) {{\n{}}}\n",
        problem, moves(arguments, signature));
    if (has_maps)
        text +=
            "\n__device__ __forceinline__ GemmArgs problem_of(const GemmArgs& first, long long problem) {\n"
            "    GemmArgs args = first;\n"
            "    move_to_problem(args, problem);\n"
            "    return args;\n"
            "}\n";
    if (!has_own_blocks || signature.grouped) return text;
    return text +
           "\n// Moves to the problem of this block. False behind the last one.\n"
           "__device__ __forceinline__ bool move_to_problem_of_block(GemmArgs& args) {\n"
           "    const long long problem = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;\n"
           "    const bool is_one = problem < args." +
           std::string(to_string(has(arguments, Role::groups) ? Role::groups : Role::batch)) +
           ";\n"
           "    if (is_one) move_to_problem(args, problem);\n"
           "    return is_one;\n"
           "}\n";
}

}  // namespace jitgemm
