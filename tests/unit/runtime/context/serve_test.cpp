#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/stand_in.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

using namespace jitgemm;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::FakeCompiler;
using jitgemm::testing::FakeDevice;

namespace {

constexpr std::uint64_t kA = 0x100000000;
constexpr std::uint64_t kB = 0x200000000;
constexpr std::uint64_t kD = 0x400000000;

/// Closed, it stops the compiler.
class Gate {
public:
    void open() {
        const std::scoped_lock lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    void pass() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, 20s, [&] { return is_open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

// A context without CUDA, in which the kernel of `kLoaded` is loaded.
struct Server {
    explicit Server(const Options& options = {}) : context(options, device, compiler) {
        static_cast<void>(context.kernel(kLoaded));
        loaded = compiler->compiles;
    }

    static constexpr GemmSpec kLoaded{.m = 512, .n = 512, .k = 512};
    /// Its kernel is another one.
    static constexpr GemmSpec kNew{.m = 2048, .n = 512, .k = 512};

    std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
    std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
    int loaded = 0;
    Gate gate;
    ContextState context;
};

std::string chosen_name(ContextState& context, const GemmSpec& spec) {
    const Problem problem = problem_of(spec);
    return kernel_name(problem, context.choose(problem).config);
}

template <typename Condition>
bool comes_true(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
    return condition();
}

bool is_replaced(const GemmKernel& kernel) { return kernel.info().choice != ChoiceSource::stand_in; }

}  // namespace

TEST_CASE("a kernel that is there serves at once, and the chosen one takes over in all handles", "[threads]") {
    Server server;
    const std::string chosen = chosen_name(server.context, Server::kNew);
    const std::string loaded = server.context.kernel(Server::kLoaded).info().name;
    REQUIRE(chosen != loaded);
    server.compiler->on_compile = [&](const CompileRequest&) { server.gate.pass(); };
    const GemmKernel kernel = server.context.kernel(Server::kNew, OnMiss::serve);
    CHECK(kernel.info().name == loaded);
    CHECK(kernel.info().choice == ChoiceSource::stand_in);
    CHECK_THAT(kernel.info().choice_reason, ContainsSubstring(chosen));
    CHECK(kernel.spec() == resolved(Server::kNew));
    const GemmKernel again = server.context.kernel(Server::kNew, OnMiss::serve);
    server.gate.open();
    REQUIRE(comes_true([&] { return is_replaced(kernel); }));
    CHECK(kernel.info().name == chosen);
    CHECK(&state_of(again) == &state_of(kernel));
    CHECK(server.compiler->compiles == server.loaded + 1);
}

TEST_CASE("launches of 16 threads go on while their kernel is replaced", "[threads]") {
    Server server;
    server.device->record = false;
    server.compiler->on_compile = [&](const CompileRequest&) { server.gate.pass(); };
    std::atomic<int> launches = 0;
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t)
        threads.emplace_back([&] {
            while (!stop) {
                server.context.kernel(Server::kNew, OnMiss::serve).launch({.a = kA, .b = kB, .d = kD});
                ++launches;
            }
        });
    CHECK(comes_true([&] { return launches > 100; }));
    server.gate.open();
    const GemmKernel kernel = server.context.kernel(Server::kNew, OnMiss::serve);
    CHECK(comes_true([&] { return is_replaced(kernel); }));
    const int replaced_at = launches;
    CHECK(comes_true([&] { return launches > replaced_at + 100; }));
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(server.compiler->compiles == server.loaded + 1);
}

TEST_CASE("a request that waits gets the chosen kernel, whatever serves meanwhile", "[threads]") {
    Server server;
    const std::string chosen = chosen_name(server.context, Server::kNew);
    std::atomic<int> inside = 0;
    server.compiler->on_compile = [&](const CompileRequest&) {
        ++inside;
        server.gate.pass();
    };
    const GemmKernel served = server.context.kernel(Server::kNew, OnMiss::serve);
    REQUIRE(comes_true([&] { return inside == 1; }));
    std::thread opener([&] {
        std::this_thread::sleep_for(20ms);
        server.gate.open();
    });
    const GemmKernel kernel = server.context.kernel(Server::kNew, OnMiss::wait);
    CHECK(kernel.info().name == chosen);
    CHECK(is_replaced(kernel));
    CHECK(&state_of(served) == &state_of(kernel));
    opener.join();
    CHECK(server.compiler->compiles == server.loaded + 1);
}

TEST_CASE("a compile that fails in the background leaves the kernel that serves", "[threads]") {
    const testing::CapturedLog captured("warning");
    {
        Server server;
        server.compiler->on_compile = [](const CompileRequest&) { throw CompileError("refused by ptxas", "the log"); };
        const GemmKernel kernel = server.context.kernel(Server::kNew, OnMiss::serve);
        const std::string serving = kernel.info().name;
        CHECK(comes_true([&] { return server.compiler->compiles == server.loaded + 1; }));
        CHECK_THROWS_AS(server.context.kernel(Server::kNew, OnMiss::wait), CompileError);
        CHECK(kernel.info().name == serving);
        CHECK(server.context.kernel(Server::kNew, OnMiss::serve).info().name == serving);
        kernel.launch({.a = kA, .b = kB, .d = kD});
    }
    CHECK_THAT(captured.text(), ContainsSubstring("goes on serving"));
    CHECK_THAT(captured.text(), ContainsSubstring("refused by ptxas"));
}

TEST_CASE("a request that may fail neither compiles nor reads a cache") {
    const testing::TemporaryFolder folder;
    Options options;
    options.cache_directory = folder.path();
    const std::string chosen = [&] {
        Server server(options);  // stores the kernel on disk
        return server.context.kernel(Server::kNew).info().name;
    }();
    Server server(options);
    const int compiles = server.compiler->compiles, loads = server.device->loads;
    try {
        static_cast<void>(server.context.kernel(Server::kNew, OnMiss::fail));
        FAIL("a kernel that is not loaded");
    } catch (const KernelNotReady& error) {
        CHECK(error.kernel() == chosen);
        CHECK_THAT(error.what(), ContainsSubstring(chosen));
        CHECK_THAT(error.what(), ContainsSubstring("fail"));
    }
    CHECK(server.compiler->compiles == compiles);
    CHECK(server.device->loads == loads);
    CHECK(server.context.kernel(Server::kNew).info().cache == CacheSource::disk);
    CHECK(server.context.kernel(Server::kNew, OnMiss::fail).info().name == chosen);
    // A problem that was never asked for, whose kernel is loaded.
    GemmSpec wider = Server::kNew;
    wider.lda = 520;
    if (chosen_name(server.context, wider) == chosen) CHECK_NOTHROW(server.context.kernel(wider, OnMiss::fail));
}

TEST_CASE("a request that may fail refuses a stand-in", "[threads]") {
    Server server;
    server.compiler->on_compile = [&](const CompileRequest&) { server.gate.pass(); };
    const GemmKernel served = server.context.kernel(Server::kNew, OnMiss::serve);
    CHECK_THROWS_AS(server.context.kernel(Server::kNew, OnMiss::fail), KernelNotReady);
    server.gate.open();
    REQUIRE(comes_true([&] { return is_replaced(served); }));
    CHECK_NOTHROW(server.context.kernel(Server::kNew, OnMiss::fail));
}

TEST_CASE("a kernel in the disk cache is no miss for a request that serves at once") {
    const testing::TemporaryFolder folder;
    Options options;
    options.cache_directory = folder.path();
    static_cast<void>(Server(options).context.kernel(Server::kNew));
    Server server(options);
    const GemmKernel kernel = server.context.kernel(Server::kNew, OnMiss::serve);
    CHECK(is_replaced(kernel));
    CHECK(kernel.info().cache == CacheSource::disk);
}

TEST_CASE("a batch-invariant request is served by kernels with the same order of sums alone", "[threads]") {
    Server server;
    const GpuModel& gpu = server.device->model();
    // Kernels of all orders of sums are loaded.
    for (const Candidate& candidate : list_candidates(problem_of(Server::kLoaded), gpu).accepted)
        if (server.compiler->compiles < 200)
            static_cast<void>(server.context.build(problem_of(Server::kLoaded), candidate.config));
    server.compiler->on_compile = [&](const CompileRequest&) { server.gate.pass(); };
    int served = 0, misfits = 0;
    for (const std::int64_t m : {1, 3, 16, 48, 64, 100, 200, 700}) {
        GemmSpec spec{.m = m, .n = 512, .k = 512};
        const SumOrder wanted = batch_invariant_order(spec, *gpu.arch);
        const KernelConfig any = state_of(server.context.kernel(spec, OnMiss::serve)).source().id.config;
        misfits += family_of(any).sum_order(spec.a, any) != wanted ? 1 : 0;
        spec.deterministic = Determinism::batch_invariant;
        const GemmKernel kernel = server.context.kernel(spec, OnMiss::serve);
        const KernelConfig& config = state_of(kernel).source().id.config;
        INFO(kernel.info().name);
        CHECK(family_of(config).sum_order(spec.a, config) == wanted);
        served += is_replaced(kernel) ? 0 : 1;
    }
    INFO(served << " stand-ins, " << misfits << " kernels of other orders for requests of any order");
    server.gate.open();
}

TEST_CASE("where no kernel fits, one that compiles sooner serves until the chosen one is there", "[threads]") {
    for (const Determinism deterministic : {Determinism::run_to_run, Determinism::batch_invariant}) {
        Server server;
        const GemmSpec spec{.m = 4096, .n = 4096, .k = 4096, .layout = GemmLayout::nn, .deterministic = deterministic};
        const Problem problem = problem_of(spec);
        const KernelConfig choice = server.context.choose(problem).config;
        const std::string chosen = kernel_name(problem, choice);
        server.compiler->on_compile = [&](const CompileRequest& request) {
            if (request.name == chosen) server.gate.pass();
        };
        const GemmKernel kernel = server.context.kernel(spec, OnMiss::serve);
        CHECK(kernel.info().choice == ChoiceSource::stand_in);
        CHECK_THAT(kernel.info().choice_reason, ContainsSubstring(chosen));
        const KernelConfig quick = state_of(kernel).source().id.config;
        INFO(kernel.info().name << " for " << chosen);
        CHECK(family_of(quick).compile_ms(quick) < family_of(choice).compile_ms(choice));
        if (deterministic == Determinism::batch_invariant)
            CHECK(family_of(quick).sum_order(spec.a, quick) == family_of(choice).sum_order(spec.a, choice));
        CHECK(kernel.info().cache == CacheSource::compiled);
        server.gate.open();
        CHECK(comes_true([&] { return is_replaced(kernel); }));
        CHECK(kernel.info().name == chosen);
        CHECK(server.compiler->compiles == server.loaded + 2);
    }
}

TEST_CASE("a chosen kernel that compiles fast has no stand-in to compile") {
    Server server;
    const GemmSpec spec{.m = 560, .n = 264, .k = 1528, .layout = GemmLayout::nn};
    CHECK(is_replaced(server.context.kernel(spec, OnMiss::serve)));
    CHECK(server.compiler->compiles == server.loaded + 1);
}

TEST_CASE("no stand-in computes another problem or is beyond all measure slower") {
    const GpuModel& gpu = find_gpu("h200");
    const Problem problem = problem_of({.m = 8192, .n = 8192, .k = 8192});
    const KernelConfig choice = choose_config(problem, gpu);
    const auto id = [](const GemmSpec& spec, const std::string& name) {
        return KernelId{problem_of(spec).signature, config_of_kernel(problem_of(spec), name)};
    };
    const auto named = [&](const GemmSpec& spec, const char* family) {
        Selection selection;
        selection.family = family;
        return id(spec, kernel_name(problem_of(spec), choose_config(problem_of(spec), gpu, selection)));
    };
    const KernelId slow = named({.m = 8192, .n = 8192, .k = 8192}, "simt_naive");
    const KernelId other_type = named({.m = 8192, .n = 8192, .k = 8192, .a = DataType::f16}, "mma_multistage");
    const KernelId other_layout = named({.m = 8192, .n = 8192, .k = 8192, .layout = GemmLayout::nn}, "mma_multistage");
    const KernelId usable = named({.m = 8192, .n = 8192, .k = 8192}, "mma_multistage");
    CHECK(!best_stand_in(problem, choice, std::vector{slow, other_type, other_layout}, gpu));
    CHECK(best_stand_in(problem, choice, std::vector{slow, other_type, usable}, gpu) == usable.config);
}

TEST_CASE("the first kernel of a server serves the wider products that follow") {
    const GpuModel& gpu = find_gpu("h200");
    const Problem first = problem_of({.m = 251, .n = 6144, .k = 4096});
    const auto quick = quick_stand_in(first, choose_config(first, gpu), gpu);
    REQUIRE(quick);
    const Problem wider = problem_of({.m = 386, .n = 28672, .k = 4096});
    const std::vector loaded{KernelId{first.signature, *quick}};
    CHECK(best_stand_in(wider, choose_config(wider, gpu), loaded, gpu) == quick);
}

TEST_CASE("destroying a context drops the compiles that wait and ends with those that run", "[threads]") {
    std::atomic<int> compiles = 0;
    {
        Options options;
        options.background_threads = 1;
        Server server(options);
        server.compiler->on_compile = [&](const CompileRequest&) {
            std::this_thread::sleep_for(50ms);
            ++compiles;
        };
        for (const std::int64_t m : {16, 64, 256, 1024, 4096})
            static_cast<void>(server.context.kernel({.m = m, .n = 512, .k = 512}, OnMiss::serve));
        CHECK(comes_true([&] { return server.compiler->compiles > server.loaded; }));
    }
    CHECK(compiles >= 1);
    CHECK(compiles <= 2);
}

TEST_CASE("the end of a process waits for the compile that runs", "[threads]") {
    const testing::TemporaryFolder folder;
    const std::string ended = folder.path() + "/ended";
    const int status = testing::in_child([&] {
        auto* const server = new Server;  // NOLINT: it is still there when the process ends
        server->compiler->on_compile = [&](const CompileRequest&) {
            std::this_thread::sleep_for(200ms);
            testing::put_text(ended, "yes");
        };
        static_cast<void>(server->context.kernel(Server::kNew, OnMiss::serve));
        if (!comes_true([&] { return server->compiler->compiles > server->loaded; })) return 1;
        std::exit(0);  // NOLINT(concurrency-mt-unsafe): it is what is tested
    });
    CHECK(status == 0);
    CHECK(std::filesystem::exists(ended));
}

// Not tagged [threads]: the thread sanitizer refuses threads in the fork of a process that has some.
TEST_CASE("a fork's child serves by threads of its own, while its parent's compile") {
    Server server;
    server.compiler->on_compile = [&](const CompileRequest&) { server.gate.pass(); };
    const GemmKernel kernel = server.context.kernel(Server::kNew, OnMiss::serve);
    CHECK(comes_true([&] { return server.compiler->compiles > server.loaded; }));
    const int status = testing::in_child([] {
        Server own;
        const GemmKernel served = own.context.kernel(Server::kNew, OnMiss::serve);
        if (served.info().choice != ChoiceSource::stand_in) return 1;
        return comes_true([&] { return is_replaced(served); }) ? 0 : 2;
    });
    CHECK(status == 0);
    server.gate.open();
    CHECK(comes_true([&] { return is_replaced(kernel); }));
}

TEST_CASE("a kernel that options fix has no stand-in") {
    Options options;
    options.family = "mma_multistage";
    options.on_miss = OnMiss::serve;
    Server server(options);
    CHECK(is_replaced(server.context.kernel(Server::kNew)));
}

TEST_CASE("background workers run at low priority, and refuse jobs when stopped", "[threads]") {
    BackgroundWorkers workers(1);
    std::atomic<int> nice = -100;
    REQUIRE(workers.enqueue([&] { nice = ::getpriority(PRIO_PROCESS, 0); }));
    CHECK(comes_true([&] { return nice != -100; }));
    CHECK(nice == std::min(19, ::getpriority(PRIO_PROCESS, 0) + BackgroundWorkers::kNiceness));
    workers.stop();
    CHECK_FALSE(workers.enqueue([] {}));
}
