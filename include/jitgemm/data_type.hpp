#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace jitgemm {

/// Element types a GEMM can name. Which of them a kernel family serves is the family's own constraint.
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
/// False of a number that was cast to the type and is none of the above.
[[nodiscard]] constexpr bool is_known(DataType type) { return type <= DataType::s32; }
/// Throws SpecError for a number that is no type, as the next two do.
[[nodiscard]] const DataTypeInfo& info(DataType type);
[[nodiscard]] std::string_view to_string(DataType type);
[[nodiscard]] int bytes(DataType type);

/// The type of that name ("bf16"), or nothing.
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view name);

/// The type a person means: its name in any case, or what other libraries call it ("bfloat16", "FP16", "float32").
[[nodiscard]] std::optional<DataType> data_type_of_word(std::string_view word);

/// What A and B of one type are accumulated in, where nothing else is said.
[[nodiscard]] constexpr DataType default_accumulator(DataType type) {
    return type == DataType::s8 || type == DataType::s32 ? DataType::s32 : DataType::f32;
}

/// The type of D, where nothing else is said. An 8-bit float's is bf16: D in 8 bits needs scales.
[[nodiscard]] constexpr DataType default_output(DataType type) {
    switch (type) {
        case DataType::f16:
        case DataType::bf16: return type;
        case DataType::e4m3:
        case DataType::e5m2: return DataType::bf16;
        default: return default_accumulator(type);
    }
}

/// f16 or bf16.
[[nodiscard]] constexpr bool is_half(DataType type) { return type == DataType::f16 || type == DataType::bf16; }

}  // namespace jitgemm
