/// Batches with arrays of addresses on the emulator: every family that serves them, with C, in either order, and with
/// texts. verify() places the matrices apart and in random order, and checks each problem.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/emulator/uploads.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/says.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec with_pointers(std::int64_t batch, GemmSpec spec) {
    spec.batch = batch;
    spec.pointers = true;
    return spec;
}

DeviceBuffer upload_addresses(const std::vector<std::uint64_t>& addresses) {
    DeviceBuffer buffer = on_hopper().allocate(8 * addresses.size());
    buffer.copy_from_host(addresses.data(), 8 * addresses.size());
    return buffer;
}

}  // namespace

TEST_CASE("emulated pointers: kernels without TMA, in every layout") {
    constexpr std::array<std::string_view, 2> kTiles{kVariants[0], kVariants[3]};
    std::size_t i = 0;
    for (const GemmLayout layout : kLayouts) {
        GemmSpec spec = with_pointers(3, spec_of(layout, 35, 40, 43, i % 2 == 0 ? DataType::bf16 : DataType::f16));
        if (++i % 2 == 0) spec.c = spec.d;
        spec.d_order = i == 3 ? Order::column : Order::row;
        const VerifyOptions options{.alpha = 2.0F, .beta = spec.c ? 0.5F : 0.0F, .seed = i};
        INFO(to_string(spec));
        static_cast<void>(check_with(on_emulator(), spec, std::string(kTiles.at(i % 2)), options));
        if (i % 2 == 0) static_cast<void>(check_with(on_hopper(), spec, kClusterVariants.at(i / 3), options));
        const KernelConfig wmma =
            with_parameters({WmmaMultistageConfig{}}, parse_parameters("block=64x32x32,warp=32x16"));
        if (i % 3 == 0) static_cast<void>(check_kernel(on_emulator(), spec, wmma, options));
        spec.a = spec.b = spec.d = DataType::f32;
        if (spec.c) spec.c = spec.d;
        static_cast<void>(check_chosen(on_emulator(), spec, options));
    }
}

TEST_CASE("emulated pointers: one problem, a bias of each, less alignment, symmetric products") {
    GemmSpec spec = with_pointers(1, spec_of(GemmLayout::tn, 64, 40, 64));
    const GemmKernel kernel = check_chosen(on_hopper(), spec);
    CHECK_THAT(kernel.info().name, Catch::Matchers::StartsWith("mma_multistage_bf16_tn_pointers_"));
    spec.batch = 4;
    spec.c = DataType::f32;
    spec.broadcast_c = true;
    static_cast<void>(check_chosen(on_hopper(), spec, {.beta = 1.0F}));
    spec.c = std::nullopt;
    spec.broadcast_c = false;
    spec.align_a = 4, spec.align_b = 2, spec.align_d = 8;
    static_cast<void>(check_chosen(on_hopper(), spec));
    static_cast<void>(
        check_chosen(on_emulator(), {.m = 40, .n = 40, .k = 56, .symmetric = true, .pointers = true, .batch = 3}));
}

TEST_CASE("emulated pointers: operands of a text have strides") {
    GemmSpec spec = with_pointers(3, spec_of(GemmLayout::tt, 72, 64, 40));
    spec.epilogue = "c: f16[b,m,n]; t = acc + c[b,m,n] + bias[b,n] + row[m]; d = relu(t); pre[b,m,n] = t";
    static_cast<void>(check_chosen(on_hopper(), spec));
    spec.d_order = Order::column;
    static_cast<void>(check_chosen(on_emulator(), spec));
}

TEST_CASE("emulated pointers: planted faults are found") {
    GemmSpec spec = with_pointers(3, spec_of(GemmLayout::tn, 72, 40, 64));
    spec.c = DataType::bf16;
    const KernelConfig config{with_parameters({MmaMultistageConfig{}}, parse_parameters(kVariants[0]))};
    check_faults(on_hopper(), spec, config,
                 {{"matrix_of_problem(args.a, problem)", "matrix_of_problem(args.a, 0)"},
                  {"matrix_of_problem(args.b, problem)", "matrix_of_problem(args.a, problem)"},
                  {"matrix_of_problem(args.c, problem)", "matrix_of_problem(args.c, 2 - problem)"},
                  {"matrix_of_problem(args.d, problem)", "matrix_of_problem(args.d, 2 - problem)"},
                  {"(matrices)[problem]", "(matrices)[0] + problem"}});
    const KernelConfig early = with_parameters(config, parse_parameters("dependent_launch=1"));
    check_faults(on_hopper(), spec, early, {{"wait_on_dependent_grids();", ""}});
}

TEST_CASE("emulated pointers: without problems, without K, without alpha") {
    for (const DataType type : {DataType::bf16, DataType::f32}) {
        GemmSpec spec = with_pointers(0, spec_of(GemmLayout::tn, 40, 40, 40, type));
        static_cast<void>(check_chosen(on_hopper(), spec));
        spec.batch = 2;
        check_unread_operands(spec, [](const GemmSpec& asked, const VerifyOptions& options) {
            static_cast<void>(check_chosen(on_hopper(), asked, options));
        });
    }
}

TEST_CASE("emulated pointers: null and misaligned addresses are refused, and arrays that are not read may be null") {
    const GemmKernel kernel = on_hopper().kernel(with_pointers(2, {.m = 8, .n = 8, .k = 8, .c = DataType::bf16}));
    const DeviceBuffer matrices = on_hopper().allocate(1024);
    const std::uint64_t first = matrices.data().address;
    const DeviceBuffer inputs = upload_addresses({first, first + 128}),
                       outputs = upload_addresses({first + 256, first + 384});
    const DeviceBuffer null = upload_addresses({first, 0}), misaligned = upload_addresses({first, first + 136});
    const auto launch = [&](DevicePointer a, DevicePointer d, float alpha) {
        kernel.launch({.a = a, .b = inputs.data(), .d = d, .alpha = alpha});
    };
    CHECK_THROWS_WITH(launch(null.data(), outputs.data(), 1), Says("A of problem 1 is null"));
    CHECK_THROWS_WITH(launch(inputs.data(), misaligned.data(), 1),
                      Says("D of problem 1", "less aligned than the 16 bytes the spec promises"));
    CHECK_THROWS_WITH(launch(nullptr, outputs.data(), 1), Says("the array of A's addresses is null"));
    CHECK_THROWS_WITH(launch(inputs.data().address + 4, outputs.data(), 1),
                      Says("the array of A's addresses", "less aligned than the 8 bytes of an address"));
    launch(nullptr, outputs.data(), 0);
    launch(null.data(), outputs.data(), 0);
    std::array<std::uint16_t, 64> d{};
    d.fill(7);
    on_hopper().synchronize(nullptr);
    state_of(on_hopper()).device->copy_to_host(d.data(), first + 384, sizeof d);
    CHECK(d == std::array<std::uint16_t, 64>{});
}

TEST_CASE("emulated pointers: what no kernel serves says why") {
    GemmSpec spec = with_pointers(2, spec_of(GemmLayout::tn, 64, 64, 64));
    spec.deterministic = Determinism::batch_invariant;
    CHECK_THROWS_WITH(on_hopper().kernel(spec), Says("deterministic=batch_invariant", "must sum by wgmma"));
    spec = with_pointers(2, spec_of(GemmLayout::tn, 64, 64, 64));
    spec.epilogue = "d = acc; s[b,n] = sum(acc)";
    CHECK_THROWS_WITH(on_emulator().kernel(spec), Says("reductions"));
}
