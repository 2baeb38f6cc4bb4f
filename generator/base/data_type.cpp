#include "jitgemm/data_type.hpp"

#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace jitgemm {
namespace {

constexpr DataTypeInfo row(DataType type, std::string_view name, int bytes) {
    return {type, name, bytes, default_accumulator(type), default_output(type)};
}

// In the order of the enumeration, so that a type indexes its row.
constexpr std::array<DataTypeInfo, 8> kDataTypes{
    row(DataType::f16, "f16", 2),   row(DataType::bf16, "bf16", 2), row(DataType::f32, "f32", 4),
    row(DataType::tf32, "tf32", 4), row(DataType::e4m3, "e4m3", 1), row(DataType::e5m2, "e5m2", 1),
    row(DataType::s8, "s8", 1),     row(DataType::s32, "s32", 4),
};
static_assert(is_known(kDataTypes.back().type) && kDataTypes.size() == static_cast<std::size_t>(DataType::s32) + 1);

struct Alias {
    std::string_view word;
    DataType type;
};

/// NumPy's, PyTorch's and ml_dtypes' words, and those of data sheets. float8_e4m3 is none: for ml_dtypes it has
/// infinities, which e4m3 has not.
constexpr std::array kAliases{
    Alias{"float16", DataType::f16},   Alias{"fp16", DataType::f16},
    Alias{"half", DataType::f16},      Alias{"bfloat16", DataType::bf16},
    Alias{"float32", DataType::f32},   Alias{"fp32", DataType::f32},
    Alias{"float", DataType::f32},     Alias{"float8_e4m3fn", DataType::e4m3},
    Alias{"fp8_e4m3", DataType::e4m3}, Alias{"float8_e5m2", DataType::e5m2},
    Alias{"fp8_e5m2", DataType::e5m2}, Alias{"int8", DataType::s8},
    Alias{"i8", DataType::s8},         Alias{"int32", DataType::s32},
    Alias{"i32", DataType::s32},
};

}  // namespace

std::span<const DataTypeInfo> data_type_table() { return kDataTypes; }

const DataTypeInfo& info(DataType type) {
    if (is_known(type)) return kDataTypes[static_cast<std::size_t>(type)];
    throw SpecError("unknown data type", {fmt::format("{} is no DataType", static_cast<int>(type))});
}

std::string_view to_string(DataType type) { return info(type).name; }

int bytes(DataType type) { return info(type).bytes; }

std::optional<DataType> parse_data_type(std::string_view name) {
    for (const DataTypeInfo& row : kDataTypes) {
        if (row.name == name) return row.type;
    }
    return std::nullopt;
}

std::optional<DataType> data_type_of_word(std::string_view word) {
    const std::string lower = lower_case(word);
    if (const auto type = parse_data_type(lower)) return type;
    const auto found = std::ranges::find(kAliases, lower, &Alias::word);
    return found == kAliases.end() ? std::nullopt : std::optional(found->type);
}

}  // namespace jitgemm
