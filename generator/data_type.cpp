#include "generator/data_type.hpp"

#include <array>

namespace jitgemm {
namespace {

// In the order of the enumeration, so that a type indexes its row. An 8-bit float's output is bf16: D in 8 bits needs
// scales.
constexpr std::array<DataTypeInfo, 8> kDataTypes{{
    {DataType::f16, "f16", 2, DataType::f32, DataType::f16},
    {DataType::bf16, "bf16", 2, DataType::f32, DataType::bf16},
    {DataType::f32, "f32", 4, DataType::f32, DataType::f32},
    {DataType::tf32, "tf32", 4, DataType::f32, DataType::f32},
    {DataType::e4m3, "e4m3", 1, DataType::f32, DataType::bf16},
    {DataType::e5m2, "e5m2", 1, DataType::f32, DataType::bf16},
    {DataType::s8, "s8", 1, DataType::s32, DataType::s32},
    {DataType::s32, "s32", 4, DataType::s32, DataType::s32},
}};

}  // namespace

std::span<const DataTypeInfo> data_type_table() { return kDataTypes; }

const DataTypeInfo& info(DataType type) { return kDataTypes[static_cast<std::size_t>(type)]; }

std::string_view to_string(DataType type) { return info(type).name; }

int bytes(DataType type) { return info(type).bytes; }

std::optional<DataType> parse_data_type(std::string_view name) {
    for (const DataTypeInfo& row : kDataTypes) {
        if (row.name == name) return row.type;
    }
    return std::nullopt;
}

}  // namespace jitgemm
