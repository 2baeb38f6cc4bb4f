#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::FakeDevice;

namespace {

constexpr std::uint64_t kA = 0x10000000;
constexpr std::uint64_t kB = 0x20000000;
constexpr std::uint64_t kD = 0x40000000;

struct Arguments {
    std::uint64_t a, b, workspace;
    std::int32_t m, n, k;
};

KernelEntry entry_named(const char* name) {
    using Role = ArgumentRole;
    return {.function = name,
            .threads = 128,
            .shared_bytes = 4096,
            .grid = {.tile_m = 64, .tile_n = 32, .splits = 1},
            .arguments = {PointerArgument{Role::a}, PointerArgument{Role::b}, PointerArgument{Role::workspace},
                          ExtentArgument{Role::m}, ExtentArgument{Role::n}, ExtentArgument{Role::k}}};
}

// A kernel put together by hand, as Context does it.
std::shared_ptr<KernelState> new_state(const GemmSpec& spec, const std::shared_ptr<FakeDevice>& device,
                                       const std::vector<const char*>& functions = {"gemm"},
                                       const char* name_of_kernel = "the_kernel") {
    auto state = std::make_shared<KernelState>(problem_of(spec));
    auto kernel = std::make_shared<LoadedKernel>();
    kernel->facts.name = name_of_kernel;
    state->kernel = std::move(kernel);
    state->device = device;
    state->workspaces = std::make_shared<WorkspacePool>(device);
    for (const char* name : functions) {
        const KernelEntry entry = entry_named(name);
        state->entries.emplace_back(entry, device->load("", entry), state->problem, *device);
        state->entries.back().shape.blocks = 7;
    }
    return state;
}

Arguments arguments_of(const FakeDevice::Launch& launch) {
    Arguments arguments{};
    REQUIRE(launch.arguments.size() == sizeof arguments);
    std::memcpy(&arguments, launch.arguments.data(), sizeof arguments);
    return arguments;
}

}  // namespace

TEST_CASE("a launch is one call per entry, with its shape and stream", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmKernel kernel = KernelAccess::make(new_state({.m = 64, .n = 96, .k = 128}, device, {"gemm", "reduce"}));
    const Stream stream = reinterpret_cast<Stream>(std::uintptr_t{0x80});
    kernel.launch({.a = kA, .b = kB, .d = kD}, stream);
    REQUIRE(device->launches.size() == 2);
    CHECK(device->launches[0].function == "gemm");
    CHECK(device->launches[1].function == "reduce");
    CHECK(device->launches[0].stream == stream);
    CHECK(device->launches[0].shape.blocks == 7);
    CHECK(device->launches[0].shape.threads == 128);
    CHECK(device->launches[0].shape.shared_bytes == 4096);
    const Arguments arguments = arguments_of(device->launches[0]);
    CHECK(arguments.a == kA);
    CHECK(arguments.b == kB);
    CHECK(arguments.m == 64);
    CHECK(arguments.n == 96);
    CHECK(arguments.k == 128);
    CHECK(device->live_allocations() == 0);
}

TEST_CASE("a column-major D trades the operands", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmKernel kernel =
        KernelAccess::make(new_state({.m = 64, .n = 96, .k = 128, .d_order = Order::column}, device));
    kernel.launch({.a = kA, .b = kB, .d = kD});
    const Arguments arguments = arguments_of(device->launches.at(0));
    CHECK(arguments.a == kB);
    CHECK(arguments.b == kA);
    CHECK(arguments.m == 96);
    CHECK(arguments.n == 64);
    CHECK(kernel.spec().m == 64);
}

TEST_CASE("alpha of zero is K of zero to the kernel", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmKernel kernel = KernelAccess::make(new_state({.m = 64, .n = 96, .k = 128}, device));
    kernel.launch({.d = kD, .alpha = 0.0F});
    CHECK(arguments_of(device->launches.at(0)).k == 0);
}

TEST_CASE("no rows or no columns launch nothing", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    KernelAccess::make(new_state({.m = 0, .n = 96, .k = 128}, device)).launch({});
    KernelAccess::make(new_state({.m = 64, .n = 0, .k = 128}, device)).launch({});
    CHECK(device->launch_count == 0);
}

TEST_CASE("unsound arguments throw before anything is launched", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmKernel kernel = KernelAccess::make(new_state({.m = 64, .n = 96, .k = 128}, device));
    const auto refused_for = [&](const GemmArguments& arguments, const char* reason) {
        try {
            kernel.launch(arguments);
            FAIL("launched");
        } catch (const SpecError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("cannot launch the_kernel"));
            CHECK_THAT(error.what(), ContainsSubstring(reason));
        }
    };
    refused_for({.a = kA, .b = kB}, "D is null");
    refused_for({.a = kA + 2, .b = kB, .d = kD}, "less aligned");
    refused_for({.a = kA, .b = kB, .d = kD, .beta = 1.0F}, "no C");
    refused_for({.a = kD, .b = kB, .d = kD}, "overlaps A");
    CHECK(device->launch_count == 0);
}

TEST_CASE("a workspace is the caller's, else the context's own", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const auto state = new_state({.m = 64, .n = 96, .k = 128}, device);
    state->workspace_bytes = 1 << 16;
    const GemmKernel kernel = KernelAccess::make(state);
    CHECK(kernel.workspace_bytes() == 1 << 16);

    constexpr std::uint64_t kWorkspace = 0x50000000;
    kernel.launch({.a = kA, .b = kB, .d = kD, .workspace = kWorkspace, .workspace_bytes = 1 << 16});
    CHECK(arguments_of(device->launches.at(0)).workspace == kWorkspace);
    CHECK(device->live_allocations() == 0);

    kernel.launch({.a = kA, .b = kB, .d = kD});
    kernel.launch({.a = kA, .b = kB, .d = kD});
    CHECK(arguments_of(device->launches.at(1)).workspace != 0);
    CHECK(arguments_of(device->launches.at(1)).workspace == arguments_of(device->launches.at(2)).workspace);
    CHECK(device->live_allocations() == 1);
}

TEST_CASE("counters are zeroed in a caller's workspace, whose end they are, and lent with the context's own",
          "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const auto state = new_state({.m = 64, .n = 96, .k = 128}, device, {});
    const KernelEntry entry{
        .function = "gemm",
        .threads = 128,
        .grid = {},
        .arguments = {PointerArgument{ArgumentRole::workspace}, PointerArgument{ArgumentRole::counters}}};
    state->entries.emplace_back(entry, device->load("", entry), state->problem, *device);
    state->workspace_bytes = 1024 + 64;
    state->counter_bytes = 64;
    const GemmKernel kernel = KernelAccess::make(state);
    const auto pointers = [&](std::size_t launch) {
        std::array<std::uint64_t, 2> both{};
        REQUIRE(device->launches.at(launch).arguments.size() == sizeof both);
        std::memcpy(both.data(), device->launches.at(launch).arguments.data(), sizeof both);
        return both;
    };

    constexpr std::uint64_t kWorkspace = 0x50000000;
    Stream const stream = reinterpret_cast<Stream>(64);
    kernel.launch({.a = kA, .b = kB, .d = kD, .workspace = kWorkspace, .workspace_bytes = 1088}, stream);
    CHECK(pointers(0) == std::array<std::uint64_t, 2>{kWorkspace, kWorkspace + 1024});
    REQUIRE(device->zeroed.size() == 1);
    CHECK(device->zeroed[0].destination == DevicePointer(kWorkspace + 1024));
    CHECK(device->zeroed[0].bytes == 64);
    CHECK(device->zeroed[0].stream == stream);

    kernel.launch({.a = kA, .b = kB, .d = kD}, stream);
    CHECK(device->zeroed.size() == 1);  // the kernel before left zeros
    CHECK(pointers(1)[0] != 0);
    CHECK(pointers(1)[1] != 0);
    CHECK(device->live_allocations() == 2);
}

TEST_CASE("persistent blocks and launch attributes are the device's to resolve", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmSpec spec = resolved({.m = 8192, .n = 8192, .k = 128});
    const KernelEntry entry{.function = "gemm",
                            .threads = 384,
                            .shared_bytes = 200000,
                            .cluster = {2, 1, 1},
                            .programmatic_launch = true,
                            .grid = {.tile_m = 128, .tile_n = 256, .blocks = PersistentBlocks{1, 2}},
                            .arguments = {}};
    const LoadedEntry loaded(entry, device->load("", entry), problem_of(spec), *device);
    CHECK(loaded.shape.blocks == 132);
    CHECK(loaded.shape.programmatic);
    CHECK(loaded.shape.cluster == std::array<int, 3>{2, 1, 1});
}

TEST_CASE("many threads launch one kernel, entries of one launch in order", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const auto state = new_state({.m = 64, .n = 96, .k = 128}, device, {"gemm", "reduce"});
    state->workspace_bytes = 256;
    const GemmKernel kernel = KernelAccess::make(state);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) kernel.launch({.a = kA, .b = kB, .d = kD});
        });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(device->launches.size() == 4000);
    bool alternating = true;
    for (std::size_t i = 0; i < 4000; ++i)
        alternating = alternating && device->launches[i].function == (i % 2 == 0 ? "gemm" : "reduce");
    CHECK(alternating);
}

TEST_CASE("a replaced kernel is launched from every copy of its handle", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmSpec spec{.m = 64, .n = 96, .k = 128};
    const GemmKernel kernel = KernelAccess::make(new_state(spec, device, {"first"}));
    const std::vector<GemmKernel> copies(1, kernel);
    const GemmKernel& copy = copies.front();
    const KernelInfo& info_before = kernel.info();

    const auto better = new_state(spec, device, {"better"}, "the_better_kernel");
    better->workspace_bytes = 4096;
    KernelAccess::replace(kernel, better);
    copy.launch({.a = kA, .b = kB, .d = kD});
    CHECK(device->launches.back().function == "better");
    CHECK(copy.info().name == "the_better_kernel");
    CHECK(copy.workspace_bytes() == 4096);
    CHECK(info_before.name == "the_kernel");  // references stay good

    constexpr std::uint64_t kWorkspace = 0x50000000;
    copy.launch({.a = kA, .b = kB, .d = kD, .workspace = kWorkspace, .workspace_bytes = 256});
    CHECK(device->launches.back().function == "first");
    copy.launch({.a = kA, .b = kB, .d = kD, .workspace = kWorkspace, .workspace_bytes = 4096});
    CHECK(device->launches.back().function == "better");
}

TEST_CASE("a caller's workspace serves the kernel it was asked of, whichever came after") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmSpec spec{.m = 64, .n = 96, .k = 128};
    const auto needing = [&](const char* function, std::size_t bytes) {
        auto state = new_state(spec, device, {function});
        state->workspace_bytes = bytes;
        return state;
    };
    const GemmKernel kernel = KernelAccess::make(needing("first", 8192));
    KernelAccess::replace(kernel, needing("second", 1024));
    const std::size_t promised = kernel.workspace_bytes();
    KernelAccess::replace(kernel, needing("third", 4096));
    constexpr std::uint64_t kWorkspace = 0x50000000;
    kernel.launch({.a = kA, .b = kB, .d = kD, .workspace = kWorkspace, .workspace_bytes = promised});
    CHECK(device->launches.back().function == "second");
    CHECK_THROWS_WITH(kernel.launch({.a = kA, .b = kB, .d = kD, .workspace = kWorkspace, .workspace_bytes = 512}),
                      ContainsSubstring("holds 512 bytes, the kernel needs 4096"));
}

TEST_CASE("a kernel is replaced while threads launch it", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    const GemmSpec spec{.m = 64, .n = 96, .k = 128};
    const GemmKernel kernel = KernelAccess::make(new_state(spec, device, {"first"}));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) kernel.launch({.a = kA, .b = kB, .d = kD});
        });
    }
    KernelAccess::replace(kernel, new_state(spec, device, {"better"}));
    for (std::thread& thread : threads) thread.join();
    kernel.launch({.a = kA, .b = kB, .d = kD});
    REQUIRE(device->launches.size() == 2001);
    CHECK(device->launches.back().function == "better");
}

TEST_CASE("an empty handle throws whatever is asked of it, and takes a kernel") {
    const auto device = std::make_shared<FakeDevice>();
    GemmKernel kernel = KernelAccess::make(new_state({.m = 8, .n = 8, .k = 8}, device));
    const GemmKernel moved_to = std::move(kernel);
    CHECK(moved_to);
    for (const GemmKernel& empty : {GemmKernel(), kernel}) {  // NOLINT(bugprone-use-after-move): that is the point
        CHECK(!empty);
        CHECK_THROWS_WITH(empty.launch({.a = kA, .b = kB, .d = kD}), ContainsSubstring("empty"));
        CHECK_THROWS_WITH(empty.launch({.a = kA, .b = kB, .d = kD, .workspace = kD}), ContainsSubstring("empty"));
        CHECK_THROWS_AS(empty.spec(), Error);
        CHECK_THROWS_AS(empty.source(), Error);
        CHECK_THROWS_AS(empty.info(), Error);
        CHECK_THROWS_AS(empty.workspace_bytes(), Error);
        CHECK_THROWS_AS(KernelAccess::shared_state(empty), Error);
        CHECK_THROWS_AS(KernelAccess::replace(empty, KernelAccess::shared_state(moved_to)), Error);
    }
    kernel = moved_to;
    kernel.launch({.a = kA, .b = kB, .d = kD});
    CHECK(device->launches.size() == 1);
}
