// wgmma of 8-bit operands on the emulator against sums that this file makes of the elements' values: every n, both
// sources of A, every mix of types, with and without what the sums held, negated or not.

#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/wgmma_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

constexpr int kRows = 64;
constexpr int kDepth = 32;
constexpr int kThreads = 128;
constexpr int kTileBytes = 256 * 32;  // of an operand in shared memory, whose rows have 32 bytes

struct Form {
    int n = 8;
    std::string_view a = "e4m3", b = "e4m3", sums = "f32";
    bool a_in_registers = false;
    bool adds = true;
    int factor_a = 1, factor_b = 1;

    [[nodiscard]] int registers() const { return sums == "f16" ? n / 4 : n / 2; }
};

std::ostream& operator<<(std::ostream& out, const Form& form) {
    return out << fmt::format("n {} {} {} {} A in registers {} adds {} factors {} {}", form.n, form.a, form.b,
                              form.sums, form.a_in_registers, form.adds, form.factor_a, form.factor_b);
}

// ---- values ---------------------------------------------------------------------------------------------------------

/// A finite number, and the exponent by which its term is aligned. Zero has none.
struct Number {
    double value = 0;
    int exponent = -133;
};

Number number(double value, int smallest_exponent) {
    if (value == 0) return {};
    return {value, std::max(std::ilogb(value), smallest_exponent)};
}

Number decoded(unsigned byte, std::string_view type) {
    const int fraction_bits = type == "e4m3" ? 3 : 2;
    const int bias = type == "e4m3" ? 7 : 15;
    const int field = static_cast<int>(byte >> fraction_bits & (type == "e4m3" ? 15U : 31U));
    const int fraction = static_cast<int>(byte & ((1U << fraction_bits) - 1));
    const int whole = fraction + (field == 0 ? 0 : 1 << fraction_bits);
    const double magnitude = std::ldexp(whole, std::max(field, 1) - bias - fraction_bits);
    return number((byte & 0x80U) != 0 ? -magnitude : magnitude, 1 - bias);
}

/// The value without the bits that lie more than `fraction_bits` behind its first.
double cut(double value, int fraction_bits) {
    if (value == 0) return 0;
    const int unit = std::ilogb(value) - fraction_bits;
    return std::ldexp(std::trunc(std::ldexp(value, -unit)), unit);
}

/// Products and the sum so far are aligned to the largest, cut to 13 fraction bits and added; so is the result cut.
double fused(const std::vector<Number>& terms) {
    int largest = std::numeric_limits<int>::min();
    for (const Number& term : terms) largest = std::max(largest, term.exponent);
    double sum = 0;
    for (const Number& term : terms) sum += std::trunc(std::ldexp(term.value, 13 - largest));
    return std::ldexp(sum, largest - 13);
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

/// Not swizzled: core matrices of eight rows of 16 bytes lie one behind the other, those of the next 16 of K behind
/// those of all rows.
constexpr int kLeading = 256 * 16;
int place(int row, int k) { return k / 16 * kLeading + row * 16 + k % 16; }
constexpr std::uint64_t kDescriptor = std::uint64_t{128 / 16} << 32U | std::uint64_t{kLeading / 16} << 16U;

std::string kernel(const Form& form) {
    const std::string factors = form.sums == "s32" ? "" : fmt::format(", {}, {}", form.factor_a, form.factor_b);
    const std::string multiply = fmt::format("wgmma.mma_async.sync.aligned.m64n{}k32.{}.{}.{} {}, {}, %b, %adds{};",
                                             form.n, form.sums, form.a, form.b, register_list("%d", form.registers()),
                                             form.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%a", factors);
    return ptx_of({.tile_bytes = 2 * kTileBytes,
                   .sum_registers = form.registers(),
                   .place_a = kDescriptor,
                   .place_b = kDescriptor + kTileBytes / 16,
                   .adds = form.adds,
                   .multiply = multiply});
}

struct Bytes {
    std::vector<std::uint8_t> of;  ///< rows of kDepth

    explicit Bytes(int rows) : of(static_cast<std::size_t>(rows) * kDepth) {}
    std::uint8_t& at(int row, int k) {
        return of.at(static_cast<std::size_t>(row) * kDepth + static_cast<std::size_t>(k));
    }
    [[nodiscard]] std::uint8_t at(int row, int k) const {
        return of.at(static_cast<std::size_t>(row) * kDepth + static_cast<std::size_t>(k));
    }
};

/// Neither infinite nor NaN.
Bytes random_bytes(RandomBits& random, int rows, std::string_view type) {
    Bytes bytes(rows);
    for (std::uint8_t& byte : bytes.of) do
            byte = static_cast<std::uint8_t>(random.below(256));
        while (type == "e4m3" ? (byte & 0x7fU) == 0x7fU : type == "e5m2" && (byte & 0x7cU) == 0x7cU);
    return bytes;
}

/// The place of a thread's i-th sum among those of all threads.
std::size_t word_of(const Form& form, int thread, int i) {
    return static_cast<std::size_t>(thread) * static_cast<std::size_t>(form.registers()) + static_cast<std::size_t>(i);
}
std::size_t words(const Form& form) { return word_of(form, kThreads, 0); }

std::vector<std::uint32_t> input_of(const Form& form, const Bytes& a, const Bytes& b,
                                    const std::vector<std::uint32_t>& sums) {
    std::vector<std::uint32_t> input(2 * kTileBytes / 4 + kThreads * 4);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(input.data());
    for (int k = 0; k < kDepth; ++k) {
        for (int row = 0; row < kRows && !form.a_in_registers; ++row) bytes[place(row, k)] = a.at(row, k);
        for (int column = 0; column < form.n; ++column) bytes[kTileBytes + place(column, k)] = b.at(column, k);
    }
    // A's registers are those of mma.m16n8k32 (PTX ISA): four k of row g or g + 8.
    for (int thread = 0; thread < kThreads; ++thread)
        for (int i = 0; i < 16; ++i) {
            const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 4 % 2);
            bytes[2 * kTileBytes + 16 * thread + i] = a.at(row, 4 * (thread % 4) + i % 4 + 16 * (i / 8));
        }
    input.insert(input.end(), sums.begin(), sums.end());
    return input;
}

/// Of a thread's i-th sum (PTX ISA, "Register Fragments for wgmma": D).
int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2); }
int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

/// How many f32 sums of the form are not those of this file.
int wrong_sums(const Form& form, RandomBits& random) {
    const Bytes a = random_bytes(random, kRows, form.a), b = random_bytes(random, form.n, form.b);
    std::vector<std::uint32_t> sums(words(form));
    for (std::uint32_t& sum : sums)
        sum = std::bit_cast<std::uint32_t>(
            std::ldexp(static_cast<float>(random.below(1 << 24)) - 0x1p23F, static_cast<int>(random.below(24)) - 30));
    const auto program = emulator::load_program(kernel(form));
    const PtxResult result = run_entry(*program, {.entry = "kernel", .grid = {1, 1, 1}, .block = {kThreads, 1, 1}},
                                       input_of(form, a, b, sums), words(form));
    int wrong = 0;
    for (int thread = 0; thread < kThreads; ++thread)
        for (int i = 0; i < form.n / 2; ++i) {
            const std::size_t at = word_of(form, thread, i);
            std::vector<Number> terms;
            if (form.adds) terms.push_back(number(std::bit_cast<float>(sums[at]), -126));
            if (!form.adds) terms.push_back({});
            for (int k = 0; k < kDepth; ++k) {
                const Number x = decoded(a.at(row_of(thread, i), k), form.a);
                const Number y = decoded(b.at(column_of(thread, i), k), form.b);
                const int sign = form.factor_a * form.factor_b;
                terms.push_back(x.value == 0 || y.value == 0
                                    ? Number{}
                                    : Number{sign * x.value * y.value, x.exponent + y.exponent});
            }
            wrong += std::bit_cast<float>(result.output[at]) != static_cast<float>(cut(fused(terms), 13)) ? 1 : 0;
        }
    return wrong;
}

}  // namespace

TEST_CASE("emulator wgmma: sums of 8-bit floats keep 13 fraction bits") {
    RandomBits random(1);
    constexpr std::array<std::string_view, 2> kTypes{"e4m3", "e5m2"};
    for (int n = 8, turn = 0; n <= 256; n += n < 64 ? 8 : 24, ++turn) {
        const Form form{.n = n,
                        .a = kTypes.at(static_cast<std::size_t>(turn % 2)),
                        .b = kTypes.at(static_cast<std::size_t>(turn / 2 % 2)),
                        .a_in_registers = turn % 3 == 2,
                        .adds = turn % 5 != 0,
                        .factor_a = turn % 7 == 3 ? -1 : 1,
                        .factor_b = turn % 6 == 1 ? -1 : 1};
        INFO(form);
        CHECK(wrong_sums(form, random) == 0);
    }
}

TEST_CASE("emulator wgmma: sums of 8-bit integers are exact and wrap") {
    RandomBits random(2);
    for (const bool a_in_registers : {false, true})
        for (const int n : {8, 16, 24, 32, 48, 256}) {
            const Form form{.n = n, .a = "s8", .b = "s8", .sums = "s32", .a_in_registers = a_in_registers};
            const Bytes a = random_bytes(random, kRows, "s8"), b = random_bytes(random, n, "s8");
            std::vector<std::uint32_t> sums(words(form));
            for (std::uint32_t& sum : sums) sum = random.below(2) == 0 ? 0x7fffff00U : random.below(1000);
            const auto program = emulator::load_program(kernel(form));
            const PtxResult result =
                run_entry(*program, {.entry = "kernel", .grid = {1, 1, 1}, .block = {kThreads, 1, 1}},
                          input_of(form, a, b, sums), words(form));
            int wrong = 0;
            for (int thread = 0; thread < kThreads; ++thread)
                for (int i = 0; i < n / 2; ++i) {
                    const std::size_t at = word_of(form, thread, i);
                    std::int64_t sum = sums[at];
                    for (int k = 0; k < kDepth; ++k)
                        sum += static_cast<std::int8_t>(a.at(row_of(thread, i), k)) *
                               static_cast<std::int8_t>(b.at(column_of(thread, i), k));
                    wrong += result.output[at] != static_cast<std::uint32_t>(sum) ? 1 : 0;
                }
            INFO(form);
            CHECK(wrong == 0);
        }
}

TEST_CASE("emulator wgmma: operands of 8 bits have no other forms") {
    const std::string good = kernel({.n = 64});
    const auto refused = [&](std::string_view from, std::string_view to) {
        CHECK_THROWS(emulator::load_program(with_replaced(good, from, to)));
    };
    CHECK_NOTHROW(emulator::load_program(good));
    refused("k32.", "k16.");
    refused("e4m3.e4m3", "e4m3.bf16");
    refused("f32.e4m3", "s32.e4m3");
    refused("%adds, 1, 1", "%adds, 1, 1, 0, 0");
}
