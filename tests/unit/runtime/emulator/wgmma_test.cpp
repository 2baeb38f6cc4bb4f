// wgmma on the emulator against mma.sync, which has the same arithmetic on an H200: every n, both sources of A, both
// majors of both operands, every swizzle, sums of both types, with and without what the sums held, negated or not.

#include "tests/catch.hpp"
#include "tests/support/mma_warp.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/wgmma_program.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using emulator::MmaKind;
using emulator::TensorCoreModel;

namespace {

constexpr int kRows = 64;
constexpr int kDepth = 16;
constexpr int kThreads = 128;
constexpr int kOperandBytes = 32768;  // of each in shared memory

struct Form {
    int n = 8;
    MmaType operands = MmaType::bf16;
    MmaType sums = MmaType::f32;
    int swizzle = 128;  ///< bytes; 16: none
    bool a_in_registers = false;
    bool a_k_major = true;
    bool b_k_major = true;
    bool adds = true;
    int factor_a = 1;
    int factor_b = 1;
    int k_step = 0;  ///< of those within a swizzled row that lies along k

    [[nodiscard]] int registers() const { return sums == MmaType::f16 ? n / 4 : n / 2; }
};

std::ostream& operator<<(std::ostream& out, const Form& form) {
    return out << fmt::format("n {} {} {} swizzle {} A in registers {} K-major {} {} adds {} factors {} {} step {}",
                              form.n, to_string(form.operands), to_string(form.sums), form.swizzle, form.a_in_registers,
                              form.a_k_major, form.b_k_major, form.adds, form.factor_a, form.factor_b, form.k_step);
}

/// Where an operand of that many rows lies from its beginning at a multiple of 1024 bytes, and the descriptor's
/// strides.
struct Placement {
    int rows;
    int span;  ///< of the swizzle, bytes
    bool k_major;
    int first_byte = 0;  ///< along k in a swizzled row

    [[nodiscard]] bool plain() const { return span == 16; }
    [[nodiscard]] int panels() const { return (2 * rows + span - 1) / span; }  // along rows

    // Not swizzled, the two strides are those of CuTe's "INTERLEAVE" layouts; else of its swizzled ones.
    [[nodiscard]] int stride() const { return plain() ? 128 : 8 * span; }
    [[nodiscard]] int leading() const {
        if (plain()) return k_major ? 16 * rows : 128 * panels();
        return k_major ? 16 : kDepth * span;  // K-major: not looked at
    }
    [[nodiscard]] int byte(int row, int k) const {
        const int along = 2 * (k_major ? k : row) + first_byte;
        const int across = k_major ? row : k;
        const int rest = along % span;
        if (plain()) {
            const int of_eights = across / 8 * (k_major ? stride() : leading());
            return of_eights + across % 8 * 16 + along / 16 * (k_major ? leading() : stride()) + rest;
        }
        const int place = (k_major ? 0 : along / span * leading()) + across * span + rest;
        return place ^ (place / 128 % (span / 16)) * 16;
    }
    [[nodiscard]] std::uint64_t descriptor() const {
        const std::uint64_t mode = plain() ? 0 : 1 + (span == 64 ? 1 : span == 32 ? 2 : 0);
        return mode << 62 | std::uint64_t(stride() / 16) << 32 | std::uint64_t(leading() / 16) << 16 |
               std::uint64_t(first_byte / 16);
    }
};

Placement place_a(const Form& form) {
    return {kRows, form.swizzle, form.a_k_major, form.a_k_major ? 32 * form.k_step : 0};
}
Placement place_b(const Form& form) {
    return {form.n, form.swizzle, form.b_k_major, form.b_k_major ? 32 * form.k_step : 0};
}

/// Words of the warpgroup's sums.
std::size_t sum_words(const Form& form) { return std::size_t{kThreads} * static_cast<std::size_t>(form.registers()); }

/// Rows times columns, element by element.
std::size_t index(int row, int columns, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
}

std::string multiply(const Form& form) {
    const std::string transposes = form.a_in_registers ? "" : fmt::format(", {}", form.a_k_major ? 0 : 1);
    return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.{}.{}.{} {}, {}, %b, %adds, {}, {}{}, {};\n", form.n,
                       to_string(form.sums), to_string(form.operands), to_string(form.operands),
                       register_list("%d", form.registers()), form.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%a",
                       form.factor_a, form.factor_b, transposes, form.b_k_major ? 0 : 1);
}

std::string kernel(const Form& form) {
    return ptx_of({.tile_bytes = 2 * kOperandBytes,
                   .sum_registers = form.registers(),
                   .place_a = place_a(form).descriptor(),
                   .place_b = place_b(form).descriptor() + kOperandBytes / 16,
                   .adds = form.adds,
                   .multiply = multiply(form)});
}

struct Matrix {
    int columns;
    std::vector<std::uint32_t> bits;

    Matrix(int rows, int all_columns) : columns(all_columns), bits(index(rows, all_columns, 0)) {}
    std::uint32_t& at(int row, int column) { return bits[index(row, columns, column)]; }
    [[nodiscard]] std::uint32_t at(int row, int column) const { return bits[index(row, columns, column)]; }
};

Matrix random_matrix(RandomBits& random, int rows, int columns, MmaType type, bool wide) {
    Matrix matrix(rows, columns);
    for (std::uint32_t& bits : matrix.bits) bits = random_element(random, type, wide);
    return matrix;
}

void put_operand(std::vector<std::uint32_t>& input, int first_byte, const Placement& placement, const Matrix& matrix) {
    auto* const bytes = reinterpret_cast<std::byte*>(input.data()) + first_byte;
    for (int row = 0; row < placement.rows; ++row)
        for (int k = 0; k < kDepth; ++k) {
            const auto element = static_cast<std::uint16_t>(matrix.at(row, k));
            std::memcpy(bytes + placement.byte(row, k), &element, 2);
        }
}

/// Calls `visit(word, half, row, column)` for the sums of the warpgroup's threads (PTX ISA, D of wgmma.mma_async), a
/// thread's words side by side.
template <typename Visit>
void for_sums(const Form& form, const Visit& visit) {
    const int per_word = form.sums == MmaType::f16 ? 2 : 1;
    for (int thread = 0; thread < kThreads; ++thread)
        for (int i = 0; i < form.n / 2; ++i)
            visit(index(thread, form.registers(), i / per_word), i % per_word,
                  thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * (thread % 4) + (i & 1));
}

std::vector<std::uint32_t> input_of(const Form& form, const Matrix& a, const Matrix& b, const Matrix& c) {
    constexpr std::size_t kWordsOfA = kThreads * 4;
    const std::size_t first_of_a = 2 * kOperandBytes / 4;
    std::vector<std::uint32_t> input(first_of_a + kWordsOfA + sum_words(form));
    if (!form.a_in_registers) put_operand(input, 0, place_a(form), a);
    put_operand(input, kOperandBytes, place_b(form), b);
    for (int thread = 0; thread < kThreads; ++thread)
        for (int r = 0; r < 4; ++r) {
            const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (r & 1);
            const int k = 2 * (thread % 4) + 8 * (r >> 1);
            input[first_of_a + index(thread, 4, r)] = a.at(row, k) | a.at(row, k + 1) << 16U;
        }
    for_sums(form, [&](std::size_t word, int half, int row, int column) {
        input[first_of_a + kWordsOfA + word] |= c.at(row, column) << (16 * half);
    });
    return input;
}

/// A warp's registers of one mma.m16n8k16 (PTX ISA, its fragments). Calls `visit(word, half, row, column)` for A's
/// elements (row, k), B's (column, k) or sums.
template <typename Visit>
void for_a(const Visit& visit) {
    for (int i = 0; i < 4 * 32 * 2; ++i) {
        const int r = i / 64, lane = i / 2 % 32, half = i % 2;
        visit(position(r, lane), half, lane / 4 + 8 * (r % 2), 2 * (lane % 4) + half + 8 * (r / 2));
    }
}
template <typename Visit>
void for_b(const Visit& visit) {
    for (int i = 0; i < 2 * 32 * 2; ++i) {
        const int r = i / 64, lane = i / 2 % 32, half = i % 2;
        visit(position(r, lane), half, lane / 4, 2 * (lane % 4) + half + 8 * r);
    }
}
template <typename Visit>
void for_c(const Form& form, const Visit& visit) {
    for (int i = 0; i < 4 * 32; ++i) {
        const int c = i / 32, lane = i % 32;
        const bool packed = form.sums == MmaType::f16;
        visit(position(packed ? c / 2 : c, lane), packed ? c % 2 : 0, lane / 4 + 8 * (c / 2), 2 * (lane % 4) + c % 2);
    }
}

/// D by mma.sync, 16 rows and eight columns at a time.
Matrix expected(const Form& form, const Matrix& a, const Matrix& b, const Matrix& c) {
    const std::uint32_t sign = form.factor_a * form.factor_b < 0 ? 0x8000U : 0;
    const MmaKind kind{16, 8, kDepth, form.operands, form.operands, form.sums, form.sums};
    const std::uint32_t mask = form.sums == MmaType::f16 ? 0xffffU : ~0U;
    Matrix d(kRows, form.n);
    for (int top = 0; top < kRows; top += 16)
        for (int left = 0; left < form.n; left += 8) {
            std::array<std::uint32_t, 4 * 32> words_a{}, words_c{};
            std::array<std::uint32_t, 2 * 32> words_b{};
            for_a([&](std::size_t word, int half, int row, int k) {
                words_a[word] |= (a.at(top + row, k) ^ sign) << (16 * half);
            });
            for_b([&](std::size_t word, int half, int column, int k) {
                words_b[word] |= b.at(left + column, k) << (16 * half);
            });
            for_c(form, [&](std::size_t word, int half, int row, int column) {
                if (form.adds) words_c[word] |= c.at(top + row, left + column) << (16 * half);
            });
            emulator::mma(kind, TensorCoreModel::hopper, words_a.data(), words_b.data(), words_c.data(),
                          words_c.data());
            for_c(form, [&](std::size_t word, int half, int row, int column) {
                d.at(top + row, left + column) = words_c[word] >> (16 * half) & mask;
            });
        }
    return d;
}

PtxResult run(const Form& form, const std::vector<std::uint32_t>& input) {
    const auto program = emulator::load_program(kernel(form));
    return run_entry(*program, {.entry = "kernel", .grid = {1, 1, 1}, .block = {kThreads, 1, 1}}, input,
                     sum_words(form));
}

/// How many sums are not what mma.sync makes of the same operands.
int wrong_sums(const Form& form, RandomBits& random, bool wide) {
    const Matrix a = random_matrix(random, kRows, kDepth, form.operands, wide);
    const Matrix b = random_matrix(random, form.n, kDepth, form.operands, wide);
    const Matrix c = random_matrix(random, kRows, form.n, form.sums, wide);
    const PtxResult result = run(form, input_of(form, a, b, c));
    const Matrix right = expected(form, a, b, c);
    int wrong = 0;
    for_sums(form, [&](std::size_t word, int half, int row, int column) {
        const std::uint32_t bits = result.output[word] >> (16 * half) & (form.sums == MmaType::f16 ? 0xffffU : ~0U);
        wrong += bits != right.at(row, column) ? 1 : 0;
    });
    return wrong;
}

constexpr std::pair<MmaType, MmaType> kTypes[] = {
    {MmaType::bf16, MmaType::f32}, {MmaType::f16, MmaType::f32}, {MmaType::f16, MmaType::f16}};
constexpr int kSwizzles[] = {16, 32, 64, 128};

}  // namespace

TEST_CASE("emulator wgmma: every n, the others of its parameters in turn", "[heavy]") {
    RandomBits random(1);
    for (int n = 8, turn = 0; n <= 256; n += 8)
        for (const int swizzle : kSwizzles) {
            const auto [operands, sums] = kTypes[turn % 3];
            const Form form{.n = n,
                            .operands = operands,
                            .sums = sums,
                            .swizzle = swizzle,
                            .a_in_registers = turn % 5 == 4,
                            .a_k_major = turn / 2 % 2 == 0,
                            .b_k_major = turn / 4 % 2 == 0,
                            .adds = turn % 7 != 0,
                            .factor_a = turn % 11 == 3 ? -1 : 1,
                            .factor_b = turn % 13 == 5 ? -1 : 1,
                            .k_step = turn / 3 % (swizzle == 16 ? 1 : swizzle / 32)};
            INFO(form);
            CHECK(wrong_sums(form, random, turn++ % 2 == 0) == 0);
        }
}

TEST_CASE("emulator wgmma: every combination of its parameters") {
    RandomBits random(2);
    for (int bits = 0; bits < 128; ++bits)
        for (const int swizzle : kSwizzles) {
            const auto [operands, sums] = kTypes[(bits + swizzle / 32) % 3];
            const auto bit = [&](int i) { return (bits >> i & 1) != 0; };
            const Form form{.n = bit(0) ? 24 : 16,
                            .operands = operands,
                            .sums = sums,
                            .swizzle = swizzle,
                            .a_in_registers = bit(1),
                            .a_k_major = bit(2),
                            .b_k_major = bit(3),
                            .adds = bit(4),
                            .factor_a = bit(5) ? -1 : 1,
                            .factor_b = bit(6) ? -1 : 1};
            INFO(form);
            CHECK(wrong_sums(form, random, false) == 0);
        }
}

TEST_CASE("emulator wgmma: operations, and passes over shared memory as an H200 takes cycles for") {
    for (const bool a_in_registers : {false, true})
        for (const int n : {8, 24, 32, 256}) {
            const Form form{.n = n, .a_in_registers = a_in_registers};
            const Matrix zeros_a(kRows, kDepth), zeros_b(n, kDepth), zeros_c(kRows, n);
            const emulator::Counters counters = run(form, input_of(form, zeros_a, zeros_b, zeros_c)).counters;
            const emulator::Tally& tally = counters.of(emulator::InstructionKind::tensor);
            INFO(form);
            CHECK(tally.warps == 4);
            CHECK(tally.operations == std::uint64_t(2 * kRows * n * kDepth));
            CHECK(tally.wavefronts == std::uint64_t(((a_in_registers ? 0 : 2048) + 32 * n) / 128));
            CHECK(tally.ideal_wavefronts == tally.wavefronts);
        }
}
