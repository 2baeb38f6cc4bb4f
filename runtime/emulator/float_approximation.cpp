#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/float_value.hpp"

#include <bit>
#include <cmath>

namespace jitgemm::emulator {
namespace {

double true_value(Approximation function, double x) {
    switch (function) {
        case Approximation::ex2: return std::exp2(x);
        case Approximation::lg2: return std::log2(x);
        case Approximation::rcp: return 1.0 / x;
        // 1 / sqrt(-0) is -∞, as the ISA's table has it.
        case Approximation::rsqrt: return 1.0 / std::sqrt(x);
        case Approximation::sqrt: return std::sqrt(x);
        case Approximation::sin: return std::sin(x);
        case Approximation::cos: return std::cos(x);
        case Approximation::tanh: return std::tanh(x);
    }
    return std::nan("");
}

std::uint64_t to_f64(FloatType type, std::uint64_t bits) { return convert_float(type, FloatType::f64, bits); }

}  // namespace

std::uint64_t approximate(Approximation function, FloatType type, std::uint64_t bits, bool flush_subnormals) {
    const FloatFormat& format = float_format(type);
    const std::uint64_t operand = flush_subnormals ? flushed(format, bits) : bits;
    const double value = true_value(function, std::bit_cast<double>(to_f64(type, operand)));
    if (std::isnan(value)) return format.canonical_nan;
    const std::uint64_t rounded = convert_float(FloatType::f64, type, std::bit_cast<std::uint64_t>(value));
    return flush_subnormals ? flushed(format, rounded) : rounded;
}

std::uint32_t approximate_div(std::uint32_t a, std::uint32_t b, bool flush_subnormals, bool full_range) {
    const std::uint32_t exponent_of_b = (b >> 23) & 0xffU;
    const std::uint32_t magnitude_of_b = b & 0x7fffffffU;
    constexpr std::uint32_t kTwoTo126 = 253U << 23;
    if (!full_range && magnitude_of_b > kTwoTo126 && exponent_of_b != 0xffU) {
        const std::uint32_t magnitude_of_a = a & 0x7fffffffU;
        return magnitude_of_a >= 0x7f800000U ? kNan32 : (a ^ b) & 0x80000000U;
    }
    return static_cast<std::uint32_t>(div(FloatType::f32, a, b, {.flush_subnormals = flush_subnormals}));
}

}  // namespace jitgemm::emulator
