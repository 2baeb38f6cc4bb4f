#include "runtime/emulator/float_arithmetic.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_bits.hpp"

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace jitgemm;
using jitgemm::testing::RandomBits;
namespace emulator = jitgemm::emulator;
using emulator::FloatMode;
using emulator::FloatType;
using emulator::Rounding;

namespace {

constexpr std::uint32_t kNan16 = 0x7fff;
constexpr std::uint32_t kNan32 = 0x7fffffff;

std::uint32_t bits32(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits64(double value) { return std::bit_cast<std::uint64_t>(value); }
float float32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

/// f32 bits with every class of number: any bits, close exponents, special values and their neighbours.
std::uint32_t random_f32(RandomBits& random) {
    constexpr std::array<std::uint32_t, 16> kSpecial{
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
        0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f7fffff, 0x3f800001};
    const auto bits = static_cast<std::uint32_t>(random.next());
    switch (random.below(4)) {
        case 0: return kSpecial[random.below(16)];
        case 1: return (bits & 0x807fffffU) | ((120U + random.below(14)) << 23);
        case 2: return (bits & 0x807ff000U) | (random.below(20) << 23);
        default: return bits;
    }
}

std::uint16_t random_half(RandomBits& random) {
    const auto bits = static_cast<std::uint16_t>(random.next());
    return random.below(3) == 0 ? static_cast<std::uint16_t>((bits & 0x83ffU) | 0x3800U | (random.below(4) << 10))
                                : bits;
}

/// The host's operation in another rounding mode.
template <typename Operation>
std::uint32_t host(int mode, Operation operation) {
    const int before = std::fegetround();
    std::fesetround(mode);
    const volatile float result = operation();
    std::fesetround(before);
    const float value = result;
    return std::isnan(value) ? kNan32 : bits32(value);
}

struct HostMode {
    Rounding rounding;
    int fenv;
};
constexpr std::array kModes{HostMode{Rounding::nearest_even, FE_TONEAREST}, HostMode{Rounding::zero, FE_TOWARDZERO},
                            HostMode{Rounding::down, FE_DOWNWARD}, HostMode{Rounding::up, FE_UPWARD}};

/// Rounded by looking for the neighbours: shares no code with the functions under test.
std::uint32_t f16_by_search(double value) {
    if (std::isnan(value)) return kNan16;
    const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0) return sign | 0x7c00U;
    std::uint32_t low = 0, high = 0x7bff;
    while (low < high) {  // the largest f16 not above
        const std::uint32_t middle = (low + high + 1) / 2;
        if (static_cast<double>(f32_from_f16(static_cast<std::uint16_t>(middle))) <= magnitude) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const double below = static_cast<double>(f32_from_f16(static_cast<std::uint16_t>(low)));
    const double above =
        low == 0x7bff ? 65536.0 : static_cast<double>(f32_from_f16(static_cast<std::uint16_t>(low + 1)));
    const double to_low = magnitude - below, to_high = above - magnitude;
    const bool up = to_high < to_low || (to_high == to_low && low % 2 == 1);
    return sign | (low + (up ? 1 : 0));
}

double f16_number(std::uint32_t bits) { return static_cast<double>(f32_from_f16(static_cast<std::uint16_t>(bits))); }
double bf16_number(std::uint32_t bits) { return static_cast<double>(f32_from_bf16(static_cast<std::uint16_t>(bits))); }

/// Far from what over- or underflows.
bool is_moderate(double value) { return std::fabs(value) >= 0x1p-100 && std::fabs(value) < 0x1p126; }

/// Whether a double holds the sum (Knuth's TwoSum).
bool is_exact_sum(double x, double y) {
    const double sum = x + y, of_y = sum - x;
    return is_moderate(sum) && (x - (sum - of_y)) + (y - of_y) == 0;
}

/// Rounded to odd as f32, and from there once.
std::uint16_t bf16_of(double exact) {
    float near = static_cast<float>(exact);
    if (std::fabs(static_cast<double>(near)) > std::fabs(exact)) near = std::nextafter(near, 0.0F);
    const std::uint32_t sticky = static_cast<double>(near) != exact ? 1 : 0;
    return bf16_from_f32(std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) | sticky));
}

}  // namespace

TEST_CASE("f32 arithmetic has the host's bits in every rounding mode", "[heavy]") {
    RandomBits random(11);
    for (int i = 0; i < 200000; ++i) {
        const std::uint32_t a = random_f32(random), b = random_f32(random), c = random_f32(random);
        const volatile float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b), z = std::bit_cast<float>(c);
        for (const HostMode& mode : kModes) {
            const FloatMode with{.rounding = mode.rounding};
            INFO(std::hex << a << " " << b << " " << c << " mode " << static_cast<int>(mode.rounding));
            REQUIRE(emulator::add(FloatType::f32, a, b, with) == host(mode.fenv, [&] { return x + y; }));
            REQUIRE(emulator::sub(FloatType::f32, a, b, with) == host(mode.fenv, [&] { return x - y; }));
            REQUIRE(emulator::mul(FloatType::f32, a, b, with) == host(mode.fenv, [&] { return x * y; }));
            REQUIRE(emulator::div(FloatType::f32, a, b, with) == host(mode.fenv, [&] { return x / y; }));
            REQUIRE(emulator::sqrt(FloatType::f32, a, with) == host(mode.fenv, [&] { return std::sqrt(x); }));
            if (mode.fenv == FE_TONEAREST)
                REQUIRE(emulator::fma(FloatType::f32, a, b, c, with) ==
                        host(mode.fenv, [&] { return std::fma(x, y, z); }));
        }
        REQUIRE(emulator::add_f32(a, b) == emulator::add(FloatType::f32, a, b));
        REQUIRE(emulator::sub_f32(a, b) == emulator::sub(FloatType::f32, a, b));
        REQUIRE(emulator::mul_f32(a, b) == emulator::mul(FloatType::f32, a, b));
        REQUIRE(emulator::fma_f32(a, b, c) == emulator::fma(FloatType::f32, a, b, c));
    }
}

TEST_CASE("f64 arithmetic has the host's bits") {
    RandomBits random(12);
    for (int i = 0; i < 50000; ++i) {
        const std::uint64_t a = random.next(),
                            b = random.below(2) != 0 ? random.next() : a ^ (random.next() & 0xffffff),
                            c = random.next();
        const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), z = std::bit_cast<double>(c);
        const auto same = [](std::uint64_t bits, double value) {
            return std::isnan(value) ? std::isnan(std::bit_cast<double>(bits)) : bits == bits64(value);
        };
        REQUIRE(same(emulator::add(FloatType::f64, a, b), x + y));
        REQUIRE(same(emulator::mul(FloatType::f64, a, b), x * y));
        REQUIRE(same(emulator::div(FloatType::f64, a, b), x / y));
        REQUIRE(same(emulator::sqrt(FloatType::f64, a), std::sqrt(x)));
        REQUIRE(same(emulator::fma(FloatType::f64, a, b, c), std::fma(x, y, z)));
    }
}

TEST_CASE("f16 conversions: every f16, and f32 around every rounding boundary") {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const float value = f32_from_f16(static_cast<std::uint16_t>(bits));
        const std::uint64_t widened = emulator::convert_float(FloatType::f16, FloatType::f32, bits);
        REQUIRE(widened == (std::isnan(value) ? kNan32 : bits32(value)));
        if (!std::isfinite(value)) continue;
        REQUIRE(emulator::convert_float(FloatType::f32, FloatType::f16, widened) == bits);
        // Half way to the next f16, and the neighbours of that.
        const float next = f32_from_f16(static_cast<std::uint16_t>(bits + 1));
        if (!std::isfinite(next)) continue;
        const float middle = (value + next) / 2;
        for (const float near : {middle, std::nextafter(middle, 1e9F), std::nextafter(middle, -1e9F)})
            REQUIRE(emulator::convert_float(FloatType::f32, FloatType::f16, bits32(near)) ==
                    f16_by_search(static_cast<double>(near)));
    }
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::f16, bits32(65520.0F)) == 0x7c00);
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::f16, bits32(65520.0F), {.rounding = Rounding::zero}) ==
            0x7bff);
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::f16, bits32(1e9F), {.saturate_finite = true}) == 0x7bff);
}

TEST_CASE("f16 arithmetic is the exact result rounded once") {
    RandomBits random(13);
    for (int i = 0; i < 100000; ++i) {
        const std::uint16_t a = random_half(random), b = random_half(random);
        INFO(std::hex << a << " " << b);
        REQUIRE(emulator::add_f16(a, b) == f16_by_search(f16_number(a) + f16_number(b)));  // exact in double
        REQUIRE(emulator::add_f16(a, b) == emulator::add(FloatType::f16, a, b));
        REQUIRE(emulator::mul(FloatType::f16, a, b) == f16_by_search(f16_number(a) * f16_number(b)));
#if defined(__FLT16_MANT_DIG__) && defined(__SIZEOF_INT128__)
        const auto half = [](std::uint16_t bits) { return std::bit_cast<_Float16>(bits); };
        const _Float16 quotient = half(a) / half(b);
        const auto expected = std::bit_cast<std::uint16_t>(quotient);
        REQUIRE(emulator::div(FloatType::f16, a, b) ==
                ((expected & 0x7fffU) > 0x7c00U ? kNan16 : std::uint32_t{expected}));
#endif
    }
}

TEST_CASE("a half fma that two roundings would get wrong") {
    // (1 + 2^-10)^2 - 2^-11 lies 2^-20 above the middle of two f16: a product rounded first would lose it.
    REQUIRE(emulator::fma(FloatType::f16, 0x3c01, 0x3c01, 0x9000) == f16_by_search(0x1.00801p0 - 0x1p-11));
    // (1 + 2^-7) · 1.5 is a tie of bf16, which an addend of 2^-60 decides: no double holds that sum.
    const std::uint16_t a = 0x3f81, b = 0x3fc0, tiny = 0x2180, minus_tiny = 0xa180;
    REQUIRE(emulator::mul(FloatType::bf16, a, b) == 0x3fc2);  // to even
    REQUIRE(emulator::fma(FloatType::bf16, a, b, tiny) == 0x3fc2);
    REQUIRE(emulator::fma(FloatType::bf16, a, b, minus_tiny) == 0x3fc1);
}

TEST_CASE("bf16 arithmetic is the exact result rounded once") {
    RandomBits random(14);
    for (int i = 0; i < 100000; ++i) {
        const auto a = static_cast<std::uint16_t>(random.next());
        const auto b = random.below(2) != 0 ? static_cast<std::uint16_t>(random.next())
                                            : static_cast<std::uint16_t>(a ^ (random.next() & 0x83ff));
        const auto c = static_cast<std::uint16_t>(random.next());
        INFO(std::hex << a << " " << b << " " << c);
        const double x = bf16_number(a), y = bf16_number(b), z = bf16_number(c);
        if (is_moderate(x * y)) REQUIRE(emulator::mul(FloatType::bf16, a, b) == bf16_of(x * y));
        if (is_exact_sum(x, y)) REQUIRE(emulator::add(FloatType::bf16, a, b) == bf16_of(x + y));
        if (is_moderate(x * y) && is_exact_sum(x * y, z))
            REQUIRE(emulator::fma(FloatType::bf16, a, b, c) == bf16_of(x * y + z));
    }
}

TEST_CASE("ftz, sat and relu") {
    const std::uint32_t subnormal = 0x00400000, negative_subnormal = 0x80400000;
    const FloatMode ftz{.flush_subnormals = true};
    REQUIRE(emulator::add(FloatType::f32, negative_subnormal, 0x80000000, ftz) == 0x80000000);
    REQUIRE(emulator::mul(FloatType::f32, subnormal, bits32(1024.0F), ftz) == 0);
    REQUIRE(emulator::mul(FloatType::f32, 0x80800000, bits32(0.5F), ftz) == 0x80000000);
    const FloatMode sat{.saturate = true};
    REQUIRE(emulator::add(FloatType::f32, bits32(0.75F), bits32(0.75F), sat) == bits32(1.0F));
    REQUIRE(emulator::add(FloatType::f32, bits32(-3.0F), bits32(1.0F), sat) == 0);
    REQUIRE(emulator::mul(FloatType::f32, kNan32, bits32(1.0F), sat) == 0);
    REQUIRE(emulator::fma_x2(FloatType::f16, 0x3c003c00, 0xbc003c00, 0x00000000, {.relu = true}) == 0x00003c00);
    REQUIRE(emulator::fma_x2(FloatType::bf16, 0x7fc03f80, 0x3f803f80, 0x00000000, {.relu = true}) == 0x7fff3f80);
    REQUIRE_THROWS_AS(emulator::add(FloatType::e4m3, 0, 0), std::invalid_argument);
}

TEST_CASE("ftz looks at the result rounded as if exponents had no end") {
    const FloatMode ftz{.flush_subnormals = true};
    // 2^-14 · (1 - 0.484 · 2^-10): a subnormal's steps round it up to 2^-14, the eleven bits of a normal number do not.
    REQUIRE(emulator::mul(FloatType::f16, 0x9d28, 0xa234) == 0x0400);
    REQUIRE(emulator::mul(FloatType::f16, 0x9d28, 0xa234, ftz) == 0);
    // 2^-14 · (1 - 0.074 · 2^-10) becomes 2^-14 either way.
    REQUIRE(emulator::mul(FloatType::f16, 0xa708, 0x988d, ftz) == 0x0400);
    // f32: 2^-126 · (1 - 2^-24) and 2^-126 · (1 - 2^-25), as f64.
    const auto narrowed = [](std::uint64_t bits, Rounding rounding) {
        return emulator::convert_float(FloatType::f64, FloatType::f32, bits,
                                       {.rounding = rounding, .flush_subnormals = true});
    };
    REQUIRE(narrowed(0x380fffffe0000000, Rounding::nearest_even) == 0);
    REQUIRE(narrowed(0x380ffffff0000000, Rounding::nearest_even) == 0x00800000);
    REQUIRE(narrowed(0x380ffffff0000000, Rounding::zero) == 0);
    REQUIRE(narrowed(0xb80ffffff0000000, Rounding::up) == 0x80000000);
    REQUIRE(narrowed(0xb80ffffff0000000, Rounding::down) == 0x80800000);
}

TEST_CASE("ftz leaves conversions from f32 to f16 alone") {
    const emulator::ConversionMode up{.rounding = Rounding::up, .flush_subnormals = true};
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::f16, 0x007a7a33, up) == 0x0001);
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::bf16, 0x007a7a33, up) == 0);
}

TEST_CASE("conversions of NaN") {
    const auto tf32 = [](std::uint32_t bits, Rounding rounding) {
        return emulator::convert_float(FloatType::f32, FloatType::tf32, bits, {.rounding = rounding});
    };
    REQUIRE(tf32(0xff9f4765, Rounding::nearest_even) == 0x7fffe000);
    REQUIRE(tf32(0xffe0181f, Rounding::nearest_away) == 0xffe00000);
    REQUIRE(tf32(0x7fa120e8, Rounding::nearest_away) == 0x7fa12000);
    REQUIRE(emulator::convert_float(FloatType::f64, FloatType::f32, 0x7ff676e00b454132) == 0x7ff3b700);
    REQUIRE(emulator::convert_float(FloatType::f64, FloatType::f32, 0xffff321222bc13f2) == 0xfff99091);
    REQUIRE(emulator::convert_float(FloatType::f64, FloatType::f32, 0x7ff8000000000000, {.saturate = true}) == 0);
    REQUIRE(emulator::convert_float(FloatType::f64, FloatType::f16, 0xfff8000000000001) == 0x7fff);
}

TEST_CASE("min and max: NaN, zeros, xorsign.abs") {
    const std::uint32_t one = bits32(1.0F), minus_two = bits32(-2.0F);
    REQUIRE(emulator::min(FloatType::f32, kNan32, one) == one);
    REQUIRE(emulator::max(FloatType::f32, one, 0x7fc00000) == one);
    REQUIRE(emulator::max(FloatType::f32, 0xffc00000, 0x7fc00001) == kNan32);
    REQUIRE(emulator::min(FloatType::f32, one, 0x7fc00000, {.propagate_nan = true}) == kNan32);
    REQUIRE(emulator::min(FloatType::f32, 0, 0x80000000) == 0x80000000);
    REQUIRE(emulator::max(FloatType::f32, 0x80000000, 0) == 0);
    REQUIRE(emulator::max(FloatType::f32, one, minus_two, {.xor_sign_of_abs = true}) == minus_two);
    REQUIRE(emulator::min(FloatType::f32, one, minus_two, {.xor_sign_of_abs = true}) == bits32(-1.0F));
    REQUIRE(emulator::max_x2(FloatType::f16, 0x3c00fe00, 0xbc00c000) == 0x3c00c000);
    REQUIRE(emulator::neg_x2(FloatType::f16, 0x00018000) == 0x80010000);
    REQUIRE(emulator::abs_x2(FloatType::bf16, 0x8001ffff, true) == 0x00007fff);
    REQUIRE(emulator::compare(FloatType::f16, 0x8000, 0) == emulator::Ordering::equal);
    REQUIRE(emulator::compare(FloatType::f32, minus_two, one) == emulator::Ordering::less);
    REQUIRE(emulator::compare(FloatType::f32, kNan32, kNan32) == emulator::Ordering::unordered);
}

TEST_CASE("8-bit floats: every value, and rounding with saturation") {
    for (const auto& [type, data] :
         {std::pair{FloatType::e4m3, DataType::e4m3}, std::pair{FloatType::e5m2, DataType::e5m2}}) {
        for (std::uint32_t bits = 0; bits < 256; ++bits) {
            const double value = element_value(&bits, data, 0);
            const std::uint64_t half = emulator::convert_float(type, FloatType::f16, bits);
            if (std::isnan(value)) {
                REQUIRE(half == kNan16);
                continue;
            }
            REQUIRE(f16_number(static_cast<std::uint32_t>(half)) == value);
            if (std::isfinite(value)) REQUIRE(emulator::convert_float(FloatType::f16, type, half) == bits);
        }
    }
    const auto e4m3 = [](float value) {
        return emulator::convert_float(FloatType::f32, FloatType::e4m3, bits32(value));
    };
    REQUIRE(e4m3(448.0F) == 0x7e);
    REQUIRE(e4m3(1e9F) == 0x7e);
    REQUIRE(e4m3(-HUGE_VALF) == 0xfe);
    REQUIRE(e4m3(std::nanf("")) == 0x7f);
    REQUIRE(e4m3(0x1p-10F) == 0);      // half the smallest: to even
    REQUIRE(e4m3(0x1.8p-9F) == 0x02);  // 1.5 of the smallest
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::e5m2, bits32(HUGE_VALF)) == 0x7b);
    REQUIRE(emulator::pack_x2(FloatType::e4m3, bits32(1.0F), bits32(-2.0F)) == 0x38c0);
    REQUIRE(emulator::pack_x2(FloatType::bf16, bits32(1.0F), bits32(-2.0F)) == 0x3f80c000);
    REQUIRE(emulator::pack_x2(FloatType::f16, bits32(-1.0F), bits32(2.0F), {.relu = true}) == 0x00004000);
    REQUIRE(emulator::narrow_x2(FloatType::f16, FloatType::e5m2, 0x3c00c000) == 0x3cc0);
    REQUIRE(emulator::widen_x2(FloatType::e4m3, FloatType::f16, 0x38c0) == 0x3c00c000);
}

TEST_CASE("tf32 rounds away from zero with rna and keeps 13 zero bits") {
    const auto rna = [](std::uint32_t bits) {
        return emulator::convert_float(FloatType::f32, FloatType::tf32, bits, {.rounding = Rounding::nearest_away});
    };
    REQUIRE(rna(0x3f801000) == 0x3f802000);
    REQUIRE(rna(0x3f800fff) == 0x3f800000);
    REQUIRE(rna(0xbf801000) == 0xbf802000);
    REQUIRE(rna(0x7f7fffff) == 0x7f800000);
    REQUIRE(emulator::convert_float(FloatType::f32, FloatType::tf32, 0x3f801000) == 0x3f800000);
}

TEST_CASE("float to integer: rounding, clamping, NaN") {
    RandomBits random(15);
    const emulator::IntegerType s32{32, true}, u32{32, false}, s8{8, true}, u64{64, false}, s64{64, true};
    for (int i = 0; i < 50000; ++i) {
        const std::uint32_t a = random_f32(random);
        const float value = std::bit_cast<float>(a);
        if (std::isnan(value)) continue;
        const double whole = std::nearbyint(static_cast<double>(value));
        const double clamped = std::fmin(std::fmax(whole, -2147483648.0), 2147483647.0);
        REQUIRE(emulator::convert_to_integer(FloatType::f32, s32, a, Rounding::nearest_even) ==
                static_cast<std::uint64_t>(static_cast<std::int64_t>(clamped)));
        const double down = std::fmin(std::fmax(std::floor(static_cast<double>(value)), 0.0), 4294967295.0);
        REQUIRE(emulator::convert_to_integer(FloatType::f32, u32, a, Rounding::down) ==
                static_cast<std::uint64_t>(down));
    }
    const auto to = [](emulator::IntegerType type, float value, Rounding rounding = Rounding::zero) {
        return static_cast<std::int64_t>(emulator::convert_to_integer(FloatType::f32, type, bits32(value), rounding));
    };
    REQUIRE(to(s8, -200.0F) == -128);
    REQUIRE(to(s8, 127.5F, Rounding::up) == 127);
    REQUIRE(to(s64, 1e30F) == std::numeric_limits<std::int64_t>::max());
    REQUIRE(to(s64, -1e30F) == std::numeric_limits<std::int64_t>::min());
    REQUIRE(static_cast<std::uint64_t>(to(u64, 1e30F)) == ~std::uint64_t{0});
    REQUIRE(to(s32, std::nanf("")) == 0);
    REQUIRE(static_cast<std::uint64_t>(to(u64, std::nanf(""))) == std::uint64_t{1} << 63);
    REQUIRE(to(s32, -0.5F, Rounding::down) == -1);
}

TEST_CASE("integer to float and integer to integer") {
    RandomBits random(16);
    const emulator::IntegerType s32{32, true}, u64{64, false}, s64{64, true}, u8{8, false}, s16{16, true};
    for (int i = 0; i < 50000; ++i) {
        const std::uint64_t word = random.next() >> random.below(64);
        REQUIRE(emulator::convert_from_integer(u64, FloatType::f32, word) == bits32(static_cast<float>(word)));
        REQUIRE(emulator::convert_from_integer(s64, FloatType::f64, word) ==
                bits64(static_cast<double>(static_cast<std::int64_t>(word))));
        REQUIRE(emulator::convert_from_integer(s32, FloatType::f32, word) ==
                bits32(static_cast<float>(static_cast<std::int32_t>(word))));
    }
    REQUIRE(emulator::convert_from_integer(s32, FloatType::f16, 100000) == 0x7c00);
    REQUIRE(emulator::convert_integer(s32, u8, 300, true) == 255);
    REQUIRE(emulator::convert_integer(s32, u8, static_cast<std::uint32_t>(-5), true) == 0);
    REQUIRE(emulator::convert_integer(s32, s16, 0x12348765) == 0xffff'ffff'ffff'8765ULL);
    REQUIRE(emulator::convert_integer(u8, s32, 0x1ff) == 0xff);
}

TEST_CASE("rounding to whole floats keeps the sign of zero") {
    const auto rni = [](float value, Rounding rounding) {
        return float32(emulator::convert_float(FloatType::f32, FloatType::f32, bits32(value),
                                               {.rounding = rounding, .to_integral = true}));
    };
    REQUIRE(rni(2.5F, Rounding::nearest_even) == 2.0F);
    REQUIRE(rni(-2.5F, Rounding::down) == -3.0F);
    REQUIRE(std::signbit(rni(-0.25F, Rounding::nearest_even)));
    REQUIRE(rni(1e30F, Rounding::up) == 1e30F);
    const auto saturated = emulator::convert_float(FloatType::f32, FloatType::f32, bits32(3.0F), {.saturate = true});
    REQUIRE(float32(saturated) == 1.0F);
}

TEST_CASE("approximations keep the ISA's bounds and special values") {
    using emulator::Approximation;
    RandomBits random(17);
    for (int i = 0; i < 20000; ++i) {
        const float x = 200.0F * (static_cast<float>(random.below(1U << 24)) * 0x1p-23F - 1.0F);
        const auto approximate = [&](Approximation function, float value) {
            return static_cast<double>(float32(emulator::approximate(function, FloatType::f32, bits32(value))));
        };
        if (std::fabs(x) < 120.0F)
            REQUIRE(std::fabs(approximate(Approximation::ex2, x) / std::exp2(static_cast<double>(x)) - 1) < 0x1p-22);
        REQUIRE(std::fabs(approximate(Approximation::tanh, x) - std::tanh(static_cast<double>(x))) < 0x1p-11);
        if (x != 0) REQUIRE(std::fabs(approximate(Approximation::rcp, x) * static_cast<double>(x) - 1) < 0x1p-22);
    }
    const auto special = [](Approximation function, std::uint32_t bits) {
        return emulator::approximate(function, FloatType::f32, bits);
    };
    REQUIRE(special(Approximation::ex2, 0xff800000) == 0);
    REQUIRE(special(Approximation::ex2, 0x80000001) == bits32(1.0F));
    REQUIRE(special(Approximation::rcp, 0x80000000) == 0xff800000);
    REQUIRE(special(Approximation::rsqrt, 0x80000000) == 0xff800000);
    REQUIRE(special(Approximation::rsqrt, bits32(-1.0F)) == kNan32);
    REQUIRE(special(Approximation::lg2, 0) == 0xff800000);
    REQUIRE(special(Approximation::lg2, bits32(-1.0F)) == kNan32);
    REQUIRE(special(Approximation::tanh, 0x7f800000) == bits32(1.0F));
    REQUIRE(special(Approximation::sin, 0x7f800000) == kNan32);
    REQUIRE(emulator::approximate(Approximation::tanh, FloatType::bf16, 0xff80) == 0xbf80);
    REQUIRE(emulator::approximate_div(bits32(1.0F), 0x7effffff) == 0);  // |b| above 2^126
    REQUIRE(emulator::approximate_div(0x7f800000, 0x7effffff) == kNan32);
    REQUIRE(emulator::approximate_div(bits32(1.0F), bits32(4.0F)) == bits32(0.25F));
    REQUIRE(emulator::approximate_div(bits32(0x1p126F), 0x7effffff, false, true) == bits32(0x1p126F / 0x1.fffffep126F));
}
