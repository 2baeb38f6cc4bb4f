/// Operands that are prepared once, on the emulator: the bits are those of launches that prepare, one preparation
/// serves many kernels, and another form is refused.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::string_view kOfParts = "block=64x64x64,warpgroup=64x64,stages=3,promote=32,store=smem";
constexpr std::string_view kSmaller = "block=64x32x32,warpgroup=64x32,stages=4,promote=32,store=smem";
constexpr std::string_view kStreamed = "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7,promote=32,store=smem";
constexpr std::string_view kTf32 = "block=64x64x64,warpgroup=64x64,stages=3,store=smem";
constexpr std::string_view kOfBytes = "block=64x64x128,warpgroup=64x64,stages=3,promote=128";
constexpr std::string_view kIntegers = "block=64x64x128,warpgroup=64x64,stages=3,store=smem";

/// Finite numbers of any type.
std::vector<std::byte> random_elements(DataType type, std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<std::byte> elements(static_cast<std::size_t>(count * bytes(type)));
    for (std::size_t i = 0; i < elements.size(); i += static_cast<std::size_t>(bytes(type))) {
        if (bytes(type) == 4) {
            const float value = std::ldexp(normal(random), static_cast<int>(random() % 20));
            std::memcpy(&elements[i], &value, sizeof value);
        } else {
            const auto bits = static_cast<std::uint16_t>(random());
            if (bytes(type) == 1) elements[i] = static_cast<std::byte>(bits & 0xb7U);  // no NaN
            const auto half = static_cast<std::uint16_t>((bits & 0x83ffU) | 0x3c00U);  // near 1, of f16 and of bf16
            if (bytes(type) == 2) std::memcpy(&elements[i], &half, sizeof half);
        }
    }
    return elements;
}

/// The arrays of one problem, on the device.
struct Arrays {
    explicit Arrays(const GemmSpec& asked, unsigned seed = 1) : spec(resolved(asked)) {
        const OperandExtents extents = operand_extents(spec);
        a = filled(random_elements(spec.a, extents.a, seed));
        b = filled(random_elements(spec.b, extents.b, seed + 1));
        d = on_hopper().allocate(bytes_of_d());
    }
    static DeviceBuffer filled(const std::vector<std::byte>& elements) {
        DeviceBuffer buffer = on_hopper().allocate(std::max<std::size_t>(1, elements.size()));
        buffer.copy_from_host(elements.data(), elements.size());
        return buffer;
    }
    [[nodiscard]] std::size_t bytes_of_d() const {
        return static_cast<std::size_t>(operand_extents(spec).d * bytes(spec.d));
    }
    /// So that a launch that stores nothing is seen.
    void forget_result() const { state_of(on_hopper()).device->fill_bytes(d.data(), 0x55, bytes_of_d()); }
    [[nodiscard]] std::vector<std::byte> result() const {
        on_hopper().synchronize();
        std::vector<std::byte> bits(bytes_of_d());
        d.copy_to_host(bits.data(), bits.size());
        return bits;
    }

    GemmSpec spec;
    DeviceBuffer a, b, d;
};

GemmKernel kernel_of(const GemmSpec& spec, std::string_view config) {
    return state_of(on_hopper()).build(problem_of(spec), KernelConfig{wgmma_config(config)});
}

GemmSpec prepared(GemmSpec spec, Prepared operands = Prepared::b) {
    spec.prepared = operands;
    return spec;
}

std::vector<std::byte> launched(const GemmKernel& kernel, const Arrays& arrays) {
    arrays.forget_result();
    kernel.launch({.a = arrays.a.data(), .b = arrays.b.data(), .d = arrays.d.data()});
    return arrays.result();
}

/// Of a kernel that takes B prepared.
std::vector<std::byte> launched(const GemmKernel& kernel, const Arrays& arrays, const PreparedOperand& b) {
    arrays.forget_result();
    kernel.launch({.a = arrays.a.data(), .d = arrays.d.data(), .prepared_b = &b});
    return arrays.result();
}

GemmSpec f32(GemmLayout layout, Math math, std::int64_t m = 70, std::int64_t n = 50, std::int64_t k = 100) {
    GemmSpec spec = spec_of(layout, m, n, k, DataType::f32);
    spec.math = math;
    return spec;
}

/// Bits of launches with A, B or both prepared.
void check_bits(const GemmSpec& spec, std::string_view config) {
    const Arrays arrays(spec);
    const GemmKernel plain = kernel_of(spec, config);
    const std::vector<std::byte> expected = launched(plain, arrays);
    for (const Prepared operands : {Prepared::a, Prepared::b, Prepared::ab}) {
        INFO(to_string(resolved(prepared(spec, operands))));
        const GemmKernel kernel = kernel_of(prepared(spec, operands), config);
        PreparedOperand a, b;
        GemmArguments arguments{.d = arrays.d.data()};
        if (operands == Prepared::b)
            arguments.a = arrays.a.data();
        else
            arguments.prepared_a = &(a = kernel.prepare_a(arrays.a.data()));
        if (operands == Prepared::a)
            arguments.b = arrays.b.data();
        else
            arguments.prepared_b = &(b = kernel.prepare_b(arrays.b.data()));
        arrays.forget_result();
        kernel.launch(arguments);
        CHECK(arrays.result() == expected);
        const std::size_t copies = (a ? a.bytes() : 0) + (b ? b.bytes() : 0);
        CHECK(kernel.workspace_bytes() == plain.workspace_bytes() - copies);
    }
}

GemmSpec with_pitches(GemmSpec spec, std::int64_t lda, std::int64_t ldb) {
    spec.lda = lda;
    spec.ldb = ldb;
    return spec;
}

/// Those of a caller who forgets something.
template <typename Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const SpecError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("prepared operands: a launch of no problem reads none") {
    GemmSpec spec = spec_of(GemmLayout::tn, 150, 112, 31, DataType::f16);  // rows of A that are packed
    spec.batch = 0;
    spec.batch_stride_a = 0;
    spec.prepared = Prepared::a;
    for (Context* const context : {&on_emulator(), &on_hopper()}) {
        const KernelConfig config = choose_config(problem_of(spec), state_of(*context).device->model());
        const Verification verdict = verify(state_of(*context), state_of(*context).build(problem_of(spec), config), {});
        INFO(verdict.message);
        CHECK(verdict.ok);
    }
}

TEST_CASE("prepared operands in parts give the bits of launches that split") {
    OneIn tried(2);
    for (const GemmLayout layout : kLayouts)
        if (tried.next()) check_bits(f32(layout, Math::f16x3), kOfParts);
    for (const Math math : {Math::bf16x6, Math::tf32x3}) check_bits(f32(GemmLayout::tt, math, 33, 50, 65), kOfParts);
    check_bits(f32(GemmLayout::nt, Math::bf16x3, 33, 129, 65), kOfParts);
    check_bits(f32(GemmLayout::tn, Math::f16x3, 130, 70, 200), kStreamed);
    check_bits(f32(GemmLayout::tt, Math::f16x3, 5, 7, 0), kOfParts);
    check_bits(with_pitches(f32(GemmLayout::tt, Math::f16x3), 103, 51), kOfParts);
    GemmSpec turned = f32(GemmLayout::tt, Math::f16x3);
    turned.d_order = Order::column;
    check_bits(turned, kOfParts);
}

TEST_CASE("prepared operands of tf32 and 8 bits give the bits of launches that transpose or pack") {
    for (const GemmLayout layout : kLayouts) check_bits(f32(layout, Math::tf32, 70, 52, 100), kTf32);
    check_bits(with_pitches(f32(GemmLayout::tn, Math::tf32), 101, 103), kTf32);
    for (const GemmLayout layout : kLayouts)
        check_bits(spec_of(layout, 70, 48, 100, DataType::e4m3), kOfBytes);  // pitches are no multiples of 16
    GemmSpec mixed = with_pitches(spec_of(GemmLayout::tt, 64, 48, 96, DataType::e4m3), 0, 53);
    mixed.b = DataType::e5m2;
    mixed.d_order = Order::column;
    check_bits(mixed, kOfBytes);
    check_bits(spec_of(GemmLayout::nt, 70, 48, 100, DataType::s8), kIntegers);
}

TEST_CASE("prepared operands of 16 bits give the bits of launches that pack") {
    check_bits(with_pitches(spec_of(GemmLayout::tn, 70, 48, 100), 101, 107), kIntegers);
    check_bits(with_pitches(spec_of(GemmLayout::nt, 71, 49, 100), 0, 0), kIntegers);
}

TEST_CASE("prepared operands: every schedule reads them, and products are right") {
    for (const std::string_view variant : {"block=128x64x32,warpgroup=64x64,stages=3,cluster=2x1,promote=32",
                                           "block=128x48x32,warpgroup=128x48,schedule=pingpong,stages=3,promote=32",
                                           "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7,promote=32"})
        for (const GemmLayout layout : {GemmLayout::nt, GemmLayout::tn})
            check_wgmma(on_hopper(), prepared(f32(layout, Math::f16x3, 130, 72, 100), Prepared::ab), variant);
    for (const GemmLayout layout : kLayouts)
        check_wgmma(on_hopper(), prepared(spec_of(layout, 130, 80, 100, DataType::e4m3), Prepared::ab), kOfBytes);
}

TEST_CASE("one preparation serves all kernels of the operand, and later changes of it don't count") {
    const GemmSpec spec = prepared(f32(GemmLayout::tt, Math::f16x3));
    const GemmKernel kernel = kernel_of(spec, kOfParts);
    const Arrays arrays(spec);
    const std::vector<std::byte> expected = launched(kernel_of(f32(GemmLayout::tt, Math::f16x3), kOfParts), arrays);
    const PreparedOperand b = kernel.prepare_b(arrays.b.data());
    CHECK(b.form() == "f32 in parts of f16x3, 50 lines of k=100");
    CHECK(b.operand() == arrays.b.data());
    CHECK(b.bytes() == kernel.prepared_b_bytes());
    CHECK(b.bytes() >= 50 * 128 * 4);
    const std::vector<std::byte> others = random_elements(DataType::f32, 100 * 50, 99);
    std::vector<std::byte> kept(others.size());
    arrays.b.copy_to_host(kept.data(), kept.size());
    const_cast<DeviceBuffer&>(arrays.b).copy_from_host(others.data(), others.size());
    CHECK(launched(kernel, arrays, b) == expected);
    const_cast<DeviceBuffer&>(arrays.b).copy_from_host(kept.data(), kept.size());
    for (const std::int64_t m : {1, 33, 200}) {
        INFO(m);
        const GemmSpec other = prepared(f32(GemmLayout::tt, Math::f16x3, m));
        Arrays of_other(other, 5);
        const_cast<DeviceBuffer&>(of_other.b).copy_from_host(kept.data(), kept.size());
        GemmSpec plain = other;
        plain.prepared = Prepared::none;
        CHECK(launched(kernel_of(other, kSmaller), of_other, b) == launched(kernel_of(plain, kSmaller), of_other));
    }
}

TEST_CASE("kernels on FP32 cores read the operand that was prepared") {
    const GemmSpec spec = prepared(f32(GemmLayout::tt, Math::f16x3, 3));
    const Arrays arrays(spec);
    const PreparedOperand b =
        kernel_of(prepared(f32(GemmLayout::tt, Math::f16x3)), kOfParts).prepare_b(arrays.b.data());
    const GemmKernel on_cores = on_hopper().kernel(spec);
    REQUIRE(on_cores.info().name.starts_with("simt"));
    REQUIRE(on_cores.info().name.find("_preparedb_") != std::string::npos);
    CHECK(launched(on_cores, arrays, b) == launched(on_hopper().kernel(f32(GemmLayout::tt, Math::f16x3, 3)), arrays));
}

TEST_CASE("an operand that kernels read as it lies is referred to") {
    const GemmSpec spec = prepared(spec_of(GemmLayout::tn, 64, 48, 64));
    const GemmKernel kernel = on_hopper().kernel(spec);
    const Arrays arrays(spec);
    const PreparedOperand b = kernel.prepare_b(arrays.b.data());
    CHECK(b.bytes() == 0);
    CHECK(kernel.prepared_b_bytes() == 0);
    CHECK(b.data() == arrays.b.data());
    CHECK(kernel.spec().prepared == Prepared::b);
    CHECK(launched(kernel, arrays, b) == launched(on_hopper().kernel(spec_of(GemmLayout::tn, 64, 48, 64)), arrays));
}

TEST_CASE("the caller's memory holds a prepared operand") {
    const GemmSpec spec = prepared(spec_of(GemmLayout::tt, 64, 48, 64, DataType::e4m3));
    const GemmKernel kernel = kernel_of(spec, kOfBytes);
    const Arrays arrays(spec);
    DeviceBuffer memory = on_hopper().allocate(kernel.prepared_b_bytes());
    const PreparedOperand b = kernel.prepare_b(arrays.b.data(), nullptr, memory.data(), memory.size_bytes());
    CHECK(b.data() == memory.data());
    GemmSpec plain = spec;
    plain.prepared = Prepared::none;
    CHECK(launched(kernel, arrays, b) == launched(kernel_of(plain, kOfBytes), arrays));
    const auto prepare = [&](std::uint64_t address, std::size_t bytes) {
        return refusal([&] { static_cast<void>(kernel.prepare_b(arrays.b.data(), nullptr, address, bytes)); });
    };
    CHECK_THAT(prepare(memory.data().address, 8), Says("the memory holds 8 bytes", "needs 3072"));
    CHECK_THAT(prepare(memory.data().address + 16, 3072), Says("not aligned to 256 bytes"));
}

TEST_CASE("a launch refuses an operand of another form, and one that is missing or too much") {
    const GemmSpec spec = prepared(f32(GemmLayout::tt, Math::f16x3));
    const Arrays arrays(spec);
    const GemmKernel kernel = kernel_of(spec, kOfParts);
    const PreparedOperand b = kernel.prepare_b(arrays.b.data());
    const auto launch = [&](const GemmKernel& one, const PreparedOperand* of_b) {
        return refusal([&] {
            one.launch({.a = arrays.a.data(), .b = arrays.b.data(), .d = arrays.d.data(), .prepared_b = of_b});
        });
    };
    CHECK_THAT(launch(kernel_of(prepared(f32(GemmLayout::tt, Math::bf16x3)), kOfParts), &b),
               Says("prepared_b is f32 in parts of f16x3, 50 lines of k=100",
                    "this kernel reads f32 in parts of bf16x3, 50 lines of k=100"));
    CHECK_THAT(launch(kernel_of(prepared(f32(GemmLayout::tt, Math::tf32)), kTf32), &b),
               Says("this kernel reads f32, 50 lines of k=100, K contiguous, pitch 128"));
    CHECK_THAT(launch(kernel_of(prepared(f32(GemmLayout::tt, Math::f16x3, 70, 50, 101)), kOfParts), &b),
               Says("50 lines of k=100", "50 lines of k=101"));
    CHECK_THAT(launch(kernel, nullptr), Says("prepared_b is not given", "prepared=b", "prepare_b() makes it"));
    const PreparedOperand empty;
    CHECK_THAT(launch(kernel, &empty), Says("prepared_b is not given"));
    const GemmKernel plain = kernel_of(f32(GemmLayout::tt, Math::f16x3), kOfParts);
    CHECK_THAT(launch(plain, &b), Says("prepared_b is given", "prepared=none"));
    CHECK_THAT(refusal([&] { static_cast<void>(plain.prepare_b(arrays.b.data())); }),
               Says("cannot prepare b", "prepared=none", "ask for a kernel with prepared=b"));
    CHECK_THAT(refusal([&] { static_cast<void>(kernel.prepare_a(arrays.a.data())); }),
               Says("prepared=b", "prepared=a"));
    CHECK_THAT(refusal([&] { static_cast<void>(kernel.prepare_b(nullptr)); }), Says("B is null"));
    CHECK_THAT(refusal([&] { static_cast<void>(kernel.prepare_b(arrays.b.data().address + 2)); }),
               Says("B at", "less aligned than the 8 bytes"));
    CHECK_THROWS_AS(empty.form(), Error);
}

TEST_CASE("a kernel set takes one prepared weight for each m") {
    const GemmSpec spec = prepared(spec_of(GemmLayout::tt, 0, 48, 80, DataType::e4m3));
    const GemmKernelSet set = on_hopper().kernels(spec, 1, 100);
    const Arrays arrays(prepared(spec_of(GemmLayout::tt, 100, 48, 80, DataType::e4m3)));
    const PreparedOperand b = set.kernel(1).prepare_b(arrays.b.data());
    for (const std::int64_t m : {1, 17, 100}) {
        INFO(m);
        Arrays of_m(spec_of(GemmLayout::tt, m, 48, 80, DataType::e4m3));
        const std::vector<std::byte> expected = launched(on_hopper().kernel(of_m.spec), of_m);
        of_m.forget_result();
        set.launch(m, {.a = of_m.a.data(), .d = of_m.d.data(), .prepared_b = &b});
        std::vector<std::byte> b_of_m(48 * 80), b_of_set(48 * 80);
        of_m.b.copy_to_host(b_of_m.data(), b_of_m.size());
        arrays.b.copy_to_host(b_of_set.data(), b_of_set.size());
        REQUIRE(b_of_m == b_of_set);
        CHECK(of_m.result() == expected);
    }
}

TEST_CASE("the problems of a batch share a prepared operand") {
    GemmSpec spec = spec_of(GemmLayout::tt, 40, 48, 80, DataType::e4m3);
    spec.batch = 3;
    spec.batch_stride_b = 0;
    const Arrays arrays(spec);
    const GemmKernel kernel = kernel_of(prepared(spec), kOfBytes);
    CHECK(kernel.workspace_bytes() == 0);
    CHECK(launched(kernel, arrays, kernel.prepare_b(arrays.b.data())) == launched(kernel_of(spec, kOfBytes), arrays));
}

TEST_CASE("a request that may compile nothing waits for no file that prepares") {
    Context context(emulator_options("sm_90a"));
    const GemmSpec spec = prepared(spec_of(GemmLayout::tt, 8, 16, 128, DataType::e4m3));
    static_cast<void>(context.kernel(spec_of(GemmLayout::tn, 8, 16, 128, DataType::e4m3)));  // of the same name
    CHECK_THROWS_AS(context.kernel(spec, {.on_miss = OnMiss::fail}), KernelNotReady);
    const GemmKernel kernel = context.kernel(spec);
    CHECK(context.kernel(spec, {.on_miss = OnMiss::fail}).info().name == kernel.info().name);
}
