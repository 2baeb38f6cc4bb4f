#include "runtime/support/element_codec.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace jitgemm {
namespace {

/// A floating-point type by what rounding needs to know. `exponent_bits` includes the field of infinities where there
/// are any.
struct FloatFormat {
    DataType type;
    int stored_fraction_bits;
    int exponent_bits;
    int used_fraction_bits;  ///< tf32 lies in memory as an f32; the tensor core reads 10 fraction bits of it
    double largest;          ///< finite
    bool has_infinity;

    [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    [[nodiscard]] int smallest_exponent() const { return 1 - bias(); }
};

constexpr std::array kFormats = {
    FloatFormat{DataType::f16, 10, 5, 10, 65504.0, true},
    FloatFormat{DataType::bf16, 7, 8, 7, 0x1.fep127, true},
    FloatFormat{DataType::f32, 23, 8, 23, 0x1.fffffep127, true},
    FloatFormat{DataType::tf32, 23, 8, 10, 0x1.fffffep127, true},
    FloatFormat{DataType::e4m3, 3, 4, 3, 448.0, false},
    FloatFormat{DataType::e5m2, 2, 5, 2, 57344.0, true},
};

const FloatFormat* find_format(DataType type) {
    for (const FloatFormat& format : kFormats)
        if (format.type == type) return &format;
    return nullptr;
}

double float_value(std::uint32_t bits, const FloatFormat& format) {
    const int top = (1 << format.exponent_bits) - 1;
    const int exponent = static_cast<int>(bits >> format.stored_fraction_bits) & top;
    const std::uint32_t fraction = bits & ((1U << format.stored_fraction_bits) - 1U);
    const bool negative = ((bits >> (format.stored_fraction_bits + format.exponent_bits)) & 1U) != 0;
    double value = std::ldexp(fraction, format.smallest_exponent() - format.stored_fraction_bits);
    if (exponent != 0)
        value = std::ldexp(1.0 + std::ldexp(fraction, -format.stored_fraction_bits), exponent - format.bias());
    if (exponent == top && format.has_infinity) value = fraction == 0 ? HUGE_VAL : std::nan("");
    if (format.type == DataType::e4m3 && exponent == top && fraction == 7) value = std::nan("");
    return negative ? -value : value;
}

/// The bits of a magnitude that the format holds exactly.
std::uint32_t exact_bits(double magnitude, const FloatFormat& format) {
    if (magnitude == 0) return 0;
    const int exponent = std::max(std::ilogb(magnitude), format.smallest_exponent());
    const auto scaled = static_cast<std::uint32_t>(std::ldexp(magnitude, format.stored_fraction_bits - exponent));
    // A normal number's leading one adds 1 to the exponent field; a subnormal has none.
    return scaled + (static_cast<std::uint32_t>(exponent - format.smallest_exponent()) << format.stored_fraction_bits);
}

std::uint32_t float_bits(double value, const FloatFormat& format) {
    const std::uint32_t sign = std::signbit(value) ? 1U << (format.stored_fraction_bits + format.exponent_bits) : 0U;
    const std::uint32_t top = ((1U << format.exponent_bits) - 1U) << format.stored_fraction_bits;
    if (std::isnan(value)) return sign | top | ((1U << format.stored_fraction_bits) - 1U);
    double magnitude = std::fabs(value);
    if (std::isfinite(magnitude) && magnitude != 0) {
        const int step = std::max(std::ilogb(magnitude), format.smallest_exponent()) - format.stored_fraction_bits;
        magnitude =
            std::ldexp(std::nearbyint(std::ldexp(magnitude, -step)), step);  // the default rounding mode: ties to even
    }
    if (magnitude <= format.largest) return sign | exact_bits(magnitude, format);
    return sign | (is_float8(format.type) ? exact_bits(format.largest, format) : top);
}

// memcpy: the data of a file need not be aligned to its elements.
template <typename Element>
Element load(const void* data, std::size_t index) {
    Element element;
    std::memcpy(&element, static_cast<const std::byte*>(data) + index * sizeof(Element), sizeof(Element));
    return element;
}

template <typename Element>
void store(Element element, void* data, std::size_t index) {
    std::memcpy(static_cast<std::byte*>(data) + index * sizeof(Element), &element, sizeof(Element));
}

float load_f32(const void* data, DataType type, std::size_t index) {
    if (type == DataType::f32) return load<float>(data, index);
    const auto bits = load<std::uint16_t>(data, index);
    return type == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
}

void store_f32(float value, void* data, DataType type, std::size_t index) {
    if (type == DataType::f32) return store(value, data, index);
    store(type == DataType::f16 ? f16_from_f32(value) : bf16_from_f32(value), data, index);
}

bool is_convertible(DataType type) { return type == DataType::f32 || type == DataType::f16 || type == DataType::bf16; }

}  // namespace

std::uint16_t f16_from_f32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU));
    if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520 and above
    if (magnitude < 0x38800000U) {
        // Below 2^-14: adding 1/2 makes the FPU round to multiples of 2^-24, the step of f16's subnormals.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
    }
    const std::uint32_t rounding = 0xfffU + ((magnitude >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | ((magnitude - (112U << 23) + rounding) >> 13));
}

float f32_from_f16(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
    if (magnitude >= 0x400U) return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23)));
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -subnormal : subnormal;
}

std::uint16_t bf16_from_f32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float f32_from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

void convert_elements(const void* source, DataType source_type, void* destination, DataType destination_type,
                      std::size_t count) {
    if (source_type != destination_type && (!is_convertible(source_type) || !is_convertible(destination_type))) {
        throw Error(fmt::format("cannot convert {} to {}: only f32, f16 and bf16 are converted", to_string(source_type),
                                to_string(destination_type)));
    }
    if (count == 0) return;  // there may be no memory at all
    if (source_type == destination_type) {
        std::memcpy(destination, source, count * static_cast<std::size_t>(bytes(source_type)));
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        store_f32(load_f32(source, source_type, i), destination, destination_type, i);
}

double element_value(const void* data, DataType type, std::int64_t index) {
    std::uint32_t bits = 0;
    const auto size = static_cast<std::size_t>(bytes(type));
    std::memcpy(&bits, static_cast<const std::byte*>(data) + static_cast<std::size_t>(index) * size,
                size);  // little endian
    if (type == DataType::s8) return static_cast<std::int8_t>(bits);
    if (type == DataType::s32) return static_cast<std::int32_t>(bits);
    return float_value(bits, *find_format(type));
}

std::uint32_t element_bits(double value, DataType type) {
    const auto integer = [&](double least, double most) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(std::clamp(value, least, most))));
    };
    if (type == DataType::s8) return integer(-128, 127) & 0xffU;
    if (type == DataType::s32) return integer(-2147483648.0, 2147483647.0);
    return float_bits(value, *find_format(type));
}

int fraction_bits(DataType type) {
    const FloatFormat* format = find_format(type);
    return format == nullptr ? -1 : format->used_fraction_bits;
}

double smallest_step(DataType type) {
    const FloatFormat* format = find_format(type);
    return format == nullptr ? 0.0 : std::ldexp(1.0, format->smallest_exponent() - format->stored_fraction_bits);
}

}  // namespace jitgemm
