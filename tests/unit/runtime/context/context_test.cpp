#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/support/log.hpp"

#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/says.hpp"
#include "tests/support/timing.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::FakeCompiler;
using jitgemm::testing::FakeDevice;

namespace {

constexpr std::uint64_t kA = 0x100000000;
constexpr std::uint64_t kB = 0x200000000;
constexpr std::uint64_t kD = 0x400000000;
constexpr DevicePointer kBias = 0x500000000, kUp = 0x600000000;

// A context without CUDA: no cache on disk, nothing is compiled or launched.
struct Bench {
    explicit Bench(const Options& options = {}) : context(options, device, compiler) {}

    std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
    std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
    ContextState context;
};

GemmSpec square(std::int64_t extent) { return {.m = extent, .n = extent, .k = extent}; }

Options forcing(const std::string& kernel) {
    Options options;
    options.kernel = kernel;
    return options;
}

// Lets `count` callers pass together; false when the others did not come within the time.
class Meeting {
public:
    explicit Meeting(int count) : missing_(count) {}
    bool arrive() {
        std::unique_lock lock(mutex_);
        --missing_;
        arrived_.notify_all();
        return arrived_.wait_for(lock, std::chrono::seconds(20), [&] { return missing_ <= 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    int missing_;
};

}  // namespace

TEST_CASE("a repeated request is the same kernel, compiled and loaded once", "[threads]") {
    Bench bench;
    const GemmKernel first = bench.context.kernel(square(512));
    const GemmKernel second = bench.context.kernel(square(512));
    CHECK(&state_of(first) == &state_of(second));
    CHECK(bench.compiler->compiles == 1);
    CHECK(bench.device->loads == static_cast<int>(state_of(first).entries.size()));
}

TEST_CASE("a problem has one kernel, in whatever words it is asked for") {
    Bench bench;
    GemmSpec packed = square(512);
    packed.lda = packed.ldb = packed.ldd = 512;
    GemmSpec aligned = square(512);
    aligned.align_a = aligned.align_b = aligned.align_d = 16;
    const GemmKernel first = bench.context.kernel(square(512));
    for (const GemmSpec& spec : {packed, aligned, resolved(packed), first.spec()})
        CHECK(&state_of(bench.context.kernel(spec)) == &state_of(first));

    const GemmKernel better =
        bench.context.build(problem_of(square(512)), config_of_kernel(problem_of(first.spec()), first.info().name));
    KernelAccess::replace(bench.context.kernel(packed), KernelAccess::shared_state(better));
    CHECK(&state_of(first) == &state_of(better));

    GemmSpec wider = square(512);
    wider.lda = 520;
    CHECK(&state_of(bench.context.kernel(wider)) != &state_of(first));
}

TEST_CASE("a kernel's facts come from its config and its compile") {
    Bench bench;
    bench.compiler->report.registers = 200;
    bench.compiler->report.stack_bytes = 8;
    bench.compiler->report.warnings = {"a warning of ptxas"};
    const GemmKernel kernel = bench.context.kernel(square(512));
    const KernelInfo& info = kernel.info();
    const KernelEntry& entry = state_of(kernel).source().entries.front();
    CHECK(info.name == kernel_name(state_of(kernel).source().id));
    CHECK(info.arch == "sm_90a");
    CHECK(info.registers == 200);
    CHECK(info.stack_bytes == 8);
    CHECK(info.spill_bytes == 0);
    CHECK(info.threads == entry.threads);
    CHECK(info.shared_bytes == entry.shared_bytes);
    CHECK(info.blocks == block_count(entry.grid, 512, 512));
    CHECK(info.cache == CacheSource::compiled);
    CHECK(info.warnings == std::vector<std::string>{"a warning of ptxas"});
    CHECK(kernel.spec() == resolved(square(512)));
    CHECK(kernel.source() == dump(state_of(kernel).source(), problem_of(kernel.spec())));
}

TEST_CASE("a kernel of several launches is described by the one that multiplies") {
    Bench bench;
    int packs = 0, adds_up = 0;
    for (const GemmSpec& spec : {GemmSpec{.m = 1000, .n = 777, .k = 555}, GemmSpec{.m = 300, .n = 40, .k = 4001},
                                 GemmSpec{.m = 128, .n = 256, .k = 65536}, square(512)}) {
        const GemmKernel kernel = bench.context.kernel(spec);
        const KernelState& state = state_of(kernel);
        INFO(state.info().name);
        packs += state.entries.front().entry().function == "gemm_pack" ? 1 : 0;
        adds_up += state.entries.back().entry().function == "gemm_reduce" ? 1 : 0;
        // Of all entries, the one that multiplies has the most shared memory.
        const KernelAnatomy anatomy =
            family_of(state.source().id.config).anatomy(state.problem, state.source().id.config);
        CHECK(state.info().shared_bytes == anatomy.shared_bytes);
        for (const LoadedEntry& loaded : state.entries) {
            if (loaded.entry().function != "gemm") continue;
            CHECK(state.info().threads == loaded.entry().threads);
            CHECK(state.info().blocks == loaded.shape.blocks);
        }
    }
    CHECK(packs >= 1);
    INFO(adds_up << " kernels add up partial sums");
}

TEST_CASE("a config that spills is flagged") {
    Bench bench;
    bench.compiler->report.spill_store_bytes = 24;
    bench.compiler->report.spill_load_bytes = 40;
    const testing::CapturedLog captured("warning");
    const GemmKernel kernel = bench.context.kernel(square(512));
    CHECK(captured.text().empty());  // nobody who reads it could do anything
    CHECK(kernel.info().spill_bytes == 64);
    REQUIRE(kernel.info().warnings.size() == 1);
    CHECK_THAT(kernel.info().warnings.front(), testing::Says("24", "stores", "40"));
}

TEST_CASE("shapes that share a config share one binary") {
    const std::string name = Bench().context.kernel(square(512)).info().name;
    Bench bench(forcing(name));
    const GemmKernel small = bench.context.kernel(square(512));
    const GemmKernel large = bench.context.kernel(square(1024));
    CHECK(bench.compiler->compiles == 1);
    CHECK(bench.device->loads == static_cast<int>(state_of(small).entries.size()));
    CHECK(small.info().cache == CacheSource::compiled);
    CHECK(large.info().cache == CacheSource::memory);
    CHECK(state_of(small).kernel == state_of(large).kernel);
    CHECK(large.info().blocks > small.info().blocks);
    CHECK_THAT(large.source(), ContainsSubstring("m=1024"));
}

TEST_CASE("threads that ask for one kernel at once compile it once", "[threads]") {
    Bench bench;
    std::vector<std::thread> threads;
    std::vector<const KernelState*> states(8);
    for (std::size_t t = 0; t < states.size(); ++t) {
        threads.emplace_back([&, t] { states[t] = &state_of(bench.context.kernel(square(512))); });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(bench.compiler->compiles == 1);
    CHECK(std::set(states.begin(), states.end()).size() == 1);
}

TEST_CASE("different kernels compile side by side", "[threads]") {
    Bench bench;
    Meeting inside_the_compiler(2);
    std::atomic<int> met = 0;
    bench.compiler->on_compile = [&](const CompileRequest&) { met += inside_the_compiler.arrive() ? 1 : 0; };
    std::thread other(
        [&] { static_cast<void>(bench.context.kernel({.m = 512, .n = 512, .k = 512, .layout = GemmLayout::nn})); });
    static_cast<void>(bench.context.kernel(square(512)));
    other.join();
    CHECK(met == 2);
}

TEST_CASE("a failed compile is tried again on the next request") {
    Bench bench;
    bench.compiler->on_compile = [](const CompileRequest&) { throw CompileError("refused", "the log"); };
    CHECK_THROWS_AS(bench.context.kernel(square(512)), CompileError);
    bench.compiler->on_compile = nullptr;
    CHECK_NOTHROW(bench.context.kernel(square(512)));
    CHECK(bench.compiler->compiles == 2);
}

TEST_CASE("a kernel outlives its context") {
    auto bench = std::make_optional<Bench>();
    const std::shared_ptr<FakeDevice> device = bench->device;
    const GemmKernel kernel = bench->context.kernel(square(512));
    bench.reset();
    kernel.launch({.a = kA, .b = kB, .d = kD});
    CHECK(device->launch_count == static_cast<int>(state_of(kernel).entries.size()));
}

TEST_CASE(
    "a launch may be kept from beginning before the launch before it has ended, or be told that its kernel can't") {
    const auto forced = [](const char* parameters) {
        Options options;
        options.family = "mma_multistage";
        options.parameters = parameters;
        return options;
    };
    const auto launched = [](Bench& bench, const GemmKernel& kernel, DependentLaunch dependent_launch) {
        bench.device->launches.clear();
        kernel.launch({.a = kA, .b = kB, .d = kD, .dependent_launch = dependent_launch});
        std::vector<bool> begin_early;
        for (const auto& launch : bench.device->launches) begin_early.push_back(launch.shape.programmatic);
        return begin_early;
    };
    using enum DependentLaunch;
    Bench early(forced("dependent_launch=1,split_k=2,reduction=workspace"));
    const GemmKernel kernel = early.context.kernel(square(512));
    CHECK(launched(early, kernel, automatic) == std::vector{true, true});
    CHECK(launched(early, kernel, on) == std::vector{true, true});
    CHECK(launched(early, kernel, off) == std::vector{false, true});  // the second entry waits for the first
    Bench late(forced("dependent_launch=0,split_k=1"));
    const GemmKernel waiting = late.context.kernel(square(512));
    CHECK(launched(late, waiting, automatic) == std::vector{false});
    CHECK(launched(late, waiting, off) == std::vector{false});
    CHECK_THROWS_WITH(launched(late, waiting, on), testing::Says("dependent_launch", "nothing"));
}

TEST_CASE("a column-major D is the transposed problem to the kernel") {
    Bench bench;
    const GemmKernel kernel = bench.context.kernel({.m = 512, .n = 256, .k = 128, .d_order = Order::column});
    CHECK(kernel.spec().m == 512);
    CHECK(state_of(kernel).problem.transposed);
    CHECK(state_of(kernel).problem.row_major() == with_row_major_d(kernel.spec()));
    CHECK(state_of(kernel).problem.row_major().m == 256);
    CHECK(kernel.info().blocks == block_count(state_of(kernel).source().entries.front().grid, 256, 512));
}

TEST_CASE("unsound specs and selections are refused with their reasons") {
    Bench bench;
    CHECK_THROWS_AS(bench.context.kernel({.m = -1, .n = 64, .k = 64}), SpecError);
    CHECK_THROWS_AS(Bench(forcing("no_such_kernel")).context.kernel(square(512)), ConfigError);
    Options options;
    options.template_directory = "/no/such/folder";
    CHECK_THROWS_AS(Bench(options), RenderError);
}

TEST_CASE("an edited dump is compiled in place of the generated text") {
    Bench bench;
    const std::string text = bench.context.kernel(square(512)).source();
    const GemmKernel edited = bench.context.build(parse_dump(text + "// an idea\n"));
    CHECK(bench.compiler->compiles == 2);
    CHECK_THAT(edited.source(), ContainsSubstring("// an idea"));
    CHECK(edited.spec() == resolved(square(512)));

    const GemmKernel unchanged = bench.context.build(parse_dump(text));
    CHECK(bench.compiler->compiles == 2);
    CHECK(unchanged.source() == text);
}

TEST_CASE("a dump whose banner contradicts itself is refused") {
    Bench bench;
    ParsedDump parsed = parse_dump(bench.context.kernel(square(512)).source());
    parsed.spec.layout = GemmLayout::tt;
    CHECK_THROWS_WITH(bench.context.build(parsed), ContainsSubstring("contradicts itself"));
}

TEST_CASE("a repeated request takes less than a microsecond, a launch little more than its driver call") {
#ifndef NDEBUG
    SKIP_TEST("timings are held against optimised builds only");
#else
    Bench bench;
    bench.device->record = false;
    const GemmSpec spec = square(512);
    const GemmKernel kernel = bench.context.kernel(spec);
    GemmSpec with_text = spec;
    with_text.epilogue = "s: f32; d = silu(s * acc + bias[n]) * up[m,n]";
    const GemmKernel epilogue = bench.context.kernel(with_text);
    const GemmArguments arguments{.a = kA, .b = kB, .d = kD, .operands = {{"s", 2.0F}, {"bias", kBias}, {"up", kUp}}};
    const auto holds = [](const std::vector<double>& us) { return us[0] < 1.0 && us[1] < 0.5 && us[2] < 0.5; };
    const std::vector<double> us =
        testing::fastest_us({[&] { static_cast<void>(bench.context.kernel(spec)); },
                             [&] { kernel.launch({.a = kA, .b = kB, .d = kD}); }, [&] { epilogue.launch(arguments); }},
                            {}, holds);
    INFO("request " << us[0] << " us, launch " << us[1] << " us, with an epilogue " << us[2] << " us");
    CHECK(holds(us));
    std::cout << "repeated request " << us[0] << " us, launch without its driver call " << us[1]
              << " us, with an epilogue " << us[2] << " us\n";
#endif
}

TEST_CASE("a context that was moved from throws whatever is asked of it, and takes another") {
    Options options;
    options.device = "emulator";
    Context context(options);
    Context moved_to = std::move(context);
    CHECK(moved_to.arch() == "sm_80");
    // NOLINTBEGIN(bugprone-use-after-move): that is the point
    CHECK_THROWS_WITH(context.kernel(square(64)), ContainsSubstring("moved from"));
    CHECK_THROWS_AS(context.kernel(square(64), Tune::now), Error);
    CHECK_THROWS_AS(context.allocate(16), Error);
    CHECK_THROWS_AS(context.synchronize(), Error);
    CHECK_THROWS_AS(context.device_name(), Error);
    CHECK_THROWS_AS(context.arch(), Error);
    // NOLINTEND(bugprone-use-after-move)
    context = std::move(moved_to);
    CHECK(context.arch() == "sm_80");
}

TEST_CASE("what is none of an enumeration is refused with its number") {
    Bench bench;
    GemmSpec spec = square(64);
    spec.a = static_cast<DataType>(99);
    CHECK_THROWS_WITH(bench.context.kernel(spec), ContainsSubstring("a is 99"));
    spec = square(64);
    spec.layout = static_cast<GemmLayout>(9);
    CHECK_THROWS_WITH(bench.context.kernel(spec), ContainsSubstring("layout is 9"));
    spec = square(64);
    spec.d_order = static_cast<Order>(7);
    CHECK_THROWS_WITH(bench.context.kernel(spec), ContainsSubstring("d-layout is 7"));
}

TEST_CASE("the memories of two emulators share no address") {
    Options options;
    options.device = "emulator";
    Context first(options);
    Context second(options);
    const DeviceBuffer here = first.allocate(4096);
    const DeviceBuffer there = second.allocate(4096);
    CHECK(here.data() != there.data());
    char byte = 0;
    CHECK_THROWS_AS(state_of(second).device->copy_to_host(&byte, here.data(), 1), Error);
}

TEST_CASE("a context leaves the level of the log unless its options name one") {
    const jitgemm::testing::CapturedLog captured("error");
    Options options;
    options.device = "emulator";
    static_cast<void>(Context(options));
    CHECK(log_level() == "error");
    options.log_level = "info";
    static_cast<void>(Context(options));
    CHECK(log_level() == "info");
}
