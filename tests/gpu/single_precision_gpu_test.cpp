/// f32 as tf32 on a GPU: elements are rounded as the emulator assumes, and products are right in every layout.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec tf32_spec(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = spec_of(layout, m, n, k, DataType::f32);
    spec.math = Math::tf32;
    return spec;
}

}  // namespace

TEST_CASE("tf32: TMA rounds elements to the nearest of 11 bits, ties to even") {
    REQUIRE_GPU();
    Context context;
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("this GPU has no wgmma");
    // D = A · 1. Elements of A lie in sixteenths of a step between numbers of 11 bits.
    constexpr std::size_t kRows = 64, kColumns = 32;
    std::vector<float> a(kRows * kColumns), identity(kColumns * kColumns), d(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = std::ldexp(1 + static_cast<float>(i) * 0x1p-14F, static_cast<int>(i % 60) - 30) *
               (i % 3 == 0 ? -1.0F : 1.0F);
    for (std::size_t i = 0; i < kColumns; ++i) identity[i * (kColumns + 1)] = 1;
    const GemmKernel kernel =
        state_of(context).build(problem_of(tf32_spec(GemmLayout::tn, kRows, kColumns, kColumns)),
                                KernelConfig{wgmma_config("block=64x32x32,warpgroup=64x32,stages=3")});
    DeviceBuffer device_a = context.allocate(a.size() * 4), device_b = context.allocate(identity.size() * 4);
    DeviceBuffer device_d = context.allocate(d.size() * 4);
    device_a.copy_from_host(a.data(), a.size() * 4);
    device_b.copy_from_host(identity.data(), identity.size() * 4);
    kernel.launch({.a = device_a.data(), .b = device_b.data(), .d = device_d.data()});
    context.synchronize();
    device_d.copy_to_host(d.data(), d.size() * 4);
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        int exponent = 0;
        static_cast<void>(std::frexp(a[i], &exponent));
        wrong += d[i] != std::ldexp(std::nearbyint(std::ldexp(a[i], 11 - exponent)), exponent - 11) ? 1 : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("tf32: every layout, pitches that TMA can address and others, all schedules") {
    REQUIRE_GPU();
    Context context;
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("this GPU has no wgmma");
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt})
        for (const Sizes& size : {Sizes{1024, 512, 640}, Sizes{257, 1001, 131}, Sizes{2051, 1101, 523}})
            for (const char* variant : {"block=128x256x32,warpgroup=64x256,stages=4,cluster=2x1",
                                        "block=256x128x32,warpgroup=128x128,schedule=overlapped,stages=3,cluster=1x2",
                                        "block=128x128x32,warpgroup=128x128,schedule=pingpong,stages=4",
                                        "block=128x64x64,warpgroup=64x64,stages=4,stream_k=24"})
                check_wgmma(context, tf32_spec(layout, size[0], size[1], size[2]), variant);
}
