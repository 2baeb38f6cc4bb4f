#include "runtime/verify/verification_rules.hpp"

#include "runtime/support/element_codec.hpp"
#include "runtime/verify/reference_arguments.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace jitgemm;

namespace {

GemmSpec problem(DataType type, std::int64_t k, DataType accumulator = DataType::f32) {
    GemmSpec spec{.m = 64, .n = 64, .k = k, .a = type, .b = type, .d = type, .accumulator = accumulator};
    return resolved(spec);
}

struct ReferenceElement {
    double value = 0;
    double magnitude = 0;
};

double relative_error(const GemmSpec& spec, const ReferenceElement& expected, double got, bool exact) {
    const device_code::CheckArguments arguments =
        check_arguments({.d = {.type = spec.d}, .bound = error_bound(spec), .exact = exact});
    return device_code::error_over_bound(arguments, {expected.value, expected.magnitude}, element_bits(got, spec.d));
}

/// The largest possible sum of absolute products.
double largest_sum(const IntegerInputs& inputs, std::int64_t k) {
    const std::int64_t nonzero = (k + inputs.group - 1) / inputs.group;
    return static_cast<double>(nonzero) * inputs.range * inputs.range;
}

/// A sum as an f32 accumulator of a tensor core makes it: eight products at a time, cut to 25 fraction bits of the
/// largest, cut to f32.
double truncating_sum(const std::vector<double>& products) {
    double sum = 0;
    for (std::size_t begin = 0; begin < products.size(); begin += 8) {
        const std::size_t end = std::min(begin + 8, products.size());
        double largest = std::fabs(sum);
        for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::fabs(products[i]));
        if (largest == 0) continue;
        const double unit = std::ldexp(1.0, std::ilogb(largest) - 25);
        double total = std::trunc(sum / unit);
        for (std::size_t i = begin; i < end; ++i) total += std::trunc(products[i] / unit);
        const double exact = total * unit;
        const double step = exact == 0 ? 1 : std::ldexp(1.0, std::ilogb(exact) - 23);
        sum = std::trunc(exact / step) * step;
    }
    return sum;
}

/// The same with the accumulator rounded to f16 after every instruction.
double half_sum(const std::vector<double>& products) {
    double sum = 0;
    for (std::size_t begin = 0; begin < products.size(); begin += 8) {
        for (std::size_t i = begin; i < std::min(begin + 8, products.size()); ++i) sum += products[i];
        const std::uint32_t bits = element_bits(sum, DataType::f16);
        sum = element_value(&bits, DataType::f16, 0);
    }
    return sum;
}

}  // namespace

TEST_CASE("sums of integers with fractions are exact in f32") {
    for (const std::int64_t k : {1, 17, 512, 4096, 65536, 1 << 20}) {
        INFO(k);
        GemmSpec spec = problem(DataType::f32, k);
        spec.math = Math::f16x3;
        for (const float alpha : {1.0F, -2.0F, 0.5F}) {
            const IntegerInputs inputs = integer_inputs(spec, alpha, 0);
            CHECK(inputs.exact);
            CHECK(inputs.fractions);
            const double with_fractions = largest_sum(inputs, k) * (1 + 0x1p-11 / inputs.range);
            CHECK(with_fractions <= 0x1p13);
            CHECK(std::fabs(alpha) * with_fractions <= 0x1p13 * std::min(1.0F, std::fabs(alpha)));
        }
        spec.math = Math::tf32;
        CHECK_FALSE(integer_inputs(spec, 1, 0).fractions);
    }
}

TEST_CASE("small integers keep every sum exact for any accumulator and K") {
    for (const std::int64_t k : {0, 1, 17, 512, 4096, 65536, 1 << 20, 1 << 27}) {
        INFO(k);
        const IntegerInputs f32 = integer_inputs(problem(DataType::bf16, k), 1, 0);
        CHECK(f32.exact);
        CHECK(largest_sum(f32, k) <= 0x1p24);
        const IntegerInputs f16 = integer_inputs(problem(DataType::f16, k, DataType::f16), 1, 0);
        CHECK(f16.exact);
        CHECK(largest_sum(f16, k) <= 2048);
        CHECK(f16.range >= 1);
        GemmSpec fp8 = problem(DataType::e4m3, k);
        const IntegerInputs promoted = integer_inputs(fp8, 1, 0);
        CHECK(promoted.exact);
        CHECK(largest_sum(promoted, k) <= 0x1p24);
        CHECK(largest_sum(promoted, std::min<std::int64_t>(k, 128)) <= 0x1p13);
        fp8.sums = Summation::fast;
        CHECK(largest_sum(integer_inputs(fp8, 1, 0), k) <= 0x1p13);
    }
}

TEST_CASE("inputs are no sparser and no smaller than need be") {
    CHECK(integer_inputs(problem(DataType::bf16, 4096), 1, 0).range == 8);
    CHECK(integer_inputs(problem(DataType::bf16, 1 << 20), 1, 0).range == 4);
    const auto group_of_f16_sums = [](std::int64_t k) {
        return integer_inputs(problem(DataType::f16, k, DataType::f16), 1, 0).group;
    };
    CHECK(group_of_f16_sums(2048) == 1);
    CHECK(group_of_f16_sums(2049) == 2);
    CHECK(group_of_f16_sums(65536) == 32);
    // D's type says how the sum is rounded, not how it is made.
    CHECK(integer_inputs(problem(DataType::f16, 4097), 1, 0).group == 1);
    CHECK(integer_inputs(problem(DataType::f16, 1 << 20), 1, 0).group == 1);
}

TEST_CASE("sums of random integers stay within an f16 D, whatever K, alpha, beta and C") {
    std::mt19937_64 random(1);
    for (const std::int64_t k : {64, 4097, 65536, 1 << 20}) {
        for (const float alpha : {1.0F, -2.0F, 64.0F, 4096.0F}) {
            GemmSpec spec = problem(DataType::f16, k);
            spec.c = DataType::f16;
            const IntegerInputs inputs = integer_inputs(spec, alpha, 4);
            INFO(k << ' ' << alpha << ' ' << inputs.range << ' ' << inputs.group);
            REQUIRE(inputs.exact);
            const auto integer = [&] {
                const int size = std::uniform_int_distribution(1, inputs.range)(random);
                return static_cast<double>(random() % 2 == 0 ? size : -size);
            };
            for (int element = 0; element < 20; ++element) {
                double sum = 4.0 * inputs.range_c;
                for (std::int64_t i = 0; i < k; i += inputs.group)
                    sum += static_cast<double>(alpha) * integer() * integer();
                CHECK(std::fabs(sum) < 65504);
            }
        }
    }
}

TEST_CASE("alpha, beta and C take their share of the exact range") {
    GemmSpec spec = problem(DataType::f16, 1024);
    spec.c = DataType::f16;
    for (const float alpha : {1.0F, -2.0F, 0.25F, 0.0F}) {
        for (const float beta : {0.0F, 1.0F, -0.5F, 4.0F}) {
            INFO(alpha << ' ' << beta);
            const IntegerInputs inputs = integer_inputs(spec, alpha, beta);
            REQUIRE(inputs.exact);
            double unit = 1;
            for (const float factor : {alpha, beta})
                if (factor != 0) unit = std::min(unit, std::fabs(static_cast<double>(factor)));
            const double total = std::fabs(static_cast<double>(alpha)) * largest_sum(inputs, 1024) +
                                 std::fabs(static_cast<double>(beta)) * inputs.range_c;
            CHECK(total <= 0x1p24 * unit);
        }
    }
    CHECK_FALSE(integer_inputs(spec, 1.7F, 0).exact);
    CHECK_FALSE(integer_inputs(spec, 1, 1.0F / 3).exact);
    CHECK_FALSE(integer_inputs(spec, 0x1p-24F, 1).exact);
}

TEST_CASE("errors of tensor cores stay within the bound, and a missing product does not") {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (const std::int64_t k : {1, 8, 64, 777, 8192}) {
        const GemmSpec f32 = problem(DataType::bf16, k);
        GemmSpec wide = f32;
        wide.d = DataType::f32;
        const GemmSpec f16 = problem(DataType::f16, k, DataType::f16);
        double largest_f32 = 0, largest_f16 = 0;
        int unnoticed = 0;
        const int trials = 300;
        for (int trial = 0; trial < trials; ++trial) {
            std::vector<double> products(static_cast<std::size_t>(k));
            ReferenceElement expected;
            for (double& product : products) {
                const std::uint32_t a = element_bits(normal(random), DataType::bf16);
                const std::uint32_t b = element_bits(normal(random), DataType::bf16);
                product = element_value(&a, DataType::bf16, 0) * element_value(&b, DataType::bf16, 0);
                expected.value += product;
                expected.magnitude += std::fabs(product);
            }
            largest_f32 = std::max(largest_f32, relative_error(wide, expected, truncating_sum(products), false));
            largest_f16 = std::max(largest_f16, relative_error(f16, expected, half_sum(products), false));
            const double incomplete = truncating_sum({products.begin() + 1, products.end()});
            if (relative_error(wide, expected, incomplete, false) <= 1) ++unnoticed;
        }
        INFO(k << ": " << largest_f32 << ' ' << largest_f16 << ' ' << unnoticed);
        CHECK(largest_f32 < 0.8);
        CHECK(largest_f16 < 0.8);
        CHECK(unnoticed < trials / 4);
    }
}

TEST_CASE("sums of squares, as a symmetric product has them, stay within its bound, and not within that of others") {
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    for (const std::int64_t k : {64, 8192, 65536}) {
        GemmSpec usual = problem(DataType::bf16, k);
        usual.d = DataType::f32;
        GemmSpec symmetric = usual;
        symmetric.symmetric = true;
        std::vector<double> products(static_cast<std::size_t>(k));
        ReferenceElement expected;
        for (double& product : products) {
            const std::uint32_t a = element_bits(normal(random), DataType::bf16);
            product = std::pow(element_value(&a, DataType::bf16, 0), 2);
            expected.value += product;
            expected.magnitude += product;
        }
        const double sum = truncating_sum(products);
        CHECK(relative_error(symmetric, expected, sum, false) < 0.8);
        if (k > 64) CHECK(relative_error(usual, expected, sum, false) > 1);
    }
}

TEST_CASE("beyond D's largest value infinity of its sign is right, and nothing else") {
    const double infinity = std::numeric_limits<double>::infinity();
    const GemmSpec f16 = problem(DataType::f16, 64);
    for (const double sign : {1.0, -1.0}) {
        const auto error = [&](double expected, double got) {
            return relative_error(f16, {.value = sign * expected, .magnitude = expected}, sign * got, false);
        };
        CHECK(error(71400, infinity) <= 1);
        CHECK(error(1e30, infinity) <= 1);
        CHECK(error(71400, -infinity) > 1);
        CHECK(error(71400, 65504) > 1);
        CHECK(error(71400, 1) > 1);
        CHECK(error(71400, std::nan("")) > 1);
        CHECK(error(65521, infinity) <= 1);  // 65520 is half a step beyond the largest value:
        CHECK(error(65521, 65504) <= 1);     // with the sum's error either
        CHECK(error(65519.99, infinity) <= 1);
        CHECK(error(65519, infinity) > 1);
        CHECK(error(65504, 65504) <= 1);
        CHECK(error(65000, infinity) > 1);
    }
    const auto saturated = [](DataType type, double expected, double got) {
        GemmSpec spec = problem(DataType::bf16, 64);
        spec.d = type;
        return relative_error(spec, {.value = expected, .magnitude = std::fabs(expected)}, got, false);
    };
    CHECK(saturated(DataType::e4m3, 1000, 448) <= 1);
    CHECK(saturated(DataType::e4m3, 1000, 416) > 1);
    CHECK(saturated(DataType::f32, -1e39, -infinity) <= 1);
    CHECK(saturated(DataType::bf16, 1e39, 1) > 1);
}

TEST_CASE("exact comparison knows one right value, zeros of either sign, and no NaN") {
    const GemmSpec spec = problem(DataType::bf16, 64);
    CHECK(relative_error(spec, {.value = 257}, 256, true) == 0);  // ties to even
    CHECK(relative_error(spec, {.value = 257}, 258, true) > 1);
    CHECK(relative_error(spec, {.value = 259}, 260, true) == 0);
    CHECK(relative_error(spec, {.value = 0}, -0.0, true) == 0);
    CHECK(relative_error(spec, {.value = 0}, std::nan(""), true) > 1);
    CHECK(relative_error(spec, {.value = 1, .magnitude = 1}, std::nan(""), false) > 1);
    CHECK(relative_error(spec, {.value = 1, .magnitude = 1}, std::numeric_limits<double>::infinity(), false) > 1);
}
