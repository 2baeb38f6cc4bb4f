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
[[nodiscard]] const DataTypeInfo& info(DataType type);
[[nodiscard]] std::string_view to_string(DataType type);
[[nodiscard]] int bytes(DataType type);

/// The type of that name ("bf16"), or nothing.
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view name);

/// f16 or bf16.
[[nodiscard]] constexpr bool is_half(DataType type) { return type == DataType::f16 || type == DataType::bf16; }

}  // namespace jitgemm
