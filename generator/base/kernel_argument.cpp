#include "generator/base/kernel_argument.hpp"

#include "generator/base/overloaded.hpp"
#include "generator/base/round_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

struct FieldType {
    std::string_view c_type;
    std::size_t bytes;
    std::size_t alignment;
};

FieldType field_type(const KernelArgument& argument) {
    return std::visit(
        Overloaded{[](PointerArgument) {
                       return FieldType{"CUdeviceptr", 8, 8};
                   },
                   [](ExtentArgument extent) {
                       return extent.bytes == 4 ? FieldType{"int32_t", 4, 4} : FieldType{"int64_t", 8, 8};
                   },
                   [](ScalarArgument) {
                       return FieldType{"float", 4, 4};
                   },
                   [](const TensorMapArgument&) {
                       return FieldType{"CUtensorMap", sizeof(EncodedTensorMap), alignof(EncodedTensorMap)};
                   }},
        argument);
}

std::size_t aligned(std::size_t offset, std::size_t alignment) { return ceil_div(offset, alignment) * alignment; }

}  // namespace

std::string to_string(const ArgumentRole& role) {
    const auto prefix = [&]() -> std::string_view {
        switch (role.part) {
            case ArgumentPart::pitch: return role.name.size() == 1 ? "ld" : "ld_";
            case ArgumentPart::matrices: return "matrices_";
            case ArgumentPart::batch_stride: return "batch_stride_";
            case ArgumentPart::outer_matrices: return "outer_matrices_";
            case ArgumentPart::outer_stride: return "outer_stride_";
            default: return "";
        }
    };
    const std::string_view copy = role.is_prepared ? "prepared_" : role.is_packed ? "packed_" : "";
    return fmt::format("{}{}{}", copy, prefix(), role.name);
}

std::vector<TensorMapDimension> box_of_matrix(const std::array<int, 2>& box) {
    return {static_cast<std::uint32_t>(box[0]), static_cast<std::uint32_t>(box[1])};
}

std::string field_name(const KernelArgument& argument) {
    const auto given = [](std::string_view field, std::string otherwise) {
        return field.empty() ? std::move(otherwise) : std::string(field);
    };
    return std::visit(
        Overloaded{[](PointerArgument pointer) { return to_string(pointer.role); },
                   [](ScalarArgument scalar) { return to_string(scalar.role); },
                   [&](const ExtentArgument& extent) { return given(extent.field, to_string(extent.role)); },
                   [&](const TensorMapArgument& map) {
                       return given(map.field, fmt::format("map_{}{}", map.role.name, map.is_of_rest ? "_rest" : ""));
                   }},
        argument);
}

std::set<int> tensor_map_ranks(std::span<const KernelArgument> arguments) {
    std::set<int> ranks;
    for (const KernelArgument& argument : arguments)
        if (const auto* const map = std::get_if<TensorMapArgument>(&argument)) ranks.insert(map->rank());
    return ranks;
}

bool computes_transpose(std::span<const KernelArgument> arguments) {
    return std::ranges::any_of(arguments, [](const KernelArgument& argument) {
        const ArgumentRole role = role_of(argument);
        return (role == ArgumentRole::n || role == ArgumentRole::h) && field_name(argument) == "m";
    });
}

ArgumentRole role_of(const KernelArgument& argument) {
    return std::visit([](const auto& alternative) { return alternative.role; }, argument);
}

ArgumentLayout argument_layout(std::span<const KernelArgument> arguments) {
    ArgumentLayout layout;
    for (const KernelArgument& argument : arguments) {
        const FieldType type = field_type(argument);
        const std::size_t offset = aligned(layout.bytes, type.alignment);
        layout.fields.push_back({field_name(argument), type.c_type, type.bytes, type.alignment, offset});
        layout.bytes = offset + type.bytes;
        layout.alignment = std::max(layout.alignment, type.alignment);
    }
    layout.bytes = aligned(layout.bytes, layout.alignment);
    return layout;
}

}  // namespace jitgemm
