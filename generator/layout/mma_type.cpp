#include "generator/layout/mma_type.hpp"

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr std::array kTypes{
    MmaTypeInfo{MmaType::f16, "f16", "F16", 16, DataType::f16},
    MmaTypeInfo{MmaType::bf16, "bf16", "BF16", 16, DataType::bf16},
    MmaTypeInfo{MmaType::tf32, "tf32", "TF32", 32, DataType::tf32},
    MmaTypeInfo{MmaType::e4m3, "e4m3", "E4M3", 8, DataType::e4m3},
    MmaTypeInfo{MmaType::e5m2, "e5m2", "E5M2", 8, DataType::e5m2},
    MmaTypeInfo{MmaType::s8, "s8", "S8", 8, DataType::s8},
    MmaTypeInfo{MmaType::u8, "u8", "U8", 8},
    MmaTypeInfo{MmaType::s4, "s4", "S4", 4},
    MmaTypeInfo{MmaType::u4, "u4", "U4", 4},
    MmaTypeInfo{MmaType::f64, "f64", "F64", 64},
    MmaTypeInfo{MmaType::f32, "f32", "F32", 32, DataType::f32},
    MmaTypeInfo{MmaType::s32, "s32", "S32", 32, DataType::s32},
};

}  // namespace

std::span<const MmaTypeInfo> mma_type_table() { return kTypes; }

const MmaTypeInfo& info(MmaType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string_view to_string(MmaType type) { return info(type).ptx_name; }

int bits(MmaType type) { return info(type).bits; }

MmaType mma_type(DataType type) {
    return std::ranges::find_if(kTypes, [&](const MmaTypeInfo& row) { return row.data_type == type; })->type;
}

std::optional<MmaType> parse_mma_type(std::string_view name) {
    const auto* const found = std::ranges::find_if(
        kTypes, [&](const MmaTypeInfo& row) { return row.ptx_name == name || row.cute_name == name; });
    return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

}  // namespace jitgemm
