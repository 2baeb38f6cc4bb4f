#include "tests/support/eight_bits.hpp"

#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>

namespace jitgemm::testing {
namespace {

constexpr int kNumbers = 256;
constexpr int kPitch = 16;

/// A row for each number, with one element of K.
std::vector<std::uint8_t> every_number() {
    std::vector<std::uint8_t> numbers(kNumbers * kPitch);
    for (std::size_t i = 0; i < kNumbers; ++i) numbers[i * kPitch] = static_cast<std::uint8_t>(i);
    return numbers;
}

/// The finite magnitude that is nearest, of two the one with an even byte; the largest beyond it.
unsigned nearest(double magnitude, DataType type) {
    const unsigned largest = type == DataType::e4m3 ? 0x7e : 0x7b;
    unsigned best = 0;
    for (unsigned byte = 0; byte <= largest; ++byte) {
        const double distance = std::fabs(float8_value(byte, type) - magnitude);
        const double least = std::fabs(float8_value(best, type) - magnitude);
        if (distance < least || (distance == least && byte % 2 == 0)) best = byte;
    }
    return std::isinf(magnitude) ? largest : best;
}

/// D (m, n) of A (m, k) and B (n, k), both rows of bytes.
template <typename ElementD, typename Byte>
std::vector<ElementD> product(Context& context, const GemmKernel& kernel, const std::vector<Byte>& a,
                              const std::vector<Byte>& b, float alpha = 1.0F) {
    const GemmSpec& spec = kernel.spec();
    std::vector<ElementD> result(static_cast<std::size_t>(spec.m * spec.n));
    DeviceBuffer device_a = context.allocate(a.size()), device_b = context.allocate(b.size());
    DeviceBuffer device_d = context.allocate(result.size() * sizeof(ElementD));
    device_a.copy_from_host(a.data(), a.size());
    device_b.copy_from_host(b.data(), b.size());
    kernel.launch({.a = device_a.data(), .b = device_b.data(), .d = device_d.data(), .alpha = alpha});
    context.synchronize();
    device_d.copy_to_host(result.data(), result.size() * sizeof(ElementD));
    return result;
}

GemmKernel kernel_with(Context& context, const GemmSpec& spec, const std::string& config) {
    return state_of(context).build(problem_of(spec), KernelConfig{wgmma_config(config)});
}

GemmSpec spec_of_every_pair(DataType a, DataType b) {
    GemmSpec spec = float8_spec(kNumbers, kNumbers, 1, a, b);
    spec.lda = spec.ldb = kPitch;
    return spec;
}

std::vector<std::uint8_t> random_finite(std::int64_t count, DataType type, std::uint64_t seed) {
    RandomBits random(seed);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    for (std::uint8_t& byte : bytes) do
            byte = static_cast<std::uint8_t>(random.below(kNumbers));
        while (!std::isfinite(float8_value(byte, type)));
    return bytes;
}

}  // namespace

double float8_value(unsigned byte, DataType type) {
    const int fraction_bits = type == DataType::e4m3 ? 3 : 2;
    const int top = type == DataType::e4m3 ? 15 : 31;
    const int bias = type == DataType::e4m3 ? 7 : 15;
    const int field = static_cast<int>(byte >> fraction_bits) & top;
    const int fraction = static_cast<int>(byte & ((1U << fraction_bits) - 1));
    const double sign = byte >= 128 ? -1 : 1;
    if (type == DataType::e4m3 && field == top && fraction == 7) return std::nan("");
    if (type == DataType::e5m2 && field == top)
        return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    const int whole = fraction + (field == 0 ? 0 : 1 << fraction_bits);
    return sign * std::ldexp(whole, std::max(field, 1) - bias - fraction_bits);
}

GemmSpec float8_spec(std::int64_t m, std::int64_t n, std::int64_t k, DataType a, DataType b) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, a);
    spec.b = b;
    return spec;
}

GemmSpec int8_spec(std::int64_t m, std::int64_t n, std::int64_t k, DataType d) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, DataType::s8);
    spec.accumulator = DataType::s32;
    spec.d = d;
    return spec;
}

void check_every_pair(Context& context, DataType a, DataType b, Summation sums) {
    GemmSpec spec = spec_of_every_pair(a, b);
    spec.d = DataType::f32;
    spec.sums = sums;
    INFO(to_string(a) << " by " << to_string(b));
    const std::vector<float> d = product<float>(context, context.kernel(spec), every_number(), every_number());
    int wrong = 0;
    for (unsigned i = 0; i < kNumbers; ++i)
        for (unsigned j = 0; j < kNumbers; ++j) {
            const double right = float8_value(i, a) * float8_value(j, b);
            const double found = d[i * kNumbers + j];
            wrong += found == right || (std::isnan(found) && std::isnan(right)) ? 0 : 1;
        }
    CHECK(wrong == 0);
}

void check_float8_rounding(Context& context, DataType d_type) {
    GemmSpec spec = spec_of_every_pair(DataType::e4m3, DataType::e5m2);
    spec.d = d_type;
    INFO(to_string(d_type));
    const std::vector<std::uint8_t> d =
        product<std::uint8_t>(context, context.kernel(spec), every_number(), every_number());
    int wrong = 0;
    for (unsigned i = 0; i < kNumbers; ++i)
        for (unsigned j = 0; j < kNumbers; ++j) {
            const double right = float8_value(i, spec.a) * float8_value(j, spec.b);
            const unsigned found = d[i * kNumbers + j];
            if (std::isnan(right)) {
                wrong += std::isnan(float8_value(found, d_type)) ? 0 : 1;
                continue;
            }
            const unsigned magnitude = nearest(std::fabs(right), d_type);
            const unsigned sign = right < 0 ? 0x80 : 0;
            wrong += found == (magnitude | sign) || (magnitude == 0 && (found & 0x7fU) == 0) ? 0 : 1;
        }
    CHECK(wrong == 0);
}

void check_kept_bits(Context& context) {
    constexpr int kK = 256;
    constexpr std::uint8_t kOne = 0x38, kOf128 = 0x70, kOf64 = 0x68;
    std::vector<std::uint8_t> a(kK), b(kK);
    GemmSpec spec = float8_spec(1, 1, kK);
    spec.d = DataType::f32;
    const auto sum = [&](Summation sums, std::uint8_t large, std::size_t place_of_one) {
        a.assign(kK, 0);
        b.assign(kK, 0);
        a[0] = kOf128;
        b[0] = large;
        a[place_of_one] = b[place_of_one] = kOne;
        spec.sums = sums;
        return product<float>(context, context.kernel(spec), a, b).front();
    };
    for (const Summation sums : {Summation::fast, Summation::promoted}) {
        CHECK(sum(sums, kOf64, 1) == 8193);
        CHECK(sum(sums, kOf64, 200) == 8193);
        CHECK(sum(sums, kOf128, 100) == 16384);
    }
    CHECK(sum(Summation::fast, kOf128, 200) == 16384);
    CHECK(sum(Summation::promoted, kOf128, 200) == 16385);
}

std::vector<std::uint32_t> random_float8_sums(Context& context, Summation sums, const std::string& config) {
    GemmSpec spec = float8_spec(128, 64, 512, DataType::e4m3, DataType::e5m2);
    spec.d = DataType::f32;
    spec.sums = sums;
    const std::vector<float> d =
        product<float>(context, kernel_with(context, spec, config), random_finite(spec.m * spec.k, spec.a, 1),
                       random_finite(spec.n * spec.k, spec.b, 2));
    std::vector<std::uint32_t> bits;
    for (const float one : d) bits.push_back(std::bit_cast<std::uint32_t>(one));
    return bits;
}

Bytes::Bytes(std::int64_t rows, std::int64_t columns, std::int64_t pitch_of_rows, unsigned seed)
    : pitch(pitch_of_rows), elements(static_cast<std::size_t>(rows * pitch_of_rows)) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> byte(-128, 127);
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
            at(row, column) = static_cast<std::int8_t>(byte(random));
}

std::vector<double> int8_product(Context& context, GemmSpec spec, const Bytes& a, const Bytes& b,
                                 const std::string& config, float alpha) {
    spec.lda = a.pitch;
    spec.ldb = b.pitch;
    const GemmKernel kernel = kernel_with(context, spec, config);
    const auto widened = [](const auto& elements) { return std::vector<double>(elements.begin(), elements.end()); };
    if (spec.d == DataType::s8) return widened(product<std::int8_t>(context, kernel, a.elements, b.elements, alpha));
    return widened(product<std::int32_t>(context, kernel, a.elements, b.elements, alpha));
}

int count_wrong(const GemmSpec& spec, const Bytes& a, const Bytes& b, const std::vector<double>& d,
                const std::function<double(double)>& wanted) {
    int wrong = 0;
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            const std::int64_t place = spec.d_order == Order::row ? row * spec.n + column : column * spec.m + row;
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < spec.k; ++i) sum += a.at(row, i) * b.at(column, i);
            wrong += d[static_cast<std::size_t>(place)] == wanted(static_cast<double>(sum)) ? 0 : 1;
        }
    return wrong;
}

void check_int8_sums(Context& context, std::int64_t k, std::string_view variant, Order order) {
    const Bytes a(136, k, k % 16 == 0 ? k : k + 3, 1), b(208, k, (k + 15) / 16 * 16, 2);
    GemmSpec spec = int8_spec(136, 208, k);
    spec.d_order = order;
    spec.constant_a = spec.constant_b = variant.find("early") != std::string_view::npos;
    INFO(variant << ", k = " << k);
    CHECK(count_wrong(spec, a, b, int8_product(context, spec, a, b, std::string(variant)),
                      [](double sum) { return sum; }) == 0);
}

void check_int8_rounding(Context& context) {
    const Bytes a(64, 48, 48, 1), b(64, 48, 48, 2);
    const GemmSpec spec = int8_spec(64, 64, 48, DataType::s8);
    for (const float alpha : {0x1p-4F, 0x1p-9F, 0x1p-11F})
        CHECK(count_wrong(spec, a, b,
                          int8_product(context, spec, a, b, "block=64x64x128,warpgroup=64x64,stages=3", alpha),
                          [&](double sum) {
                              return std::clamp(std::nearbyint(sum * static_cast<double>(alpha)), -128.0, 127.0);
                          }) == 0);
}

}  // namespace jitgemm::testing
