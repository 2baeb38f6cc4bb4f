#pragma once

#include "jitgemm/data_type.hpp"

#include <cstddef>
#include <cstdint>

namespace jitgemm {

// Conversions round to nearest, ties to even. Values that are too large become infinity, and NaN stays NaN.
[[nodiscard]] std::uint16_t f16_from_f32(float value);
[[nodiscard]] float f32_from_f16(std::uint16_t bits);
[[nodiscard]] std::uint16_t bf16_from_f32(float value);
[[nodiscard]] float f32_from_bf16(std::uint16_t bits);

/// Converts `count` elements between f32, f16 and bf16. Throws Error with the types for any other pair.
void convert_elements(const void* source, DataType source_type, void* destination, DataType destination_type,
                      std::size_t count);

/// The exact value of an element of any type.
[[nodiscard]] double element_value(const void* data, DataType type, std::int64_t index);

/// The bits of a real number as an element of any type, rounded once from double. e4m3, e5m2 and integers saturate.
[[nodiscard]] std::uint32_t element_bits(double value, DataType type);

/// Fraction bits that an element stores, for tf32 as the tensor core reads it; -1 for integers.
[[nodiscard]] int fraction_bits(DataType type);

/// The smallest positive value of a floating-point type; 0 for integers.
[[nodiscard]] double smallest_step(DataType type);

}  // namespace jitgemm
