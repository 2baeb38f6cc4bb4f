/// Batches and groups through the C interface, on the emulator, against loops.

#include "jitgemm/jitgemm.h"
#include "tests/catch.hpp"
#include "tests/support/c_interface.hpp"
#include "tests/support/says.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace {

using namespace jitgemm::testing;

constexpr int kRows = 5, kColumns = 6, kDepth = 7;

std::vector<float> small_integers(std::size_t count, std::size_t period) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % period) - 2;
    return values;
}

/// bf16 is the upper half of an f32. Small integers have no other bits.
std::vector<std::uint16_t> as_bf16(const std::vector<float>& values) {
    std::vector<std::uint16_t> halves;
    for (const float value : values)
        halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
    return halves;
}

/// Where an element lies in a matrix whose lines lie `pitch` elements apart.
std::size_t place_of(int line, int pitch, int place) {
    return static_cast<std::size_t>(line) * static_cast<std::size_t>(pitch) + static_cast<std::size_t>(place);
}

OwnedKernel kernel_of(jg_context* context, const jg_gemm& gemm) {
    jg_kernel* kernel = nullptr;
    const jg_status status = jg_kernel_create_from_gemm(context, &gemm, &kernel);
    INFO(jg_last_error());
    REQUIRE(status == JG_OK);
    return OwnedKernel(kernel);
}

}  // namespace

TEST_CASE("C: a batch of two dimensions, with heads side by side and one B for all heads of a sequence") {
    constexpr int kHeads = 3, kSequences = 2;
    constexpr int kPitchOfA = kHeads * kDepth, kPitchOfD = kHeads * kColumns + 1;
    const OwnedContext context = new_context();
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = kRows, gemm.n = kColumns, gemm.k = kDepth;
    gemm.a = "f32", gemm.layout = "tt";
    gemm.lda = kPitchOfA, gemm.ldd = kPitchOfD;
    gemm.batch = kHeads * kSequences, gemm.batch_inner = kHeads;
    gemm.batch_stride_a = kDepth, gemm.batch_stride_b = JG_SAME, gemm.batch_stride_d = kColumns;
    const OwnedKernel kernel = kernel_of(context.get(), gemm);

    const std::vector<float> a = small_integers(kSequences * kRows * kPitchOfA, 11);
    const std::vector<float> b = small_integers(kSequences * kDepth * kColumns, 7);
    std::vector<float> d(kSequences * kRows * kPitchOfD, -100);
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    arguments.a = a.data(), arguments.b = b.data(), arguments.d = d.data();
    REQUIRE(jg_kernel_launch(kernel.get(), &arguments, nullptr) == JG_OK);

    int wrong = 0;
    for (int sequence = 0; sequence < kSequences; ++sequence)
        for (int row = 0; row < kRows; ++row)
            for (int place = 0; place < kPitchOfD; ++place) {
                const int head = place / kColumns, column = place % kColumns;
                float expected = head < kHeads ? 0 : -100;  // the last element lies between lines
                for (int k = 0; k < kDepth && head < kHeads; ++k)
                    expected += a[place_of(sequence * kRows + row, kPitchOfA, head * kDepth + k)] *
                                b[place_of(sequence * kDepth + k, kColumns, column)];
                wrong += d[place_of(sequence * kRows + row, kPitchOfD, place)] != expected;
            }
    CHECK(wrong == 0);

    gemm.batch_inner = 4;
    jg_kernel* none = nullptr;
    CHECK(jg_kernel_create_from_gemm(context.get(), &gemm, &none) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("batch_inner is 4 and batch is 6"));
}

TEST_CASE("C: groups of rows, one of them empty, and rows behind the last group") {
    constexpr int kAllRows = 21, kN = 16, kK = 24;
    const OwnedContext context = new_context("device=emulator:sm_90a; cache-dir=; cache-readonly=");
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = kAllRows, gemm.n = kN, gemm.k = kK;
    gemm.a = "bf16", gemm.d = "f32", gemm.layout = "tn";
    gemm.groups = 3;
    const OwnedKernel kernel = kernel_of(context.get(), gemm);

    const std::vector<float> a = small_integers(kAllRows * kK, 5), b = small_integers(3 * kN * kK, 7);
    const std::vector<std::uint16_t> half_a = as_bf16(a), half_b = as_bf16(b);
    const std::array<std::int32_t, 3> ends{9, 9, 19};
    std::vector<float> d(kAllRows * kN, -1000);
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    arguments.a = half_a.data(), arguments.b = half_b.data(), arguments.d = d.data();
    arguments.offsets = ends.data();
    REQUIRE(jg_kernel_launch(kernel.get(), &arguments, nullptr) == JG_OK);

    int wrong = 0;
    for (int row = 0; row < kAllRows; ++row)
        for (int column = 0; column < kN; ++column) {
            const int group = row < 9 ? 0 : 2;
            float expected = row < 19 ? 0 : -1000;
            for (int k = 0; k < kK && row < 19; ++k)
                expected += a[place_of(row, kK, k)] * b[place_of(group * kN + column, kK, k)];
            wrong += d[place_of(row, kN, column)] != expected;
        }
    CHECK(wrong == 0);

    arguments.offsets = nullptr;
    CHECK(jg_kernel_launch(kernel.get(), &arguments, nullptr) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("offsets is null"));
}
