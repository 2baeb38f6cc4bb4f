/// Symmetric products on a GPU: verified, equal to their transposes and to the full product, bit for bit.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/symmetric_checks.hpp"

#include <array>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array kServed{GemmLayout::tn, GemmLayout::nt};

bool has_wgmma(Context& context) { return state_of(context).device->model().arch->has_wgmma; }

}  // namespace

TEST_CASE("symmetric products on a GPU: every variant of wgmma, types and pitches by turns") {
    REQUIRE_GPU();
    using enum DataType;
    Context context;
    if (!has_wgmma(context)) SKIP_TEST("the GPU has no wgmma");
    std::size_t i = 0;
    for (const std::string_view variant : kSymmetricVariants)
        for (const std::int64_t m : {1024, 1311, 2056}) {
            GemmSpec spec = symmetric_of(kServed.at(i / 2 % 2), m, 1500 + 4 * static_cast<std::int64_t>(i % 3),
                                         i % 2 == 0 ? bf16 : f16);
            spec.d = std::array{spec.a, f32, spec.a, bf16}.at(i % 4);
            if (i % 5 == 3) spec.ldd = spec.n + 24;
            if (i % 6 == 4) spec.d_order = Order::column;
            check_symmetric(context, spec, symmetric_config(spec, variant), {.alpha = 0.5F, .seed = ++i});
        }
}

TEST_CASE("symmetric products on a GPU: all types, choices of the heuristic") {
    REQUIRE_GPU();
    using enum DataType;
    Context context;
    for (const GemmLayout layout : kServed)
        for (const DataType type : {bf16, f16, f32})
            for (const std::int64_t m : {40, 1000, 4096})
                check_symmetric_choice(context, symmetric_of(layout, m, 700, type));
    check_symmetric_choice(context, symmetric_of(GemmLayout::nt, 64, 300'000, f32));
    if (!has_wgmma(context)) return;
    for (const auto& [type, d] :
         {std::pair{e4m3, bf16}, std::pair{e5m2, e5m2}, std::pair{s8, s32}, std::pair{s8, s8}, std::pair{f32, f32}})
        for (const GemmLayout layout : kServed) {
            GemmSpec spec = symmetric_of(layout, 1040, 720, type);
            spec.d = d;
            if (type == f32) spec.math = Math::tf32;
            check_symmetric_choice(context, spec);
        }
}

TEST_CASE("symmetric products on a GPU: all sizes modulo 64, batches, random problems") {
    REQUIRE_GPU();
    using enum DataType;
    Context context;
    for (std::int64_t m = 449; m <= 512; ++m)
        check_symmetric_choice(context, symmetric_of(kServed.at(static_cast<std::size_t>(m) % 2), m, 264));
    GemmSpec batch = symmetric_of(GemmLayout::tn, 520, 136);
    batch.batch = 17;
    check_symmetric_choice(context, batch);
    RandomBits random(7);
    for (int i = 0; i < 100; ++i) {
        GemmSpec spec = symmetric_of(kServed.at(random.below(2)), 1 + random.below(3000), 1 + random.below(3000),
                                     random.below(2) == 0 ? bf16 : f16);
        if (random.below(3) == 0) spec.d = f32;
        const std::int64_t run = order_a(spec.layout) == Order::row ? spec.k : spec.m;
        if (random.below(2) == 0) spec.lda = run + random.below(20);
        if (random.below(2) == 0) spec.ldd = spec.n + random.below(20);
        check_symmetric_choice(context, spec, {.seed = 1 + random.below(1000)});
    }
}
