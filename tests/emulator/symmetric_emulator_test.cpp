/// Symmetric products on the emulator: verify() finds each element stored once, and the tests compare D with its
/// transpose and with the full product, bit for bit.

#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/symmetric_checks.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array kServed{GemmLayout::tn, GemmLayout::nt};

}  // namespace

TEST_CASE("emulated symmetric products: every variant of wgmma, types and pitches by turns") {
    using enum DataType;
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view variant : kSymmetricVariants) {
        const bool is_streamed = variant.find("stream_k") != std::string_view::npos;
        GemmSpec spec = symmetric_of(kServed.at(i / 2 % 2), 296 + 16 * static_cast<std::int64_t>(i % 5),
                                     is_streamed ? 704 : 104, i % 2 == 0 ? bf16 : f16);
        spec.d = std::array{spec.a, f32, spec.a, bf16}.at(i % 4);
        if (i % 5 == 3) spec.ldd = spec.n + 24;
        if (i % 6 == 4) spec.d_order = Order::column;
        if (i % 3 == 2) spec.lda = (order_a(spec.layout) == Order::row ? spec.k : spec.m) + 40;
        ++i;
        if (!tried.next()) continue;
        INFO(variant);
        check_symmetric(on_hopper(), spec, symmetric_config(spec, variant), {.alpha = 0.5F, .seed = i});
    }
}

TEST_CASE("emulated symmetric products: all sizes modulo 64") {
    OneIn tried(2);
    for (std::int64_t m = 1; m <= 64; ++m) {
        if (!tried.next()) continue;
        const auto i = static_cast<std::size_t>(m);
        GemmSpec spec = symmetric_of(kServed.at(i % 2), m % 3 == 0 ? m : m + 64 * (m % 3), 24 + m);
        const std::string_view variant = kSymmetricVariants.at(std::array{0U, 4U, 7U, 6U, 1U}.at(i % 5));
        check_symmetric(on_hopper(), spec, symmetric_config(spec, variant), {.seed = i});
    }
}

TEST_CASE("emulated symmetric products: 8 bits, integers and tf32") {
    using enum DataType;
    for (const auto& [type, d] : {std::pair{e4m3, bf16}, std::pair{e5m2, e5m2}, std::pair{e4m3, f32},
                                  std::pair{s8, s32}, std::pair{s8, s8}, std::pair{f32, f32}})
        for (const GemmLayout layout : kServed) {
            GemmSpec spec = symmetric_of(layout, 272, 160, type);
            spec.d = d;
            if (type == f32) spec.math = Math::tf32;
            check_symmetric_choice(on_hopper(), spec);
        }
}

TEST_CASE("emulated symmetric products: the full product of other families is its own transpose") {
    OneIn tried(2);
    for (const GemmLayout layout : kServed)
        for (const std::int64_t k : {70, 700}) {
            if (!tried.next()) continue;
            check_symmetric_choice(on_emulator(), symmetric_of(layout, 100, k));
            check_symmetric_choice(on_hopper(), symmetric_of(layout, 60, k, DataType::f32));
            check_symmetric_choice(on_emulator(), symmetric_of(layout, 131, k, DataType::f32));
        }
    for (const Family& family : family_table()) {
        const GemmSpec spec = symmetric_of(GemmLayout::tn, 48, 520, DataType::f32);
        const Problem problem = problem_of(spec);
        const GpuModel& gpu = state_of(on_emulator()).device->model();
        if (!family.unsupported(problem, *gpu.arch).empty()) continue;
        const std::vector<KernelConfig> candidates = family.candidates(problem, gpu);
        for (std::size_t i = 0; i < candidates.size(); i += candidates.size() / 4 + 1)
            if (family.violations(problem, candidates[i], *gpu.arch).empty())
                check_symmetric(on_emulator(), spec, candidates[i]);
    }
}

TEST_CASE("emulated symmetric products: texts of scalars, batches, edges") {
    for (const std::string_view text : {"d = relu(acc)", "limit: f32; d = clamp(alpha * acc, -limit, limit)"}) {
        GemmSpec spec = symmetric_of(GemmLayout::tn, 136, 72);
        spec.epilogue = text;
        check_symmetric_choice(on_hopper(), spec);
    }
    for (const GemmLayout layout : kServed) {
        GemmSpec spec = symmetric_of(layout, 136, 72);
        spec.batch = 3;
        check_symmetric(on_hopper(), spec, symmetric_config(spec, kSymmetricVariants[0]));
        spec.batch_stride_a = 64;
        spec.batch_stride_d = 136 * 136 + 64;
        check_symmetric_choice(on_hopper(), spec);
        check_symmetric_choice(on_emulator(), spec);
    }
    for (const std::int64_t m : {0, 1, 8}) check_symmetric_choice(on_hopper(), symmetric_of(GemmLayout::nt, m, 40));
    check_symmetric_choice(on_hopper(), symmetric_of(GemmLayout::tn, 72, 0));
    check_symmetric_choice(on_hopper(), symmetric_of(GemmLayout::tn, 72, 64), {.alpha = 0.0F});
}

TEST_CASE("emulated symmetric products: random problems") {
    using enum DataType;
    RandomBits random(42);
    for (int i = 0; i < 16; ++i) {
        GemmSpec spec = symmetric_of(kServed.at(random.below(2)), 1 + random.below(300), 1 + random.below(200),
                                     random.below(2) == 0 ? bf16 : f16);
        if (random.below(3) == 0) spec.d = random.below(2) == 0 ? f32 : f16;
        if (random.below(3) == 0) spec.d_order = Order::column;
        const std::int64_t run = order_a(spec.layout) == Order::row ? spec.k : spec.m;
        if (random.below(2) == 0) spec.lda = run + random.below(20);
        if (random.below(2) == 0) spec.ldd = spec.n + random.below(20);
        const std::string_view variant = kSymmetricVariants.at(random.below(10));
        check_symmetric(on_hopper(), spec, symmetric_config(spec, variant), {.seed = 1 + random.below(1000)});
    }
}

TEST_CASE("emulated symmetric products: planted faults are found") {
    const GemmSpec spec = symmetric_of(GemmLayout::tn, 456, 64);
    const KernelConfig config = symmetric_config(spec, kSymmetricVariants[0]);
    check_faults(on_hopper(), spec, config,
                 {{"if (j >= i + is_even)", "if (j > i + is_even)"},
                  {"1 - squares % 2", "squares % 2"},
                  {"squares - 1 - j", "squares - 2 - j"},
                  {"(squares | 1)", "squares"},
                  {"row / kSliceColumns > column / kSliceColumns", "row / kSliceColumns >= column / kSliceColumns"},
                  {"args.map_mirror, row, column", "args.map_mirror, column, row"},
                  {"lane / 8 % 2), words", "0), words"},
                  {"j * 8 + lane / 16 * 8 + lane % 8", "j * 8 + lane % 16"}});
}
