#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace jitgemm {

/// Element types of a problem. Each kernel family serves some of them.
enum class DataType : std::uint8_t { f16, bf16, f32, tf32, e4m3, e5m2, s8, s32 };

/// One row of the type table: the name used on the command line and in kernel names, and the storage size.
struct DataTypeInfo {
    DataType type;
    std::string_view name;
    int bytes;             ///< storage size of one element
    DataType accumulator;  ///< default accumulator when A and B have this type
    DataType output;       ///< default type of D when A and B have this type
};

[[nodiscard]] std::span<const DataTypeInfo> data_type_table();
/// False for a number that was cast to the type and is none of its values.
[[nodiscard]] constexpr bool is_known(DataType type) { return type <= DataType::s32; }
/// This function and the next two throw SpecError for an unknown type.
[[nodiscard]] const DataTypeInfo& info(DataType type);
[[nodiscard]] std::string_view to_string(DataType type);
[[nodiscard]] int bytes(DataType type);

/// The type of that name ("bf16"), or nothing.
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view name);

/// The type of a word: its name in any case, or a name of other libraries ("bfloat16", "FP16", "float32").
[[nodiscard]] std::optional<DataType> data_type_of_word(std::string_view word);

/// The default accumulator for A and B of this type.
[[nodiscard]] constexpr DataType default_accumulator(DataType type) {
    return type == DataType::s8 || type == DataType::s32 ? DataType::s32 : DataType::f32;
}

/// The default type of D. For 8-bit floats it is bf16, because an 8-bit D needs scales.
[[nodiscard]] constexpr DataType default_output(DataType type) {
    switch (type) {
        case DataType::f16:
        case DataType::bf16: return type;
        case DataType::e4m3:
        case DataType::e5m2: return DataType::bf16;
        default: return default_accumulator(type);
    }
}

/// e4m3 or e5m2.
[[nodiscard]] constexpr bool is_float8(DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; }

/// f16 or bf16.
[[nodiscard]] constexpr bool is_half(DataType type) { return type == DataType::f16 || type == DataType::bf16; }

}  // namespace jitgemm
