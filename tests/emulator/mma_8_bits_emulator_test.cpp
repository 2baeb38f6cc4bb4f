/// mma_multistage with 8-bit operands on the emulator. Each kernel serves problems of whole tiles and of cut ones.
/// verify() compares with exact sums: of integers for all bytes.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using enum DataType;

/// Lines of A and B at multiples of 16 bytes.
GemmSpec of_bytes(const Sizes& size, DataType a, DataType b, DataType d) {
    GemmSpec spec = spec_of(GemmLayout::tn, size[0], size[1], size[2], a);
    spec.b = b;
    spec.d = d;
    spec.lda = spec.ldb = std::max<std::int64_t>((size[2] + 15) / 16 * 16, 16);
    return spec;
}

/// With lines at odd addresses, so that problems of all sizes share a kernel.
GemmSpec at_odd_addresses(GemmSpec spec, GemmLayout layout) {
    spec.layout = layout;
    spec.lda = (order_a(layout) == Order::row ? spec.k : spec.m) | 1;
    spec.ldb = (order_b(layout) == Order::row ? spec.n : spec.k) | 1;
    spec.align_a = spec.align_b = 1;
    return spec;
}

constexpr std::array<Sizes, 3> kSizes{{{128, 128, 256}, {67, 80, 75}, {5, 16, 300}}};

}  // namespace

TEST_CASE("emulated mma.sync of 8 bits: integers, whole tiles and cut ones") {
    for (const Sizes& size : kSizes)
        static_cast<void>(check_with(on_emulator(), of_bytes(size, s8, s8, s32),
                                     "block=64x64x64,warp=32x32,stages=3,mma=16x8x32",
                                     {.alpha = size[0] == 5 ? 0.5F : 1.0F}));
    static_cast<void>(check_with(on_emulator(), of_bytes({40, 48, 0}, s8, s8, s32),
                                 "block=64x64x64,warp=32x32,stages=3,mma=16x8x32"));
}

TEST_CASE("emulated mma.sync of 8 bits: integers whose K is not contiguous, at odd addresses") {
    for (const Sizes& size : kSizes)
        static_cast<void>(check_with(on_emulator(), at_odd_addresses(of_bytes(size, s8, s8, s8), GemmLayout::nt),
                                     "block=64x32x128,warp=32x16,stages=4,mma=16x8x32,pack=ab,rasterization=zigzag",
                                     {.alpha = 0x1p-7F}));
}

TEST_CASE("emulated mma.sync of 8 bits: integers with zero points, split, in rows of four bytes") {
    for (const Sizes& size : kSizes) {
        GemmSpec spec = of_bytes(size, s8, s8, bf16);
        spec.layout = GemmLayout::tt;
        spec.lda = size[2] / 4 * 4 + 4;
        spec.ldb = size[1] + 16;
        spec.align_a = 4;
        spec.epilogue = "zero: f32[m]; column_sum: f32[n]; d = (acc - zero[m] * column_sum[n]) * 0.25";
        static_cast<void>(
            check_with(on_emulator(), spec, "block=64x64x64,warp=32x32,stages=2,mma=16x8x32,pack=b,split_k=3"));
    }
}

TEST_CASE("emulated mma.sync of 8 bits: the largest sums of integers, split") {
    constexpr std::int64_t kLongest = 131071, kPitch = 131072;
    GemmSpec spec = of_bytes({2, 8, kLongest}, s8, s8, s32);
    Context& context = on_emulator();
    const KernelConfig config = with_parameters(
        {MmaMultistageConfig{}}, parse_parameters("block=16x64x256,warp=16x16,stages=3,mma=16x8x32,split_k=5"));
    const GemmKernel kernel = state_of(context).build(problem_of(spec), config);
    const std::vector<std::int8_t> least(8 * kPitch, -128);
    std::vector<std::int32_t> d(16);
    DeviceBuffer a = context.allocate(2 * kPitch), b = context.allocate(least.size()), device_d = context.allocate(64);
    a.copy_from_host(least.data(), 2 * kPitch);
    b.copy_from_host(least.data(), least.size());
    kernel.launch({.a = a.data(), .b = b.data(), .d = device_d.data()});
    context.synchronize();
    device_d.copy_to_host(d.data(), 64);
    CHECK(std::ranges::count(d, 2147467264) == 16);
}

TEST_CASE("emulated mma.sync of 8 bits: floats with promoted sums, whole tiles and cut ones") {
    for (const Sizes& size : kSizes)
        static_cast<void>(check_with(on_ada(), of_bytes(size, e4m3, e5m2, bf16),
                                     "block=64x64x128,warp=32x32,stages=3,mma=16x8x32,promote=128"));
    for (const Sizes& size : kSizes) {
        GemmSpec spec = at_odd_addresses(of_bytes(size, e4m3, e4m3, e4m3), GemmLayout::nn);
        spec.epilogue = "row: f32[m]; column: f32[n]; d = acc * row[m] * column[n]";
        static_cast<void>(
            check_with(on_ada(), spec, "block=32x64x256,warp=16x32,stages=2,mma=16x8x32,promote=128,pack=ab"));
    }
}

TEST_CASE("emulated mma.sync of 8 bits: D of 8 bits in rows of any length and alignment, also where wgmma is") {
    std::size_t i = 0;
    for (const std::int64_t n : {1, 2, 15, 24, 40, 77, 100})
        for (const DataType type : {e4m3, s8}) {
            GemmSpec spec = of_bytes({67, n, 75}, type, type, type);
            if (++i % 3 == 0) spec.d_order = Order::column;
            if (i % 4 == 1) spec.ldd = (spec.d_order == Order::row ? n : 67) + static_cast<std::int64_t>(i % 5);
            if (i % 4 == 2) spec.epilogue = "bias: f32[n]; d = acc * 0.125 + bias[n]";
            INFO(to_string(spec));
            static_cast<void>(check_chosen(on_hopper(), spec));
            static_cast<void>(check_chosen(on_ada(), spec));
        }
    GemmSpec groups = of_bytes({70, 40, 80}, e4m3, e5m2, e4m3);
    groups.groups = 3;
    static_cast<void>(check_chosen(on_hopper(), groups));
}

TEST_CASE("emulated mma.sync of 8 bits: floats with fast sums and C, split") {
    for (const Sizes& size : kSizes) {
        GemmSpec spec = of_bytes(size, e5m2, e4m3, f32);
        spec.sums = Summation::fast;
        spec.c = f32;
        static_cast<void>(check_with(on_ada(), spec, "block=64x32x64,warp=32x16,stages=3,mma=16x8x32,split_k=2",
                                     {.alpha = 0.5F, .beta = 2.0F}));
    }
}

TEST_CASE("emulated mma.sync of 8 bits: a batch, whose operands are copied") {
    for (const Sizes& size : kSizes) {
        GemmSpec spec = at_odd_addresses(of_bytes(size, e4m3, e5m2, DataType::f16), GemmLayout::tt);
        spec.batch = 3;
        static_cast<void>(
            check_with(on_ada(), spec, "block=64x64x128,warp=32x32,stages=2,mma=16x8x32,promote=128,pack=ab"));
    }
}

TEST_CASE("emulated mma.sync of 8 bits: arrays of addresses, which wgmma doesn't take") {
    GemmSpec spec = of_bytes({70, 64, 80}, s8, s8, bf16);
    spec.batch = 3;
    spec.pointers = true;
    static_cast<void>(check_chosen(on_hopper(), spec));
}

TEST_CASE("emulated mma.sync of 8 bits: pairs of columns") {
    for (const std::int64_t k : {75, 256}) {
        GemmSpec spec = of_bytes({40, 96, k}, s8, s8, bf16);
        spec.epilogue = "d[m,h] = silu(left(acc) * 0.01) * right(acc)";
        static_cast<void>(check_with(on_emulator(), spec, "block=64x32x64,warp=32x32,stages=3,mma=16x8x32"));
    }
}

TEST_CASE("emulated mma.sync of 8 bits: splits that add up in a cluster") {
    static Context context(emulator_options("sm_120"));
    static_cast<void>(check_with(context, of_bytes({67, 64, 600}, e4m3, e4m3, e5m2),
                                 "block=64x32x128,warp=32x16,stages=2,mma=16x8x32,promote=128,split_k=3,"
                                 "reduction=cluster"));
}
