#include "runtime/verify/verification_rules.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/operand_parts.hpp"
#include "generator/base/promoted_sums.hpp"
#include "runtime/support/element_codec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitgemm {
namespace {

constexpr int kLargestRange = 8;      // every type holds the integers up to 8, e5m2 no more
constexpr int kAllOfS8 = 128;         // 128 is stored as 127
constexpr int kLargestScale = 2;      // integers that blocks of K are scaled with
constexpr int kLargestExponent = 60;  // of alpha and beta: beyond, f32 would over- or underflow

bool is_exact_factor(float factor) {
    if (factor == 0.0F) return true;
    int exponent = 0;
    return std::fabs(std::frexp(factor, &exponent)) == 0.5F && std::abs(exponent) <= kLargestExponent;
}

/// Sums of integers are stored as they are.
bool keeps_sums(const GemmSpec& spec, float alpha) {
    return spec.d == DataType::s32 && spec.epilogue.empty() && alpha == 1.0F;
}

/// A symmetric product has one factor, whose lower parts would meet.
bool has_lower_parts(const GemmSpec& spec) { return has_parts(spec) && !spec.symmetric; }

/// An epilogue reads sums of s32 as f32.
double sum_limit(const GemmSpec& spec, float alpha) {
    if (spec.accumulator == DataType::f16) return 2048;
    if (is_float8(spec.a) && !has_promoted_sums(spec)) return 1 << 13;
    if (has_lower_parts(spec)) return 8000;  // of 2^13, less the fractions
    if (keeps_sums(spec, alpha)) return 2147483647;
    return 1 << 24;
}

int largest_range(const GemmSpec& spec) { return spec.a == DataType::s8 ? kAllOfS8 : kLargestRange; }

double summing_unit(const GemmSpec& spec) {
    if (spec.accumulator == DataType::f16) return 0x1p-11;
    if (is_float8(spec.a) && !has_promoted_sums(spec)) return 0x1p-12;
    return 0x1p-23;
}

/// sqrt(K) / 2 + 16; of squares, K / 8 + 16.
double steps(const GemmSpec& spec, std::int64_t k) {
    constexpr int kLeastOfStep = 8;  // of K, that an instruction adds
    const auto count = static_cast<double>(k);
    return 16 + (spec.symmetric ? count / kLeastOfStep : std::sqrt(count) / 2);
}

/// Of the partial sums that are promoted.
double partial_unit(const GemmSpec& spec) {
    return has_promoted_sums(spec) ? steps(spec, std::min<std::int64_t>(spec.k, kPromotedK)) * 0x1p-12 : 0;
}

/// Of products, where elements are multiplied as tf32, to which they are rounded, or in parts: of the two elements, and
/// of the product of lower parts that is left out. Tiny elements of a row with a large one have larger errors, which
/// the row's sums hide.
double split_unit(const GemmSpec& spec) {
    switch (spec.math) {
        case Math::f16x3: return 0x1p-20;
        case Math::bf16x3: return 0x1p-15;
        case Math::tf32: return 0x1.001p-10;
        case Math::bf16x6: return 0x1p-24;
        case Math::tf32x3: return 0x1p-21;
        case Math::ieee: break;
    }
    return 0;
}

/// Of sums and the steps up to D.
double sum_unit(const GemmSpec& spec) {
    constexpr double kStepsInF32 = 0x1p-22;  // of exact sums: a conversion, a product and an addition
    if (spec.accumulator == DataType::s32) return kStepsInF32;
    return steps(spec, spec.k) * summing_unit(spec) + partial_unit(spec) + split_unit(spec);
}

/// The smallest nonzero of 1, |alpha| and |beta|.
double unit_of(double alpha, double beta) {
    double unit = 1;
    if (alpha != 0) unit = std::min(unit, alpha);
    if (beta != 0) unit = std::min(unit, beta);
    return unit;
}

/// The largest Σ / sqrt(K) for which D does not overflow. Sums of random signs have this standard deviation. Six of
/// them stay below the 65504 of f16, the 57344 of e5m2, the 448 of e4m3 and the 127 of s8.
double spread_limit(const GemmSpec& spec) {
    switch (spec.d) {
        case DataType::f16:
        case DataType::e5m2: return 0x1p13;
        case DataType::e4m3: return 0x1p6;
        case DataType::s8: return 0x1p4;
        default: return std::numeric_limits<double>::infinity();
    }
}

/// Range or sparsity that keeps Σ within `most`, and Σ / sqrt(K) within `spread`.
void bound_products(IntegerInputs& inputs, std::int64_t k, double most, double spread, int range) {
    const auto count = static_cast<double>(std::max<std::int64_t>(k, 1));
    const double per_product = std::min(most / count, spread / std::sqrt(count));
    inputs.range = static_cast<int>(std::min<double>(range, std::floor(std::sqrt(per_product))));
    if (inputs.range >= 1) return;
    inputs.range = 1;
    const auto nonzero = static_cast<std::int64_t>(std::min(most, spread * spread));
    inputs.group = (k + nonzero - 1) / nonzero;
}

/// The largest factor that block scales make of integers.
double scaled_by(const GemmSpec& spec) {
    double factor = 1;
    for (const GemmOperand& operand : gemm_operands(spec))
        if (operand.is_block_scale()) factor *= kLargestScale;
    return factor;
}

}  // namespace

IntegerInputs integer_inputs(const GemmSpec& spec, float alpha, float beta) {
    if (!spec.epilogue.empty()) alpha = 1, beta = 0;  // the sums alone: what a text makes of them lies in an interval
    IntegerInputs inputs;
    inputs.range = largest_range(spec);
    if (!is_exact_factor(alpha) || !is_exact_factor(beta)) return inputs;
    const double alpha_size = std::fabs(alpha);
    const double beta_size = spec.c ? std::fabs(beta) : 0.0;
    const double limit = sum_limit(spec, alpha);
    const double room = limit * unit_of(alpha_size, beta_size);
    const double spread = spread_limit(spec);
    const double room_c = std::min(room, spread);
    if (beta_size != 0)
        inputs.range_c = static_cast<int>(std::min<double>(kLargestRange, std::floor(room_c / (2 * beta_size))));
    if (inputs.range_c < 1) return {.range = largest_range(spec)};
    inputs.range_scale = kLargestScale;
    const double most = alpha_size == 0 ? limit : std::min(limit, (room - beta_size * inputs.range_c) / alpha_size);
    const double most_spread = alpha_size == 0 ? spread : spread / alpha_size;
    if (most < 1 || most_spread < 1) return {.range = largest_range(spec)};
    inputs.exact = true;
    inputs.fractions = has_lower_parts(spec);
    bound_products(inputs, spec.k, most / scaled_by(spec), most_spread / scaled_by(spec), largest_range(spec));
    return inputs;
}

ErrorBound error_bound(const GemmSpec& spec) {
    const double unit = sum_unit(spec);
    const int fraction = fraction_bits(spec.d);
    if (fraction < 0) return {unit, 0.0, 0.5};  // an integer D is rounded to the nearest
    // The rounding to D applies to the sum as computed, which is off by the first term already.
    const double output_unit = std::ldexp(1.0, -fraction - 1);
    return {unit * (1 + output_unit), output_unit, smallest_step(spec.d) / 2};
}

}  // namespace jitgemm
