/// Products of f32 in parts and as tf32 on the emulator: no term is lost or counted twice, elements are
/// rounded as docs/single-precision.md says, errors stay within the bound that it promises, every variant and every
/// remainder of m, n and k.

#include "generator/base/math_promise.hpp"
#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Lines of A or of B along K.
struct Lines {
    /// Each element is what `make` returns.
    Lines(std::int64_t lines, std::int64_t k_of_lines, const std::function<float()>& make)
        : k(k_of_lines), elements(static_cast<std::size_t>(lines * k_of_lines)) {
        for (float& element : elements) element = make();
    }
    float& at(std::int64_t line, std::int64_t i) { return elements[static_cast<std::size_t>(line * k + i)]; }
    [[nodiscard]] double at(std::int64_t line, std::int64_t i) const {
        return elements[static_cast<std::size_t>(line * k + i)];
    }
    /// As the operand lies in memory.
    [[nodiscard]] std::vector<float> stored(bool is_k_major) const {
        if (is_k_major || k == 0) return elements;
        std::vector<float> turned(elements.size());
        const std::size_t length = static_cast<std::size_t>(k), lines = elements.size() / length;
        for (std::size_t i = 0; i < elements.size(); ++i) turned[i % length * lines + i / length] = elements[i];
        return turned;
    }

    std::int64_t k;
    std::vector<float> elements;
};

GemmSpec f32_spec(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k, Math math = Math::f16x3) {
    GemmSpec spec = spec_of(layout, m, n, k, DataType::f32);
    spec.math = math;
    return spec;
}

constexpr std::string_view kUsual = "block=64x64x64,warpgroup=64x64,stages=3,promote=32";
constexpr std::string_view kUsualTf32 = "block=64x64x64,warpgroup=64x64,stages=3";

std::vector<float> product_by(const GemmKernel& kernel, const GemmSpec& spec, const Lines& a, const Lines& b) {
    Context& context = on_hopper();
    const std::vector<float> stored_a = a.stored(order_a(spec.layout) == Order::row);
    const std::vector<float> stored_b = b.stored(order_b(spec.layout) == Order::column);
    std::vector<float> result(static_cast<std::size_t>(spec.m * spec.n));
    DeviceBuffer device_a = context.allocate(stored_a.size() * 4), device_b = context.allocate(stored_b.size() * 4);
    DeviceBuffer device_d = context.allocate(result.size() * 4);
    device_a.copy_from_host(stored_a.data(), stored_a.size() * 4);
    device_b.copy_from_host(stored_b.data(), stored_b.size() * 4);
    kernel.launch({.a = device_a.data(), .b = device_b.data(), .d = device_d.data()});
    context.synchronize();
    device_d.copy_to_host(result.data(), result.size() * 4);
    return result;
}

std::vector<float> product(const GemmSpec& spec, const Lines& a, const Lines& b, std::string_view config = kUsual) {
    return product_by(state_of(on_hopper()).build(problem_of(spec), KernelConfig{wgmma_config(config)}), spec, a, b);
}

/// In its source, `instead` replaces `text`.
GemmKernel spoilt_kernel(const GemmSpec& spec, std::string_view text, std::string_view instead) {
    const KernelConfig config{wgmma_config(kUsual)};
    const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
    std::string body = source.body;
    const std::size_t at = body.find(text);
    REQUIRE(at != std::string::npos);
    body.replace(at, text.size(), instead);
    const ParsedDump spoilt{spec, {problem_of(spec).signature, config}, source.arch, body};
    return state_of(on_hopper()).build(spoilt);
}

float element(const std::vector<float>& d, const GemmSpec& spec, std::int64_t row, std::int64_t column) {
    return d[static_cast<std::size_t>(row * spec.n + column)];
}

/// The largest error as a part of the bound of docs/single-precision.md.
double worst_share(const GemmSpec& spec, const Lines& a, const Lines& b, const std::vector<float>& d) {
    double worst = 0;
    const MathPromise& promise = *promise_of(spec.math);
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            double sum = 0, absolute = 0, largest_a = 0, largest_b = 0;
            for (std::int64_t i = 0; i < spec.k; ++i) {
                sum += a.at(row, i) * b.at(column, i);
                absolute += std::fabs(a.at(row, i) * b.at(column, i));
                largest_a = std::max(largest_a, std::fabs(a.at(row, i)));
                largest_b = std::max(largest_b, std::fabs(b.at(column, i)));
            }
            const double bound = promise.error(static_cast<double>(spec.k), absolute, largest_a, largest_b);
            const double error = std::fabs(static_cast<double>(element(d, spec, row, column)) - sum);
            worst = std::max(worst, error == 0 ? 0 : error / bound);
        }
    return worst;
}

/// Elements of D that are not the exact sums of products.
int inexact(const GemmSpec& spec, const Lines& a, const Lines& b, const std::vector<float>& d) {
    int wrong = 0;
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < spec.k; ++i) sum += a.at(row, i) * b.at(column, i);
            wrong += static_cast<double>(element(d, spec, row, column)) == sum ? 0 : 1;
        }
    return wrong;
}

/// To the nearest of 11 bits, ties to even.
Lines as_tf32(Lines lines) {
    for (float& element : lines.elements) {
        int exponent = 0;
        static_cast<void>(std::frexp(element, &exponent));
        element = std::ldexp(std::nearbyint(std::ldexp(element, 11 - exponent)), exponent - 11);
    }
    return lines;
}

constexpr std::array kAllLayouts{GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

/// Both schedules that have partial sums, one and two sets of them, one to three consumers, clusters, both stores,
/// stream-K, more than one group of K in a k-tile.
constexpr std::array<std::string_view, 9> kSplitVariants{
    "block=128x128x32,warpgroup=64x128,stages=3,promote=32",
    "block=128x256x32,warpgroup=64x256,stages=3,cluster=2x1,promote=32",
    "block=256x96x64,warpgroup=128x96,stages=2,cluster=1x2,rasterization=zigzag,group=3,promote=32",
    "block=128x112x32,warpgroup=128x112,schedule=pingpong,stages=3,rasterization=grouped_n,group=2,promote=32",
    "block=64x8x96,warpgroup=64x8,stages=6,rasterization=column,promote=32",
    "block=192x104x32,warpgroup=64x104,stages=3,rasterization=row,promote=32",
    "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7,promote=32",
    "block=128x40x64,warpgroup=64x40,stages=4,store=smem,cluster=4x1,promote=32",
    "block=64x64x32,warpgroup=64x64,stages=4,cluster=2x1,dependent_launch=1,promote=32"};

/// The same where k-tiles are longer.
constexpr std::array<std::string_view, 3> kLongVariants{
    "block=128x80x32,warpgroup=64x80,stages=2,cluster=2x1,promote=32",
    "block=128x112x32,warpgroup=128x112,schedule=pingpong,stages=3,rasterization=grouped_n,group=2,promote=32",
    "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7,dependent_launch=1,promote=32"};

/// All schedules, one to three consumers, clusters, both stores, stream-K, one panel of K in a k-tile and more.
constexpr std::array<std::string_view, 10> kTf32Variants{
    "block=128x128x32,warpgroup=64x128,stages=3",
    "block=128x256x32,warpgroup=64x256,stages=3,cluster=2x1",
    "block=256x96x32,warpgroup=128x96,schedule=overlapped,stages=3,cluster=1x2,rasterization=zigzag,group=3",
    "block=128x112x64,warpgroup=128x112,schedule=pingpong,stages=2,rasterization=grouped_n,group=2",
    "block=64x8x96,warpgroup=64x8,stages=6,rasterization=column",
    "block=192x104x32,warpgroup=64x104,stages=3,rasterization=row",
    "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7",
    "block=128x56x32,warpgroup=128x56,schedule=overlapped,stages=5,stream_k=4",
    "block=128x40x64,warpgroup=64x40,stages=4,store=smem,cluster=4x1",
    "block=64x64x32,warpgroup=64x64,stages=4,cluster=2x1,dependent_launch=1,early=b"};

}  // namespace

TEST_CASE("emulated f32 in parts: each product of an upper and a lower part is added once") {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> small(-3, 3);
    const auto integer = [&] { return static_cast<float>(small(random)); };
    const auto with_lower_part = [&] { return integer() + integer() * 0x1p-13F; };
    for (const bool is_a : {true, false})
        for (const auto& [layout, math] : {std::pair{GemmLayout::tn, Math::f16x3},
                                           {GemmLayout::nn, Math::f16x3},
                                           {GemmLayout::nt, Math::f16x3},
                                           {GemmLayout::tt, Math::f16x3},
                                           {GemmLayout::nn, Math::tf32x3},
                                           {GemmLayout::tt, Math::tf32x3}}) {
            const GemmSpec spec = f32_spec(layout, 66, 40, 70, math);
            const Lines a(spec.m, spec.k, is_a ? std::function<float()>(with_lower_part) : integer);
            const Lines b(spec.n, spec.k, is_a ? std::function<float()>(integer) : with_lower_part);
            CHECK(inexact(spec, a, b, product(spec, a, b)) == 0);
        }
}

namespace {

/// Elements with all three parts of bf16, whose products of parts add up exactly: few elements of A are not zero.
struct ThreeParts {
    explicit ThreeParts(const GemmSpec& spec)
        : a(spec.m, spec.k, [this] { return count++ % 13 == 0 ? sum_of_parts() : 0.0F; }),
          b(spec.n, spec.k, [this] { return sum_of_parts(); }) {}
    float sign() { return random() % 2 == 0 ? -1.0F : 1.0F; }
    float sum_of_parts() { return sign() + sign() * 0x1p-10F + sign() * 0x1p-20F; }

    std::mt19937 random{1};
    int count = 0;
    Lines a, b;
};

/// The parts of such an element.
std::array<double, 3> parts_of(double element) {
    constexpr std::array kUnits{0x1p-8, 0x1p-18};  // above twice the parts that follow
    const double first = std::nearbyint(element / kUnits[0]) * kUnits[0];
    const double second = std::nearbyint((element - first) / kUnits[1]) * kUnits[1];
    return {first, second, element - first - second};
}

/// How often the sum has the product of a part of A and one of B.
using Times = std::array<std::array<int, 3>, 3>;
constexpr Times kSixOnce{{{1, 1, 1}, {1, 1, 0}, {1, 0, 0}}};

/// Elements of D that are not the exact sums of these products.
int inexact_in_three_parts(const GemmSpec& spec, const ThreeParts& x, const std::vector<float>& d,
                           const Times& times = kSixOnce) {
    int wrong = 0;
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < spec.k; ++i) {
                const std::array<double, 3> a = parts_of(x.a.at(row, i)), b = parts_of(x.b.at(column, i));
                for (std::size_t of_a = 0; of_a < 3; ++of_a)
                    for (std::size_t of_b = 0; of_b < 3; ++of_b)
                        sum += times.at(of_a).at(of_b) * a.at(of_a) * b.at(of_b);
            }
            wrong += static_cast<double>(element(d, spec, row, column)) == sum ? 0 : 1;
        }
    return wrong;
}

}  // namespace

TEST_CASE("emulated bf16x6: no product of parts is lost or counted twice") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const GemmSpec spec = f32_spec(layout, 66, 40, 70, Math::bf16x6);
        const ThreeParts x(spec);
        const std::vector<float> d = product(spec, x.a, x.b);
        CHECK(inexact_in_three_parts(spec, x, d) == 0);
        for (std::size_t of_a = 0; of_a < 3; ++of_a)
            for (std::size_t of_b = 0; of_a + of_b < 3; ++of_b)
                for (const int other : {0, 2}) {
                    INFO("parts " << of_a << " and " << of_b << ", " << other << " times");
                    Times spoilt = kSixOnce;
                    spoilt.at(of_a).at(of_b) = other;
                    CHECK(inexact_in_three_parts(spec, x, d, spoilt) > 1000);
                }
    }
}

TEST_CASE("emulated bf16x6: a kernel that leaves out a product of parts is found") {
    const GemmSpec spec = f32_spec(GemmLayout::tn, 64, 16, 40, Math::bf16x6);
    const ThreeParts x(spec);
    constexpr std::string_view kProduct = "wgmma(partial[0], a + OperandA::offset_of_part";
    const std::string lost = fmt::format("if (part != 0 || sum != 2) {}", kProduct);
    const std::vector<float> d = product_by(spoilt_kernel(spec, kProduct, lost), spec, x.a, x.b);
    CHECK(inexact_in_three_parts(spec, x, d) > 100);
    CHECK(inexact_in_three_parts(spec, x, d, {{{1, 1, 0}, {1, 1, 0}, {1, 0, 0}}}) == 0);
}

TEST_CASE("emulated f32 in parts: exact sums find a product of parts that is lost, or added twice") {
    struct Fault {
        std::string_view name, text, instead;
    };
    constexpr std::string_view kProduct = "wgmma(partial[0], a + OperandA::offset_of_part";
    constexpr std::string_view kPartOfB = "first + k_block, sum - part)";
    const std::string lost = fmt::format("if (part != 0 || sum != 1) {}", kProduct);
    const std::string twice = fmt::format("for (int i = part == 0 && sum == 1 ? 0 : 1; i < 2; ++i) {}", kProduct);
    for (const Math math : {Math::f16x3, Math::bf16x6, Math::tf32x3})
        for (const auto& [name, text, instead] :
             {Fault{"none", kProduct, kProduct}, Fault{"the lower part of B is lost", kProduct, lost},
              Fault{"the lower part of B counts twice", kProduct, twice},
              Fault{"the lower part of A is lost", kPartOfB, "first + k_block, sum)"}}) {
            INFO(to_string(math) << ": " << name);
            const GemmSpec spec = f32_spec(GemmLayout::tn, 64, 16, 40, math);
            const Verification found = verify(state_of(on_hopper()), spoilt_kernel(spec, text, instead));
            const bool is_right = text == instead;
            CHECK(found.ok == is_right);
            CHECK(found.inputs == (is_right ? InputKind::normal : InputKind::integers));
        }
}

TEST_CASE("emulated bf16x6: parts of any element add up exactly, of tiny ones up to bf16's smallest step") {
    std::mt19937 random(7);
    const auto of_any_bits = [&] {  // up to the largest numbers
        const auto bits = static_cast<std::uint32_t>(random());
        return std::bit_cast<float>((bits & 0x7f800000U) == 0x7f800000U ? bits ^ 0x00800000U : bits);
    };
    const auto identity = [i = 0]() mutable { return i++ % 65 == 0 ? 1.0F : 0.0F; };
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const GemmSpec spec = f32_spec(layout, 64, 64, 64, Math::bf16x6);
        for (const bool is_a : {true, false}) {
            Lines x(64, 64, of_any_bits);
            x.at(5, 6) = std::numeric_limits<float>::max();
            x.at(6, 7) = -0x1.ff0002p127F;  // bf16 would round it to Inf
            const Lines one(64, 64, identity);
            const std::vector<float> d = is_a ? product(spec, x, one) : product(spec, one, x);
            int wrong = 0;
            for (std::int64_t line = 0; line < 64; ++line)
                for (std::int64_t i = 0; i < 64; ++i) {
                    const double made = is_a ? element(d, spec, line, i) : element(d, spec, i, line);
                    const double allowed = std::fabs(x.at(line, i)) < 0x1p-110F ? 0x1p-134 : 0;
                    wrong += std::fabs(made - x.at(line, i)) <= allowed ? 0 : 1;
                }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("emulated f32 in parts: the parts of 2^20 random elements add up within the stated error") {
    constexpr std::int64_t kRows = 32768, kColumns = 32;
    std::mt19937 random(11);
    std::uniform_int_distribution<int> exponent(-12, 12);
    std::uniform_real_distribution<float> fraction(1, 2);
    const auto of_any_size = [&] {
        const float size = std::ldexp(fraction(random), exponent(random));
        return random() % 2 == 0 ? size : -size;
    };
    const Lines x(kRows, kColumns, of_any_size);
    const Lines one(kColumns, kColumns, [i = 0]() mutable { return i++ % (kColumns + 1) == 0 ? 1.0F : 0.0F; });
    struct Split {
        Math math;
        double of_element, of_largest;  // the most that an element may be off, as a part of it and of its row's largest
    };
    for (const Split& split :
         {Split{Math::f16x3, 0x1p-22, 0x1p-39}, Split{Math::bf16x6, 0, 0}, Split{Math::tf32x3, 0x1p-23, 0}}) {
        const GemmSpec spec = f32_spec(GemmLayout::tn, kRows, kColumns, kColumns, split.math);
        const std::vector<float> d = product(spec, x, one, "block=128x32x32,warpgroup=64x32,stages=2,promote=32");
        int wrong = 0, inexact_ones = 0;
        for (std::int64_t row = 0; row < kRows; ++row) {
            double largest = 0;
            for (std::int64_t i = 0; i < kColumns; ++i) largest = std::max(largest, std::fabs(x.at(row, i)));
            for (std::int64_t i = 0; i < kColumns; ++i) {
                const double error = std::fabs(static_cast<double>(element(d, spec, row, i)) - x.at(row, i));
                const double allowed = split.of_element * std::fabs(x.at(row, i)) + split.of_largest * largest;
                wrong += error <= allowed ? 0 : 1;
                inexact_ones += error == 0 ? 0 : 1;
            }
        }
        INFO(to_string(split.math));
        CHECK(wrong == 0);
        CHECK((inexact_ones > 0) == (split.of_element != 0));  // 22 bits of f16 and of tf32 are not 24
    }
}

/// The relative L2 error of D against f64.
double error_in_norm(const GemmSpec& spec, const Lines& a, const Lines& b, const std::vector<float>& d) {
    double error = 0, all = 0;
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < spec.k; ++i) sum += a.at(row, i) * b.at(column, i);
            error += std::pow(static_cast<double>(element(d, spec, row, column)) - sum, 2);
            all += sum * sum;
        }
    return std::sqrt(error / all);
}

TEST_CASE("emulated bf16x6 and tf32x3: errors in norm are those of f32, whatever the inputs") {
    std::mt19937 random(6);
    std::normal_distribution<float> normal;
    const Math math = GENERATE(Math::bf16x6, Math::tf32x3);
    for (const std::int64_t k : {32, 1024}) {
        const GemmSpec spec = f32_spec(GemmLayout::tn, 24, 24, k, math);
        const auto errors = [&](const Lines& a, const Lines& b) {
            return error_in_norm(spec, a, b, product(spec, a, b));
        };
        Lines a(24, k, [&] { return normal(random); }), b(24, k, [&] { return normal(random); });
        INFO(to_string(math) << ", k = " << k);
        const double plain = errors(a, b);
        CHECK(plain < 2.5e-7);
        const auto positive = [&] { return std::fabs(normal(random)); };
        CHECK(errors(Lines(24, k, positive), Lines(24, k, positive)) < 2.5e-7);
        for (std::int64_t line = 0; line < 24; ++line)
            for (std::int64_t i = 0; i < k; ++i) {
                a.at(line, i) = std::ldexp(a.at(line, i), static_cast<int>(line) - 12);
                b.at(line, i) = std::ldexp(b.at(line, i), 12 - static_cast<int>(line));
            }
        CHECK(errors(a, b) < 2.5e-7);
    }
}

TEST_CASE("emulated bf16x3: errors in norm are within the promise, and far from those of f32") {
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    for (const std::int64_t k : {1, 64, 4000}) {
        const GemmSpec spec = f32_spec(GemmLayout::tn, 16, 24, k, Math::bf16x3);
        const Lines a(16, k, [&] { return normal(random); }), b(24, k, [&] { return normal(random); });
        const std::vector<float> d = product(spec, a, b);
        double error = 0, sizes = 0;
        for (std::int64_t row = 0; row < 16; ++row)
            for (std::int64_t column = 0; column < 24; ++column) {
                double sum = 0, absolute = 0;
                for (std::int64_t i = 0; i < k; ++i) {
                    sum += a.at(row, i) * b.at(column, i);
                    absolute += std::fabs(a.at(row, i) * b.at(column, i));
                }
                error += std::pow(static_cast<double>(element(d, spec, row, column)) - sum, 2);
                sizes += absolute * absolute;
            }
        INFO("k = " << k);
        CHECK(std::sqrt(error) <= promise_of(Math::bf16x3)->relative * std::sqrt(sizes));
        CHECK(error_in_norm(spec, a, b, d) > 1e-6);
    }
}

TEST_CASE("emulated bf16x6 and tf32x3: a huge element costs the others of its row nothing") {
    std::mt19937 random(8);
    std::normal_distribution<float> normal;
    const Math math = GENERATE(Math::bf16x6, Math::tf32x3);
    const GemmSpec spec = f32_spec(GemmLayout::tn, 8, 8, 40, math);
    Lines a(8, 40, [&] { return normal(random); }), b(8, 40, [&] { return normal(random); });
    for (std::int64_t line = 0; line < 8; ++line) a.at(line, 3) = 0x1p60F, b.at(line, 3) = 0;
    CHECK(error_in_norm(spec, a, b, product(spec, a, b)) < 2.5e-7);
    CHECK(error_in_norm(spec, a, b, product(f32_spec(GemmLayout::tn, 8, 8, 40), a, b)) > 0.1);
}

TEST_CASE("emulated tf32: elements are rounded to the nearest, ties to even, and their products are exact") {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> small(-3, 3), rest(0, 64);
    const auto integer = [&] { return static_cast<float>(small(random)); };
    const auto between = [&] {
        return (1 + static_cast<float>(rest(random)) * 0x1p-13F) * (small(random) < 0 ? -1.0F : 1.0F);
    };
    for (const bool is_a : {true, false})
        for (const GemmLayout layout : kAllLayouts) {
            const GemmSpec spec = f32_spec(layout, 66, 40, 70, Math::tf32);  // columns and rows that are packed, too
            const Lines a(spec.m, spec.k, is_a ? std::function<float()>(between) : integer);
            const Lines b(spec.n, spec.k, is_a ? std::function<float()>(integer) : between);
            const std::vector<float> d = product(spec, a, b, kUsualTf32);
            CHECK(inexact(spec, as_tf32(a), as_tf32(b), d) == 0);
            CHECK(inexact(spec, a, b, d) > 1000);
        }
}

TEST_CASE("emulated tf32: errors are within the promised bound") {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    std::uniform_int_distribution<int> exponent(-60, 60);
    for (const std::int64_t k : {1, 63, 64, 65, 1100}) {
        const GemmSpec spec = f32_spec(GemmLayout::nt, 16, 24, k, Math::tf32);
        const auto of_any_size = [&] { return std::ldexp(normal(random), exponent(random)); };
        const Lines a(spec.m, k, of_any_size), b(spec.n, k, of_any_size);
        const std::vector<float> d = product(spec, a, b, kUsualTf32);
        const double worst = worst_share(spec, a, b, d);
        INFO("k = " << k);
        CHECK(worst < 1);
        CHECK(worst > 0x1p-7);  // f32 would be far below
    }
}

TEST_CASE("emulated f32 in parts: errors are within the promised bound, whatever rows and columns are scaled with") {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    std::uniform_int_distribution<int> exponent(-110, 110);
    const Math math = GENERATE(Math::f16x3, Math::bf16x6, Math::tf32x3);
    for (const std::int64_t k : {1, 63, 64, 65, 1100}) {
        const GemmSpec spec = f32_spec(GemmLayout::tn, 16, 24, k, math);
        Lines a(spec.m, k, [&] { return normal(random); }), b(spec.n, k, [&] { return normal(random); });
        std::vector<float> factors_a, factors_b;
        for (std::int64_t row = 0; row < spec.m; ++row) {
            const int power = exponent(random);  // products of factors stay within f32
            for (std::int64_t i = 0; i < k; ++i) a.at(row, i) = std::ldexp(a.at(row, i), power);
        }
        for (std::int64_t column = 0; column < spec.n; ++column) {
            const int power = exponent(random) / 16;
            for (std::int64_t i = 0; i < k; ++i) b.at(column, i) = std::ldexp(b.at(column, i), power);
        }
        INFO("k = " << k);
        CHECK(worst_share(spec, a, b, product(spec, a, b)) < 1);
    }
    SECTION("a row of subnormal elements") {
        const GemmSpec spec = f32_spec(GemmLayout::tn, 8, 8, 40, math);
        const Lines a(8, 40, [&] { return std::ldexp(normal(random), -130); });
        const Lines b(8, 40, [&] { return std::ldexp(normal(random), 100); });
        CHECK(worst_share(spec, a, b, product(spec, a, b)) < 1);
    }
    SECTION("one huge element in each row, which meets other elements") {
        const GemmSpec spec = f32_spec(GemmLayout::tn, 8, 8, 40, math);
        Lines a(8, 40, [&] { return normal(random); });
        const Lines b(8, 40, [&] { return normal(random); });
        for (std::int64_t row = 0; row < 8; ++row) a.at(row, row) = 0x1p60F;
        CHECK(worst_share(spec, a, b, product(spec, a, b)) < 1);
    }
}

TEST_CASE("emulated f32 on tensor cores: Inf and NaN stay in their row, or their column") {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    const Math math = GENERATE(Math::f16x3, Math::tf32, Math::bf16x6, Math::tf32x3);
    const GemmSpec spec = f32_spec(GemmLayout::nn, 24, 16, 50, math);
    Lines a(spec.m, spec.k, [&] { return normal(random); }), b(spec.n, spec.k, [&] { return normal(random); });
    a.at(3, 7) = std::numeric_limits<float>::infinity();
    a.at(5, 49) = std::numeric_limits<float>::quiet_NaN();
    b.at(9, 0) = -std::numeric_limits<float>::infinity();
    const std::vector<float> d = product(spec, a, b, math == Math::tf32 ? kUsualTf32 : kUsual);
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column)
            CHECK(std::isfinite(element(d, spec, row, column)) == (row != 3 && row != 5 && column != 9));
}

TEST_CASE("emulated f32 in parts: every variant, with C and without, in every layout") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view variant : kSplitVariants) {
        GemmSpec spec = f32_spec(kAllLayouts.at(i % 4), 130, 140, 100, i % 3 == 2 ? Math::bf16x3 : Math::f16x3);
        if (++i % 2 == 1) spec.c = DataType::f32;
        if (i % 5 == 3) spec.d_order = Order::column;
        if (!tried.next()) continue;
        INFO(variant << ", " << to_string(spec));
        check_wgmma(on_hopper(), spec, std::string(variant), {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F});
    }
}

TEST_CASE("emulated bf16x6 and tf32x3: every variant, with C and without, with a text, in every layout") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view variant : kLongVariants) {
        GemmSpec spec = f32_spec(kAllLayouts.at(i % 4), 130, 90, 100, i % 2 == 1 ? Math::tf32x3 : Math::bf16x6);
        if (++i % 3 == 1) spec.c = DataType::f32;
        if (i % 3 == 2) spec.epilogue = "d = relu(acc + bias[n]) + x[m,n]";
        if (i % 5 == 3) spec.d_order = Order::column;
        if (!tried.next()) continue;
        INFO(variant << ", " << to_string(spec));
        check_wgmma(on_hopper(), spec, std::string(variant), {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F});
    }
}

TEST_CASE("emulated tf32: every variant, with C and without, with a text, in every layout") {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view variant : kTf32Variants) {
        GemmSpec spec = f32_spec(kAllLayouts.at(i % 4), 130, 140, 100, Math::tf32);
        if (++i % 3 == 1) spec.c = DataType::f32;
        if (i % 3 == 2) spec.epilogue = "d = relu(acc + bias[n]) + x[m,n]";
        if (i % 5 == 3) spec.d_order = Order::column;
        if (!tried.next()) continue;
        INFO(variant << ", " << to_string(spec));
        check_wgmma(on_hopper(), spec, std::string(variant), {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F});
    }
}

TEST_CASE("emulated tf32: D^T of 16 bits, from operands that lie in any way") {
    for (const GemmLayout layout : kAllLayouts) {
        GemmSpec spec = f32_spec(layout, 72, 136, 100, Math::tf32);
        spec.d = DataType::bf16;
        check_wgmma(on_hopper(), spec, "block=128x72x32,warpgroup=64x72,swap_ab=1,stages=4");
    }
}

TEST_CASE("emulated f32 on tensor cores: all remainders of m, n and k, and odd pitches") {
    const Math math = GENERATE(Math::f16x3, Math::tf32, Math::bf16x6);
    OneIn tried(2);
    for (int rest = 0; rest < 64; rest += math == Math::bf16x6 ? 21 : 1) {  // its k-tiles are cut as those of f16x3
        if (!tried.next()) continue;
        GemmSpec spec = f32_spec(kAllLayouts.at(static_cast<std::size_t>(rest % 4)), 1 + rest, 1 + rest * 29 % 64,
                                 rest * 37 % 64 + 1, math);
        if (rest % 3 != 0)
            spec.lda = std::max(spec.m, spec.k) + rest % 3, spec.ldb = std::max(spec.n, spec.k) + rest % 5;
        check_wgmma(
            on_hopper(), spec,
            fmt::format("block=64x16x32,warpgroup=64x16,stages=4,store=smem,promote={}", math == Math::tf32 ? 0 : 32));
    }
}

TEST_CASE("emulated f32 in parts: narrow and wide strips, short and long lines, where K is 0") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt})
        for (const Sizes& size : {Sizes{2056, 8, 40}, Sizes{8, 2056, 40}, Sizes{24, 16, 1100}, Sizes{40, 48, 0}})
            check_wgmma(on_hopper(), f32_spec(layout, size[0], size[1], size[2]), std::string(kUsual));
    for (const Sizes& size : {Sizes{24, 16, 1100}, Sizes{40, 48, 0}, Sizes{8, 2056, 40}})
        check_wgmma(on_hopper(), f32_spec(GemmLayout::tt, size[0], size[1], size[2], Math::bf16x6),
                    std::string(kUsual));
}

TEST_CASE("emulated f32 on tensor cores: a row's bits don't depend on other rows, where that is asked for") {
    std::mt19937 random(4);
    std::normal_distribution<float> normal;
    const Math math = GENERATE(Math::f16x3, Math::tf32, Math::bf16x6);
    GemmSpec spec = f32_spec(GemmLayout::tn, 100, 40, 200, math);
    spec.deterministic = Determinism::batch_invariant;
    const Lines a(spec.m, spec.k, [&] { return normal(random); }), b(spec.n, spec.k, [&] { return normal(random); });
    const std::vector<float> all = product(spec, a, b, math == Math::tf32 ? kTf32Variants[2] : kSplitVariants[0]);
    spec.m = 3;
    Lines few = a;
    few.elements.resize(static_cast<std::size_t>(3 * spec.k));
    const std::vector<float> alone = product(spec, few, b, math == Math::tf32 ? kTf32Variants[8] : kSplitVariants[8]);
    CHECK(std::equal(alone.begin(), alone.end(), all.begin()));
}
