#include "runtime/context/kernel_set.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"

#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::FakeCompiler;
using jitgemm::testing::FakeDevice;

namespace {

const GemmArguments kArguments{.a = DevicePointer(std::uintptr_t{0x100000000}),
                               .b = DevicePointer(std::uintptr_t{0x200000000}),
                               .d = DevicePointer(std::uintptr_t{0x400000000})};

/// A set of kernels on a device that writes launches down.
struct SetBench {
    explicit SetBench(KernelSet chosen)
        : context({}, device, compiler), set(std::move(chosen)), kernels(load_kernel_set(context, set)) {}

    std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
    std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
    ContextState context;
    KernelSet set;
    GemmKernelSet kernels;
};

KernelSet chosen(std::int64_t n, std::int64_t k, std::int64_t last_m, Order d_order = Order::row) {
    return build_kernel_set({.n = n, .k = k, .d_order = d_order}, 1, last_m, find_gpu("h200"));
}

void check_same_launches(const std::vector<FakeDevice::Launch>& left, const std::vector<FakeDevice::Launch>& right) {
    REQUIRE(left.size() == right.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
        CHECK(left[i].function == right[i].function);
        CHECK(left[i].shape.blocks == right[i].shape.blocks);
        CHECK(left[i].shape.cluster == right[i].shape.cluster);
        CHECK(left[i].arguments == right[i].arguments);
    }
}

std::vector<FakeDevice::Launch> taken_launches(FakeDevice& device) { return std::exchange(device.launches, {}); }

}  // namespace

TEST_CASE("a loaded kernel set launches for each m what a kernel for that m alone does, and never compiles") {
    for (const Order order : {Order::row, Order::column}) {
        SetBench bench(chosen(777, 515, 500, order));
        CHECK(bench.compiler->compiles == static_cast<int>(bench.set.body_count()));
        const int loads = bench.device->loads;
        for (std::int64_t m = 1; m <= 500; m += m < 70 ? 1 : 37) {
            const GemmKernel kernel = bench.kernels.kernel(m);
            CHECK(kernel.spec() == bench.set.problem(m).asked);
            kernel.launch(kArguments);
            const std::vector<FakeDevice::Launch> launches = taken_launches(*bench.device);
            const KernelConfig& config = bench.set.kernels[bench.set.range_of(m).kernel].id.config;
            const GemmKernel other = bench.context.build(bench.set.problem(m), config);
            CHECK(kernel.workspace_bytes() == other.workspace_bytes());
            CHECK(kernel.info().name == other.info().name);
            other.launch(kArguments);
            check_same_launches(launches, taken_launches(*bench.device));
        }
        CHECK(bench.compiler->compiles == static_cast<int>(bench.set.body_count()));
        CHECK(loads > 0);
    }
}

TEST_CASE("kernels with one body are compiled once and launched with blocks of their own") {
    SetBench bench(chosen(512, 65536, 4096));
    REQUIRE(bench.set.kernels.size() > bench.set.body_count());  // else this test shows nothing
    CHECK(bench.compiler->compiles == static_cast<int>(bench.set.body_count()));
    for (const KernelRange& range : bench.kernels.ranges()) {
        const GemmKernel kernel = bench.kernels.kernel(range.first_m);
        CHECK(kernel.info().name == bench.kernels.kernels()[range.kernel]);
        const GemmKernel alone =
            bench.context.build(bench.set.problem(range.first_m), bench.set.kernels[range.kernel].id.config);
        CHECK(kernel.info().blocks == alone.info().blocks);
    }
}

TEST_CASE("a kernel set gives one handle for an m until another m takes its place") {
    SetBench bench(chosen(64, 64, 4096));
    const GemmKernel first = bench.kernels.kernel(5);
    CHECK(&state_of(bench.kernels.kernel(5)) == &state_of(first));
    CHECK(bench.kernels.kernel(5 + 1024).spec().m == 5 + 1024);
    const GemmKernel again = bench.kernels.kernel(5);
    CHECK(again.spec() == first.spec());
    first.launch(kArguments);  // a handle outlives its place
}

TEST_CASE("a kernel set serves many threads at once", "[threads]") {
    SetBench bench(chosen(512, 256, 4096));
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            for (int i = 0; i < 2000; ++i) {
                const auto m = static_cast<std::int64_t>(1 + random() % 4096);
                if (bench.kernels.kernel(m).spec().m != m) ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("a kernel set refuses an m outside, and an empty one everything") {
    const SetBench bench(chosen(64, 64, 100));
    CHECK_THROWS_WITH(bench.kernels.kernel(101), ContainsSubstring("m is 101") && ContainsSubstring("1 to 100"));
    CHECK_THROWS_AS(bench.kernels.kernel(0), SpecError);
    CHECK(bench.kernels.first_m() == 1);
    CHECK(bench.kernels.last_m() == 100);
    CHECK(parse_kernel_set(bench.kernels.json()) == bench.set);
    CHECK_THAT(bench.kernels.text(), ContainsSubstring(bench.kernels.kernels().front()));
    const GemmKernelSet empty;
    CHECK_FALSE(empty);
    CHECK_THROWS_AS(empty.kernel(1), Error);
    CHECK_THROWS_AS(empty.ranges(), Error);
}
