#include "runtime/support/element_codec.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm;

namespace {

struct Conversion {
    float value = 0;
    std::uint16_t f16 = 0;
    std::uint16_t bf16 = 0;
};

/// numpy's and ml_dtypes' conversions of a few hundred values: specials, halfway cases, both ends of every range,
/// random ones.
std::vector<Conversion> numpy_conversions() {
    std::ifstream file(JITGEMM_SOURCE_DIR "/tests/data/half_conversions.txt");
    std::vector<Conversion> conversions;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::uint32_t value = 0, f16 = 0, bf16 = 0;
        words >> std::hex >> value >> f16 >> bf16;
        conversions.push_back(
            {std::bit_cast<float>(value), static_cast<std::uint16_t>(f16), static_cast<std::uint16_t>(bf16)});
    }
    return conversions;
}

bool is_nan_f16(std::uint32_t bits) { return (bits & 0x7fffU) > 0x7c00U; }
bool is_nan_bf16(std::uint32_t bits) { return (bits & 0x7fffU) > 0x7f80U; }

}  // namespace

TEST_CASE("f32 becomes f16 and bf16 as in numpy, bit for bit") {
    const std::vector<Conversion> conversions = numpy_conversions();
    REQUIRE(conversions.size() > 300);
    for (const Conversion& conversion : conversions) {
        INFO(conversion.value);
        CHECK(f16_from_f32(conversion.value) == conversion.f16);
        CHECK(bf16_from_f32(conversion.value) == conversion.bf16);
    }
}

TEST_CASE("one rounding from double agrees with numpy where the double is an f32") {
    for (const Conversion& conversion : numpy_conversions()) {
        INFO(conversion.value);
        CHECK(element_bits(static_cast<double>(conversion.value), DataType::f16) == conversion.f16);
        CHECK(element_bits(static_cast<double>(conversion.value), DataType::bf16) == conversion.bf16);
    }
}

TEST_CASE("rounding from double is not done twice") {
    // Just above the middle of two f16 values; by way of f32 it would become the middle and then tie to even,
    // downwards.
    CHECK(element_bits(1.0 + 0x1p-11 + 0x1p-40, DataType::f16) == 0x3c01);
    CHECK(element_bits(1.0 + 0x1p-8 + 0x1p-40, DataType::bf16) == 0x3f81);
    CHECK(element_bits(1.0 + 0x1p-24 + 0x1p-50, DataType::f32) == 0x3f800001);
}

TEST_CASE("every f16 and bf16 value comes back from f32 as it was") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if (is_nan_f16(bits)) {
            REQUIRE(std::isnan(f32_from_f16(half)));
            REQUIRE(is_nan_f16(f16_from_f32(f32_from_f16(half))));
        } else {
            REQUIRE(f16_from_f32(f32_from_f16(half)) == half);
            REQUIRE(element_bits(element_value(&half, DataType::f16, 0), DataType::f16) == half);
        }
        if (is_nan_bf16(bits)) {
            REQUIRE(std::isnan(f32_from_bf16(half)));
            REQUIRE(is_nan_bf16(bf16_from_f32(f32_from_bf16(half))));
        } else {
            REQUIRE(bf16_from_f32(f32_from_bf16(half)) == half);
            REQUIRE(element_bits(element_value(&half, DataType::bf16, 0), DataType::bf16) == half);
        }
    }
}

TEST_CASE("8-bit types have the values their definitions give") {
    const auto value = [](std::uint8_t bits, DataType type) { return element_value(&bits, type, 0); };
    CHECK(value(0x7e, DataType::e4m3) == 448.0);  // OCP 8-bit floating point, table 1
    CHECK(value(0x08, DataType::e4m3) == 0x1p-6);
    CHECK(value(0x01, DataType::e4m3) == 0x1p-9);
    CHECK(std::isnan(value(0x7f, DataType::e4m3)));
    CHECK(value(0x7b, DataType::e5m2) == 57344.0);
    CHECK(value(0x01, DataType::e5m2) == 0x1p-16);
    CHECK(std::isinf(value(0x7c, DataType::e5m2)));
    CHECK(value(0xff, DataType::s8) == -1.0);
    CHECK(element_bits(1000.0, DataType::e4m3) == 0x7e);  // saturates: there is no infinity
    CHECK(element_bits(-200.0, DataType::s8) == 0x80);
    CHECK(element_bits(-3.0, DataType::s32) == 0xfffffffd);
}

TEST_CASE("elements are converted in bulk, also from unaligned data") {
    const std::vector<float> values = {1.0F, -2.5F, 65504.0F, 0x1p-24F};
    std::vector<std::byte> unaligned(1 + 2 * values.size());
    convert_elements(values.data(), DataType::f32, unaligned.data() + 1, DataType::f16, values.size());
    std::vector<float> back(values.size());
    convert_elements(unaligned.data() + 1, DataType::f16, back.data(), DataType::f32, back.size());
    CHECK(back == values);
    CHECK_THROWS_AS(convert_elements(values.data(), DataType::f32, unaligned.data(), DataType::s8, 1), Error);
}
