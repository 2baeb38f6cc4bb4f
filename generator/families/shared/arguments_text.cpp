#include "generator/families/shared/arguments_text.hpp"

#include "generator/base/overloaded.hpp"
#include "generator/families/shared/batch.hpp"
#include "generator/families/shared/epilogue_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace jitgemm {
namespace {

using Role = ArgumentRole;

/// A value of a text that lies in memory.
struct TextValue {
    DataType type;
    EpilogueIndex index;
    bool is_written;
};

std::optional<TextValue> value_of_text(const GemmSignature& signature, std::string_view name) {
    if (!signature.epilogue) return std::nullopt;
    const EpilogueParts& parts = signature.epilogue->parts();
    for (const EpilogueOperand& operand : parts.operands)
        if (operand.name == name && !operand.is_scalar) return TextValue{operand.type, operand.index, false};
    for (const EpilogueOutput& output : parts.outputs)
        if (output.name == name && is_beside_d(output))
            return TextValue{output.type.value_or(signature.d), output.index, true};
    return std::nullopt;
}

/// The arguments of one kernel, and what their comments depend on.
struct ArgumentComments {
    std::span<const KernelArgument> arguments;
    GemmSignature signature;

    [[nodiscard]] bool has(Role role) const {
        return std::ranges::any_of(arguments, [role](const auto& argument) { return role_of(argument) == role; });
    }

    [[nodiscard]] bool is_transposed() const { return computes_transpose(arguments); }

    [[nodiscard]] bool has_one_row_of_c() const { return has(Role::c) && !has(Role::ldc); }

    [[nodiscard]] bool is_row_major(Role matrix) const {
        if (matrix == Role::a) return order_a(signature.layout) == Order::row;
        return matrix != Role::b || order_b(signature.layout) == Order::row;
    }

    [[nodiscard]] std::string_view order(Role matrix) const {
        return is_row_major(matrix) ? "row-major" : "column-major";
    }

    [[nodiscard]] std::optional<TextValue> of_text(const Role& role) const {
        return value_of_text(signature, role.name);
    }

    [[nodiscard]] std::string of_pointer(Role role) const {
        if (const std::optional<TextValue> value = of_text(role))
            return fmt::format("{} ({}){}", to_string(value->type), to_string(value->index),
                               value->is_written ? ", which is written" : "");
        if (role == Role::a)
            return fmt::format("A ({}, k), {}",
                               signature.gathered ? "source_rows"
                               : is_transposed()  ? "n"
                                                  : "m",
                               order(role));
        if (role == Role::b) return fmt::format("B (k, {}), {}", is_transposed() ? 'm' : 'n', order(role));
        if (role == Role::prepared_a) return "A in parts, and two factors for each row";
        if (role == Role::prepared_b) return "B in parts, and two factors for each column";
        if (role == Role::d) return "D (m, n), row-major";
        if (role == Role::reduction_parts) return "in the workspace";
        if (role == Role::offsets)
            return signature.grouped_by_k ? "where groups end along K (groups)"
                                          : "where groups end (groups), or how many rows they have";
        if (role == Role::row_index) return "the row of A for each row of D, or -1 (m)";
        if (role == Role::counters) return "zeros, before a launch and after it";
        if (role != Role::c) return {};
        if (has_one_row_of_c()) return is_transposed() ? "C (m), added to each column" : "C (n), added to each row";
        return "C (m, n), row-major";
    }

    [[nodiscard]] std::string of_map(const TensorMapArgument& map) const {
        const std::string field = field_name(map);
        const std::string_view by_pairs = map.pairs == EpiloguePairs::none ? "" : ", in groups of eight pairs";
        const std::string_view packed = map.role.is_prepared ? "prepared " : map.role.is_packed ? "packed " : "";
        const std::string_view rounded = signature.math == Math::tf32 ? ", rounded to tf32" : "";
        if (field == "map_a" && is_transposed()) return fmt::format("{}B^T (m, k){}{}", packed, rounded, by_pairs);
        if (field == "map_a") return fmt::format("{}A (m, k){}", packed, rounded);
        if (signature.symmetric && field == "map_b") return fmt::format("{}A (n, k){}", packed, rounded);
        if (field == "map_mirror") return "D (m, n), in boxes of a slice's mirror";
        if (field == "map_b" && !by_pairs.empty()) return fmt::format("B (k, 2 * n){}", by_pairs);
        if (field == "map_b") return fmt::format("{}{} (k, n){}", packed, is_transposed() ? "A^T" : "B", rounded);
        if (field == "map_d")
            return is_transposed() ? "D^T (m, n), in boxes of a slice" : "D (m, n), in boxes of a slice";
        if (const std::optional<TextValue> value = of_text(map.role); value && value->is_written && !map.is_of_rest)
            return fmt::format("{}{} (m, n), in boxes of a slice", map.role.name, is_transposed() ? "^T" : "");
        if (const std::optional<TextValue> value = of_text(map.role); value && value->index.has_k())
            return fmt::format("{} ({}){}", map.role.name, to_string(value->index),
                               is_transposed() ? " of the problem" : "");
        if (field == "map_panels") return fmt::format("{} (m, n), in boxes of a panel", map.role.name);
        if (field == "map_c") return "C (m, n) or one row of it, in boxes of a panel";
        return "the last boxes of a row, which are narrower";
    }

    [[nodiscard]] std::string of_batch_stride(std::string_view name) const {
        const std::string title =
            name.size() == 1 ? std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(name.front()))))
                             : std::string(name);
        return fmt::format("elements from a {0}'s {1} to the next one's{2}",
                           signature.grouped || signature.grouped_by_k ? "group" : "problem", title,
                           name == "d" ? "" : fmt::format("; 0: all have one {}", title));
    }

    [[nodiscard]] std::string of_extent(const ExtentArgument& extent) const {
        if (extent.role == Role::h) return "columns of D: pairs of the product's columns";
        if (extent.role == Role::batch) return "problems";
        if (extent.role == Role::groups)
            return signature.grouped_by_k ? "groups, each with a part of K" : "groups of rows of A and D";
        if (extent.role == Role::source_rows) return "rows of A";
        if (extent.role == Role::group_rows) return "that a group has room for; 0: groups lie one behind the other";
        if (extent.role == Role::workspace_stride)
            return "bytes from a problem's part of the workspace to the next one's";
        if (extent.role == Role::batch_inner) return "problems along the inner dimension of the batch";
        if (extent.role.part == ArgumentPart::batch_stride) return of_batch_stride(extent.role.name);
        if (extent.role.part == ArgumentPart::outer_stride) return "the same along the outer dimension";
        if (is_transposed() && extent.role == Role::n) return "n of the problem";
        if (is_transposed() && extent.role == Role::m) return "m of the problem";
        if (extent.role.part != ArgumentPart::pitch) return {};
        if (of_text(extent.role)) return fmt::format("elements from one row of {} to the next", extent.role.name);
        const bool by_row = is_row_major({extent.role.name, ArgumentPart::pointer});
        const char title = static_cast<char>(std::toupper(static_cast<unsigned char>(extent.role.name.front())));
        return fmt::format("elements from one {} of {} to the next{}", by_row ? "row" : "column", title,
                           extent.role == Role::ldc ? "; 0: C is one row" : "");
    }

    [[nodiscard]] std::string operator()(const KernelArgument& argument) const {
        return std::visit(Overloaded{[&](const PointerArgument& pointer) { return of_pointer(pointer.role); },
                                     [&](const ExtentArgument& extent) { return of_extent(extent); },
                                     [&](const TensorMapArgument& map) { return of_map(map); },
                                     [](const ScalarArgument&) { return std::string(); }},
                          argument);
    }

    [[nodiscard]] std::string formula() const {
        const std::string_view is_a = signature.symmetric ? ", B is A^T" : "";
        if (signature.epilogue)
            return fmt::format("// {}\n// acc = A (m, k) * B (k, {}){}, D is d.\n", signature.epilogue->text(),
                               signature.epilogue->parts().pairs == EpiloguePairs::none ? "n" : "2 * n", is_a);
        const std::string_view plus_c = !has(Role::c) ? "" : has_one_row_of_c() ? " + beta * C" : " + beta * C (m, n)";
        if (!is_transposed()) return fmt::format("// D (m, n) = alpha * A (m, k) * B (k, n){}{}.\n", plus_c, is_a);
        return fmt::format(
            "// D^T (m, n) = alpha * B^T (m, k) * A^T (k, n){}. All of this kernel is written for the transposed "
            "problem:\n"
            "// its A is B^T, its B is A^T.\n",
            plus_c);
    }
};

std::string pointer_type_of_text(const TextValue& value) {
    return fmt::format("{}{}*", value.is_written ? "" : "const ", operand_element(value.type));
}

std::string_view factor_pointer(DataType type) {
    if (bytes(type) == 1) return "const Byte*";
    return type == DataType::f32 ? "const float*" : "const Bits*";
}

std::string_view pointer_type(Role role, const GemmSignature& s) {
    if (role == Role::a) return factor_pointer(s.a);
    if (role == Role::b) return factor_pointer(s.b);
    if (role == Role::c) return "const ElementC*";
    if (role == Role::d) return "ElementD*";
    if (role.is_prepared) return "const char*";
    if (role == Role::reduction_parts) return "float*";
    if (role == Role::offsets || role == Role::row_index) return "const int*";
    return role == Role::counters ? "unsigned*" : "char*";
}

std::string_view device_type(const KernelArgument& argument, const GemmSignature& s) {
    return std::visit(Overloaded{[&](const PointerArgument& pointer) { return pointer_type(pointer.role, s); },
                                 [](const ExtentArgument& extent) -> std::string_view {
                                     return extent.bytes == 4 ? "int" : "long long";
                                 },
                                 [](const ScalarArgument&) -> std::string_view { return "float"; },
                                 [](const TensorMapArgument&) -> std::string_view { return "TensorMap"; }},
                      argument);
}

}  // namespace

std::string arguments_text(std::span<const KernelArgument> arguments, const GemmSignature& signature) {
    const ArgumentComments comments{arguments, signature};
    std::string text;
    for (const KernelArgument& argument : arguments) {
        const std::string comment = comments(argument);
        const std::optional<TextValue> value = comments.of_text(role_of(argument));
        const bool is_pointer = std::holds_alternative<PointerArgument>(argument);
        const std::string type =
            value && is_pointer ? pointer_type_of_text(*value) : std::string(device_type(argument, signature));
        text += fmt::format("    {} {};{}\n", type, field_name(argument), comment.empty() ? "" : "  // " + comment);
    }
    const std::string_view of_batch = signature.grouped ? "// For each group of rows of A and D, and its own B:\n"
                                      : signature.grouped_by_k ? "// For each group, a part of K, and its own D:\n"
                                      : signature.pointers
                                          ? "// For each problem of the batch. A launch passes arrays of addresses.\n"
                                      : signature.batched ? "// For each problem of the batch:\n"
                                                          : "";
    return std::string(of_batch) + comments.formula() +
           (signature.batched ? batch_arguments_text(arguments, signature, text)
                              : fmt::format("struct GemmArgs {{\n{}}};\n", text));
}

}  // namespace jitgemm
