#pragma once

#include "jitgemm/data_type.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace jitgemm {

/// Element types of tensor-core instructions. They are more than a GEMM's types.
enum class MmaType : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4, f64, f32, s32 };

struct MmaTypeInfo {
    MmaType type;
    std::string_view ptx_name;            ///< "bf16"
    std::string_view cute_name;           ///< "BF16"
    int bits;                             ///< of an element in registers and shared memory
    std::optional<DataType> data_type{};  ///< the same type of a GEMM, if there is one
};

[[nodiscard]] std::span<const MmaTypeInfo> mma_type_table();
[[nodiscard]] const MmaTypeInfo& info(MmaType type);
[[nodiscard]] std::string_view to_string(MmaType type);  ///< PTX's name
[[nodiscard]] int bits(MmaType type);
[[nodiscard]] MmaType mma_type(DataType type);
/// e4m3 or e5m2.
[[nodiscard]] constexpr bool is_float8(MmaType type) { return type == MmaType::e4m3 || type == MmaType::e5m2; }

/// The type of that PTX or CuTe name ("bf16", "BF16"), or nothing.
[[nodiscard]] std::optional<MmaType> parse_mma_type(std::string_view name);

}  // namespace jitgemm
