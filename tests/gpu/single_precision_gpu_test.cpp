/// f32 as tf32 on a GPU: elements are rounded as the emulator assumes, and products are right in every layout. f32 in
/// longer parts. Operands that are prepared once, of f32 and of 8 bits.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
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

TEST_CASE("bf16x6 and tf32x3 on a GPU: every layout, both schedules, clusters, stream-K, split and prepared operands") {
    REQUIRE_GPU();
    Context context;
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("this GPU has no wgmma");
    for (const Math math : {Math::bf16x6, Math::tf32x3})
        for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt})
            for (const char* variant : {"block=128x240x32,warpgroup=64x240,stages=2,cluster=2x1,promote=32",
                                        "block=128x112x32,warpgroup=128x112,schedule=pingpong,stages=3,promote=32",
                                        "block=128x64x32,warpgroup=64x64,stages=4,stream_k=24,promote=32"}) {
                GemmSpec spec = tf32_spec(layout, 1031, 520, 387);
                spec.math = math;
                check_wgmma(context, spec, variant);
                spec.prepared = Prepared::ab;
                check_wgmma(context, spec, variant);
            }
}

TEST_CASE("bf16x6 on a GPU: the three parts of an element add up exactly, subnormal ones up to their last bits") {
    REQUIRE_GPU();
    Context context;
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("this GPU has no wgmma");
    constexpr std::size_t kRows = 4096, kColumns = 32;
    std::vector<float> a(kRows * kColumns), identity(kColumns * kColumns), d(a.size());
    std::mt19937 random(1);
    for (float& element : a) {
        const auto bits = static_cast<std::uint32_t>(random());
        element = std::bit_cast<float>((bits & 0x7f800000U) == 0x7f800000U ? bits ^ 0x00800000U : bits);
    }
    for (std::size_t i = 0; i < kColumns; ++i) identity[i * (kColumns + 1)] = 1;
    GemmSpec spec = tf32_spec(GemmLayout::tn, kRows, kColumns, kColumns);
    spec.math = Math::bf16x6;
    const GemmKernel kernel = state_of(context).build(
        problem_of(spec), KernelConfig{wgmma_config("block=64x32x32,warpgroup=64x32,stages=3,promote=32")});
    DeviceBuffer device_a = context.allocate(a.size() * 4), device_b = context.allocate(identity.size() * 4);
    DeviceBuffer device_d = context.allocate(d.size() * 4);
    device_a.copy_from_host(a.data(), a.size() * 4);
    device_b.copy_from_host(identity.data(), identity.size() * 4);
    kernel.launch({.a = device_a.data(), .b = device_b.data(), .d = device_d.data()});
    context.synchronize();
    device_d.copy_to_host(d.data(), d.size() * 4);
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double allowed = std::fabs(a[i]) < 0x1p-110F ? 0x1p-134 : 0;
        wrong += std::fabs(static_cast<double>(d[i]) - a[i]) <= allowed ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("prepared operands on a GPU: products are right, of f32 in parts and as tf32, and of 8 bits") {
    REQUIRE_GPU();
    Context context;
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("this GPU has no wgmma");
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt})
        for (const Prepared operands : {Prepared::b, Prepared::ab}) {
            GemmSpec spec = tf32_spec(layout, 1031, 520, 387);
            spec.prepared = operands;
            check_wgmma(context, spec, "block=128x256x32,warpgroup=64x256,stages=4,cluster=2x1");
            spec.math = Math::f16x3;
            check_wgmma(context, spec, "block=128x128x32,warpgroup=64x128,stages=3,promote=32");
            spec = spec_of(layout, 1024, 528, 387, DataType::e4m3);
            spec.prepared = operands;
            check_wgmma(context, spec, "block=128x128x128,warpgroup=64x128,stages=4,promote=128");
        }
}

TEST_CASE("a prepared operand on a GPU: its bits are those of launches that prepare, for each m of a set") {
    REQUIRE_GPU();
    Context context;
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("this GPU has no wgmma");
    GemmSpec spec = tf32_spec(GemmLayout::tt, 4096, 512, 640);
    spec.math = Math::f16x3;
    spec.prepared = Prepared::b;
    const GemmKernelSet set = context.kernels(spec, 1, 4096);
    std::vector<float> a(4096 * 640), b(640 * 512);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
    DeviceBuffer device_a = context.allocate(a.size() * 4), device_b = context.allocate(b.size() * 4);
    DeviceBuffer device_d = context.allocate(4096 * 512 * 4);
    device_a.copy_from_host(a.data(), a.size() * 4);
    device_b.copy_from_host(b.data(), b.size() * 4);
    const PreparedOperand weight = set.kernel(1).prepare_b(device_b.data());
    for (const std::int64_t m : {1, 64, 1000, 4096}) {
        INFO(m);
        const GemmKernel kernel = set.kernel(m);
        GemmSpec plain = kernel.spec();
        plain.prepared = Prepared::none;
        const GemmKernel same = state_of(context).build(problem_of(plain), state_of(kernel).source().id.config);
        std::vector<float> d(static_cast<std::size_t>(m * 512)), expected(d.size());
        same.launch({.a = device_a.data(), .b = device_b.data(), .d = device_d.data()});
        context.synchronize();
        device_d.copy_to_host(expected.data(), expected.size() * 4);
        kernel.launch({.a = device_a.data(), .d = device_d.data(), .prepared_b = &weight});
        context.synchronize();
        device_d.copy_to_host(d.data(), d.size() * 4);
        CHECK(d == expected);
    }
}
