#include "runtime/verify/reference_arithmetic.cuh"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"

#include <array>
#include <bit>
#include <random>

// The device's codecs against the host's, which share no formula with them and are themselves checked against numpy.

namespace {

constexpr std::array kTypes = {kF16, kBf16, kF32, kE4m3, kE5m2, kS8, kS32};

jitgemm::DataType host_type(ElementType type) { return static_cast<jitgemm::DataType>(type); }

bool same(double left, double right) {
    return (std::isnan(left) && std::isnan(right)) || std::bit_cast<Word>(left) == std::bit_cast<Word>(right);
}

bool is_nan(unsigned bits, ElementType type) { return std::isnan(decode(bits, type)); }

void check_encode(double value, ElementType type) {
    const unsigned device = encode(value, type);
    const unsigned host = jitgemm::element_bits(value, host_type(type));
    INFO(value << " as " << jitgemm::to_string(host_type(type)));
    REQUIRE((device == host || (is_nan(device, type) && is_nan(host, type))));
}

}  // namespace

TEST_CASE("device codecs decode every small value as the host does") {
    for (const ElementType type : kTypes) {
        const unsigned count = bytes_of(type) == 1 ? 0x100 : 0x10000;
        for (unsigned i = 0; i < count; ++i) {
            const unsigned bits = bytes_of(type) == 4 ? i * 0x10001U : i;
            REQUIRE(same(decode(bits, type), jitgemm::element_value(&bits, host_type(type), 0)));
        }
    }
}

TEST_CASE("device codecs round as the host does: halfway cases, subnormals, overflow, NaN") {
    std::mt19937_64 random(1);
    for (const ElementType type : {kF16, kBf16, kF32, kE4m3, kE5m2}) {
        for (int i = 0; i < 20000; ++i) {
            const double any = std::bit_cast<double>(random());
            check_encode(any, type);
            const auto exponent = static_cast<int>(random() % 300) - 160;
            const double near = std::ldexp(static_cast<double>(random() % 4096), exponent);  // few bits: many ties
            check_encode(near, type);
            check_encode(-std::nextafter(near, 1e300), type);
        }
    }
    for (const double value :
         {0.0, -0.0, 65519.99, 65520.0, 0x1p-24, 0x1p-25, 0x1.8p-25, 448.0, 464.0, 1e300, HUGE_VAL})
        for (const ElementType type : {kF16, kBf16, kF32, kE4m3, kE5m2}) check_encode(value, type);
}

TEST_CASE("device codecs round integers to the nearest, ties to even, and saturate") {
    CHECK(encode(2.5, kS8) == 2);
    CHECK(encode(1.5, kS8) == 2);
    CHECK(encode(-2.6, kS32) == 0xfffffffd);
    CHECK(encode(200, kS8) == 127);
    for (const ElementType type : {kS8, kS32})
        for (const double value :
             {0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, 126.5, 127.5, 200.0, -127.5, -128.6, 3e9, -3e9, 2147483646.5})
            check_encode(value, type);
}

TEST_CASE("random integers are uniform and reach both ends") {
    std::array<int, 17> counts{};
    for (Word i = 0; i < 17000; ++i) ++counts[below(random_word(5, i), 17)];
    for (const int count : counts) {
        CHECK(count > 850);
        CHECK(count < 1150);
    }
}

TEST_CASE("random normals have mean 0, variance 1 and tails") {
    double sum = 0, squares = 0, fourth = 0, largest = 0;
    constexpr int kCount = 200000;
    for (Word i = 0; i < kCount; ++i) {
        const double value = standard_normal(random_word(9, i));
        REQUIRE(std::isfinite(value));
        sum += value;
        squares += value * value;
        fourth += value * value * value * value;
        largest = std::fmax(largest, std::fabs(value));
    }
    CHECK(std::fabs(sum / kCount) < 0.01);
    CHECK(std::fabs(squares / kCount - 1) < 0.02);
    CHECK(std::fabs(fourth / kCount - 3) < 0.1);
    CHECK(largest > 4);
    CHECK(largest < 6.5);
}

TEST_CASE("random words of neighbouring seeds and positions have nothing in common") {
    int equal_bits = 0;
    for (Word i = 0; i < 1000; ++i) equal_bits += std::popcount(~(random_word(1, i) ^ random_word(2, i)));
    CHECK(std::abs(equal_bits - 32000) < 800);
    CHECK(random_word(1, 2) != random_word(2, 1));
}
