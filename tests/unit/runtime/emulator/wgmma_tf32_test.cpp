// wgmma of tf32 on the emulator against exact sums: every step of n, both sources of A, with and without what the sums
// held, negated or not. The low 13 bits of elements are random, and must not count.

#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/wgmma_program.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

constexpr int kRows = 64;
constexpr int kDepth = 8;
constexpr int kThreads = 128;
constexpr int kTileWords = 256 * kDepth;  // of an operand in shared memory

constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct Form {
    int n = 8;
    bool a_in_registers = false;
    bool adds = true;
    int factor_a = 1, factor_b = 1;
};

/// Not swizzled: core matrices of eight rows of 16 bytes lie one behind the other, those of the next 4 of K behind
/// those of all rows.
constexpr int kLeadingWords = 256 * 4;
std::size_t place(int row, int k) { return index(k / 4 * kLeadingWords + row * 4 + k % 4); }
constexpr std::uint64_t kDescriptor = std::uint64_t{128 / 16} << 32U | std::uint64_t{kLeadingWords / 4} << 16U;

std::string kernel(const Form& form) {
    return ptx_of(
        {.tile_bytes = 2 * kTileWords * 4,
         .sum_registers = form.n / 2,
         .place_a = kDescriptor,
         .place_b = kDescriptor + kTileWords / 4,
         .adds = form.adds,
         .multiply = fmt::format("wgmma.mma_async.sync.aligned.m64n{}k8.f32.tf32.tf32 {}, {}, %b, %adds, {}, {};",
                                 form.n, register_list("%d", form.n / 2),
                                 form.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%a", form.factor_a, form.factor_b)});
}

/// An operand of small integers, rows by kDepth.
struct Integers {
    std::vector<int> of;

    Integers(RandomBits& random, int rows) : of(index(rows * kDepth)) {
        for (int& element : of) element = static_cast<int>(random.below(15)) - 7;
    }
    [[nodiscard]] int at(int row, int k) const { return of.at(index(row * kDepth + k)); }
};

std::uint32_t with_random_rest(RandomBits& random, int value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value)) | static_cast<std::uint32_t>(random.below(1 << 13));
}

int wrong_sums(const Form& form, RandomBits& random) {
    const Integers a(random, kRows), b(random, form.n);
    std::vector<std::uint32_t> input(2 * kTileWords + kThreads * 4);
    for (int k = 0; k < kDepth; ++k) {
        for (int row = 0; row < kRows && !form.a_in_registers; ++row)
            input[place(row, k)] = with_random_rest(random, a.at(row, k));
        for (int column = 0; column < form.n; ++column)
            input[kTileWords + place(column, k)] = with_random_rest(random, b.at(column, k));
    }
    // A's registers are those of mma.m16n8k8 (PTX ISA): row g or g + 8, k t or t + 4.
    for (int thread = 0; thread < kThreads; ++thread)
        for (int i = 0; i < 4; ++i) {
            const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i % 2);
            input[index(2 * kTileWords + 4 * thread + i)] =
                with_random_rest(random, a.at(row, thread % 4 + 4 * (i / 2)));
        }
    const std::size_t words = index(kThreads * form.n / 2);
    std::vector<int> sums(words);
    for (int& sum : sums) {
        sum = static_cast<int>(random.below(2000)) - 1000;
        input.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(sum)));
    }
    const auto program = emulator::load_program(kernel(form));
    const PtxResult result =
        run_entry(*program, {.entry = "kernel", .grid = {1, 1, 1}, .block = {kThreads, 1, 1}}, input, words);
    int wrong = 0;
    for (int thread = 0; thread < kThreads; ++thread)
        for (int i = 0; i < form.n / 2; ++i) {  // PTX ISA, "Register Fragments for wgmma": D
            const std::size_t at = index(thread * form.n / 2 + i);
            const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
            const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
            int sum = form.adds ? sums[at] : 0;
            for (int k = 0; k < kDepth; ++k) sum += form.factor_a * form.factor_b * a.at(row, k) * b.at(column, k);
            wrong += std::bit_cast<float>(result.output[at]) != static_cast<float>(sum) ? 1 : 0;
        }
    return wrong;
}

}  // namespace

TEST_CASE("emulator wgmma: tf32 is f32 without its low 13 bits") {
    RandomBits random(3);
    for (int n = 8, turn = 0; n <= 256; n += 8, ++turn) {
        const Form form{.n = n,
                        .a_in_registers = turn % 3 == 2,
                        .adds = turn % 5 != 0,
                        .factor_a = turn % 7 == 3 ? -1 : 1,
                        .factor_b = turn % 6 == 1 ? -1 : 1};
        INFO("n = " << n);
        CHECK(wrong_sums(form, random) == 0);
    }
}

TEST_CASE("emulator wgmma: tf32 has no other forms") {
    const std::string good = kernel({.n = 64});
    const auto refused = [&](std::string_view from, std::string_view to) {
        CHECK_THROWS(emulator::load_program(with_replaced(good, from, to)));
    };
    CHECK_NOTHROW(emulator::load_program(good));
    refused("k8.", "k16.");
    refused("tf32.tf32", "tf32.bf16");
    refused("%adds, 1, 1", "%adds, 1, 1, 0, 0");
}
