#include "runtime/context/context_state.hpp"

#include "runtime/cuda/driver.hpp"
#include "runtime/device/argument_packer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/timing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

// ---- a problem whose right answer is known without arithmetic -------------------------------------------------------

constexpr std::uint16_t kOne = 0x3f80;  // bf16
constexpr std::uint16_t kTwo = 0x4000;

std::uint16_t bf16(float value) {  // of an integer up to 256: no rounding
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
}

// A is all ones, row i of B^T is all (i mod 2) + 1: D[row][column] = k · ((column mod 2) + 1).
struct Ones {
    Ones(Context& context, std::int64_t m, std::int64_t n, std::int64_t k)
        : spec{.m = m, .n = n, .k = k},
          a(context.allocate(static_cast<std::size_t>(2 * m * k))),
          b(context.allocate(static_cast<std::size_t>(2 * n * k))),
          d(context.allocate(static_cast<std::size_t>(2 * m * n))) {
        const std::vector<std::uint16_t> ones(static_cast<std::size_t>(m * k), kOne);
        a.copy_from_host(ones.data(), a.size_bytes());
        std::vector<std::uint16_t> host_b(static_cast<std::size_t>(n * k));
        for (std::size_t i = 0; i < host_b.size(); ++i)
            host_b[i] = i / static_cast<std::size_t>(k) % 2 == 0 ? kOne : kTwo;
        b.copy_from_host(host_b.data(), b.size_bytes());
        clear();
    }

    void clear() {
        const std::vector<std::uint16_t> nan(d.size_bytes() / 2, 0xffff);
        d.copy_from_host(nan.data(), d.size_bytes());
    }
    [[nodiscard]] bool is_right() const {
        std::vector<std::uint16_t> result(d.size_bytes() / 2);
        d.copy_to_host(result.data(), d.size_bytes());
        const std::array<std::uint16_t, 2> expected = {bf16(static_cast<float>(spec.k)),
                                                       bf16(static_cast<float>(2 * spec.k))};
        for (std::size_t i = 0; i < result.size(); ++i) {
            if (result[i] != expected[i % static_cast<std::size_t>(spec.n) % 2]) return false;
        }
        return true;
    }
    [[nodiscard]] GemmArguments arguments() const { return {.a = a.data(), .b = b.data(), .d = d.data()}; }

    GemmSpec spec;
    DeviceBuffer a;
    DeviceBuffer b;
    DeviceBuffer d;
};

// ---- the driver by hand ---------------------------------------------------------------------------------------------

// A stream of the primary context of device 0, which is current for as long as this lives.
struct PrimaryStream {
    PrimaryStream() {
        JITGEMM_CHECK(driver().cuDevicePrimaryCtxRetain(&context, 0));
        JITGEMM_CHECK(driver().cuCtxPushCurrent(context));
        JITGEMM_CHECK(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    }
    ~PrimaryStream() {
        CUcontext popped = nullptr;
        driver().cuStreamDestroy(stream);
        driver().cuCtxPopCurrent(&popped);
        driver().cuDevicePrimaryCtxRelease(0);
    }
    CUcontext context = nullptr;
    CUstream stream = nullptr;
};

CUcontext current_context() {
    CUcontext context = nullptr;
    JITGEMM_CHECK(driver().cuCtxGetCurrent(&context));
    return context;
}

// Captures what `enqueue` puts on the stream, then replays it `times` times.
template <class Enqueue>
void capture_and_replay(CUstream stream, CUstreamCaptureMode mode, int times, const Enqueue& enqueue) {
    JITGEMM_CHECK(driver().cuStreamBeginCapture(stream, mode));
    enqueue();
    CUgraph graph = nullptr;
    JITGEMM_CHECK(driver().cuStreamEndCapture(stream, &graph));
    CUgraphExec executable = nullptr;
    JITGEMM_CHECK(driver().cuGraphInstantiateWithFlags(&executable, graph, 0));
    for (int i = 0; i < times; ++i) JITGEMM_CHECK(driver().cuGraphLaunch(executable, stream));
    JITGEMM_CHECK(driver().cuStreamSynchronize(stream));
    JITGEMM_CHECK(driver().cuGraphExecDestroy(executable));
    JITGEMM_CHECK(driver().cuGraphDestroy(graph));
}

// A context of our own beside the primary one. cuCtxCreate's signature follows the toolkit; this older one every driver
// has.
CUcontext create_context() {
    using Create = CUresult (*)(CUcontext*, unsigned, CUdevice);
    void* const library = dlopen(driver().path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    const auto create = reinterpret_cast<Create>(dlsym(library, "cuCtxCreate_v2"));
    CUcontext context = nullptr;
    JITGEMM_CHECK(create(&context, 0, 0));
    return context;
}

void destroy_context(CUcontext context) {
    void* const library = dlopen(driver().path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    reinterpret_cast<CUresult (*)(CUcontext)>(dlsym(library, "cuCtxDestroy_v2"))(context);
}

}  // namespace

TEST_CASE("a kernel runs on the default stream without a current context, and leaves none behind") {
    REQUIRE_GPU();
    bool right = false;
    CUcontext afterwards = nullptr;
    std::thread([&] {
        Context context;
        Ones problem(context, 100, 104, 64);
        context.kernel(problem.spec).launch(problem.arguments());
        context.synchronize();
        right = problem.is_right();
        afterwards = current_context();
    }).join();
    CHECK(right);
    CHECK(afterwards == nullptr);
}

TEST_CASE("a thread that never made a context may launch") {
    REQUIRE_GPU();
    Context context;
    Ones problem(context, 256, 128, 64);
    const GemmKernel kernel = context.kernel(problem.spec);
    std::thread([&] { kernel.launch(problem.arguments()); }).join();
    context.synchronize();
    CHECK(problem.is_right());
}

TEST_CASE("a capture replays right, in every mode") {
    REQUIRE_GPU();
    PrimaryStream stream;
    Context context;
    Ones problem(context, 300, 200, 96);
    const GemmKernel kernel = context.kernel(problem.spec);
    for (const CUstreamCaptureMode mode :
         {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
        problem.clear();
        capture_and_replay(stream.stream, mode, 3, [&] { kernel.launch(problem.arguments(), stream.stream); });
        CHECK(problem.is_right());
    }
}

TEST_CASE("the very first launch, and even the request for a kernel, may happen in a capture") {
    REQUIRE_GPU();
    PrimaryStream stream;
    Context context;
    Ones problem(context, 300, 200, 96);
    capture_and_replay(stream.stream, CU_STREAM_CAPTURE_MODE_GLOBAL, 1,
                       [&] { context.kernel(problem.spec).launch(problem.arguments(), stream.stream); });
    CHECK(problem.is_right());
}

TEST_CASE("in a capture, a request that must not wait fails without harm, and one that serves at once is captured") {
    REQUIRE_GPU();
    PrimaryStream stream;
    const jitgemm::testing::TemporaryFolder cache;
    Options options = Options::from_environment();
    options.cache_directory = cache.path();
    Context context(options);
    Ones problem(context, 300, 200, 96);
    std::optional<GemmKernel> served;
    capture_and_replay(stream.stream, CU_STREAM_CAPTURE_MODE_GLOBAL, 3, [&] {
        CHECK_THROWS_AS(context.kernel(problem.spec, {.on_miss = OnMiss::fail}), KernelNotReady);
        served = context.kernel(problem.spec, {.on_miss = OnMiss::serve});
        served->launch(problem.arguments(), stream.stream);
    });
    CHECK(problem.is_right());
    const GemmKernel chosen = context.kernel(problem.spec);  // it takes the place of a stand-in in all handles
    CHECK(served->info().name == chosen.info().name);
    CHECK(chosen.info().choice != ChoiceSource::stand_in);
    problem.clear();
    capture_and_replay(stream.stream, CU_STREAM_CAPTURE_MODE_GLOBAL, 1, [&] {
        context.kernel(problem.spec, {.on_miss = OnMiss::fail}).launch(problem.arguments(), stream.stream);
    });
    CHECK(problem.is_right());
}

TEST_CASE("a split-K kernel finds a workspace outside and inside of captures") {
    REQUIRE_GPU();
    PrimaryStream stream;
    Options options = Options::from_environment();
    options.parameters = "split_k=2";
    Context context(options);
    Ones problem(context, 128, 128, 128);
    const GemmKernel kernel = context.kernel(problem.spec);
    REQUIRE(kernel.workspace_bytes() > 0);
    kernel.launch(problem.arguments(), stream.stream);
    context.synchronize(stream.stream);
    CHECK(problem.is_right());
    for (int round = 0; round < 3; ++round) {
        problem.clear();
        capture_and_replay(stream.stream, CU_STREAM_CAPTURE_MODE_GLOBAL, 2,
                           [&] { kernel.launch(problem.arguments(), stream.stream); });
        CHECK(problem.is_right());
    }
    const DeviceBuffer workspace = context.allocate(kernel.workspace_bytes());
    GemmArguments arguments = problem.arguments();
    arguments.workspace = workspace.data();
    arguments.workspace_bytes = workspace.size_bytes();
    problem.clear();
    kernel.launch(arguments, stream.stream);
    context.synchronize(stream.stream);
    CHECK(problem.is_right());
}

TEST_CASE("many threads launch one kernel at once, each on its own stream and operands") {
    REQUIRE_GPU();
    Context context;
    const GemmKernel kernel = context.kernel({.m = 128, .n = 128, .k = 64});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            PrimaryStream stream;
            Ones problem(context, 128, 128, 64);
            for (int i = 0; i < 50; ++i) {
                problem.clear();
                kernel.launch(problem.arguments(), stream.stream);
                context.synchronize(stream.stream);
                wrong += problem.is_right() ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("the caller's context is used, and current again after every call") {
    REQUIRE_GPU();
    const CUcontext own = create_context();  // current from here on
    {
        Context context;
        Ones problem(context, 100, 104, 64);
        CHECK(current_context() == own);
        const GemmKernel kernel = context.kernel(problem.spec);
        CHECK(current_context() == own);
        kernel.launch(problem.arguments());
        context.synchronize();
        CHECK(current_context() == own);
        CHECK(problem.is_right());
        CUstream stream = nullptr;  // of the caller's context: only a kernel loaded there runs on it
        JITGEMM_CHECK(driver().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        problem.clear();
        kernel.launch(problem.arguments(), stream);
        context.synchronize(stream);
        CHECK(problem.is_right());
        JITGEMM_CHECK(driver().cuStreamDestroy(stream));
    }
    CHECK(current_context() == own);
    destroy_context(own);
}

TEST_CASE("a launch while another context is current runs in the kernel's own") {
    REQUIRE_GPU();
    Options options = Options::from_environment();
    options.device = "cuda:0";
    Context context(options);
    Ones problem(context, 100, 104, 64);
    const GemmKernel kernel = context.kernel(problem.spec);
    const CUcontext other = create_context();
    kernel.launch(problem.arguments());
    CHECK(current_context() == other);
    context.synchronize();
    CHECK(problem.is_right());

    {
        PrimaryStream stream;
        problem.clear();
        capture_and_replay(stream.stream, CU_STREAM_CAPTURE_MODE_GLOBAL, 1, [&] {
            JITGEMM_CHECK(driver().cuCtxPushCurrent(other));
            kernel.launch(problem.arguments(), stream.stream);
            CUcontext popped = nullptr;
            JITGEMM_CHECK(driver().cuCtxPopCurrent(&popped));
            CHECK(popped == other);
        });
        CHECK(problem.is_right());
    }
    destroy_context(other);
}

TEST_CASE("a device that is not there is named") {
    REQUIRE_GPU();
    Options options = Options::from_environment();
    options.device = "cuda:99";
    CHECK_THROWS_WITH(Context(options), ContainsSubstring("no device cuda:99"));
    options.device = "cuda:x";
    CHECK_THROWS_WITH(Context(options), ContainsSubstring("unknown device"));
}

TEST_CASE("too much memory is refused with what was asked and what is free", "[memory]") {
    REQUIRE_GPU();
    Context context;
    try {
        static_cast<void>(context.allocate(std::size_t{1} << 50));
        FAIL("allocated a pebibyte");
    } catch (const CudaError& error) {
        CHECK(error.result_name() == "CUDA_ERROR_OUT_OF_MEMORY");
        CHECK(error.call() == "cuMemAlloc");
        CHECK_THAT(error.what(), ContainsSubstring("1125899906842624 bytes asked"));
        CHECK_THAT(error.what(), ContainsSubstring(" free on "));
    }
    CHECK_NOTHROW(context.allocate(1024));
}

TEST_CASE("unsound arguments throw before the launch") {
    REQUIRE_GPU();
    Context context;
    Ones problem(context, 128, 128, 64);
    const GemmKernel kernel = context.kernel(problem.spec);
    GemmArguments arguments = problem.arguments();
    arguments.a = DevicePointer(arguments.a.address + 2);
    CHECK_THROWS_AS(kernel.launch(arguments), SpecError);
    arguments = problem.arguments();
    arguments.beta = 1.0F;
    CHECK_THROWS_AS(kernel.launch(arguments), SpecError);
    arguments = problem.arguments();
    arguments.d = arguments.b;
    CHECK_THROWS_AS(kernel.launch(arguments), SpecError);
    context.synchronize();
}

TEST_CASE("an edited kernel that takes more than the one struct is refused when it is loaded") {
    REQUIRE_GPU();
    Context context;
    const GemmSpec spec = resolved({.m = 64, .n = 64, .k = 64});
    const KernelConfig config = choose_config(problem_of(spec), state_of(context).device->model(),
                                              {.kernel = {}, .family = "mma_multistage", .parameters = {}});
    const KernelSource source = generate(problem_of(spec), config, *state_of(context).device->model().arch);
    const std::string parameters = "gemm(GemmArgs args)";
    const auto edited = [&](const std::string& text) {
        ParsedDump dump{spec, {problem_of(spec).signature, config}, source.arch, source.body};
        dump.body.replace(dump.body.find(parameters), parameters.size(), text);
        return dump;
    };
    CHECK_NOTHROW(state_of(context).build(edited("gemm(const GemmArgs args )")));
    CHECK_THROWS_WITH(state_of(context).build(edited("gemm(const GemmArgs args, const int more)")),
                      ContainsSubstring("takes more than one parameter"));
    CHECK_THROWS_WITH(state_of(context).build(edited("gemm(const GemmArgs args, const GemmArgs)")),
                      ContainsSubstring("takes more than one parameter"));
}

TEST_CASE("buffers hold what was copied") {
    REQUIRE_GPU();
    Context context;
    DeviceBuffer buffer = context.allocate(64);
    const std::vector<char> text(32, 'x');
    buffer.copy_from_host(text.data(), 32, 32);
    std::vector<char> back(32);
    DeviceBuffer moved = std::move(buffer);
    moved.copy_to_host(back.data(), 32, 32);
    CHECK(back == text);
    CHECK_THROWS_WITH(moved.copy_to_host(back.data(), 32, 33), ContainsSubstring("leaves the buffer of 64 bytes"));
    CHECK(context.allocate(0).size_bytes() == 0);
}

TEST_CASE("a launch costs less than a microsecond beside the bare driver call, a repeated request too", "[timing]") {
    REQUIRE_GPU();
    PrimaryStream stream;
    Context context;
    Ones problem(context, 64, 64, 64);
    const GemmKernel kernel = context.kernel(problem.spec);
    const GemmArguments arguments = problem.arguments();
    const LoadedEntry& entry = state_of(kernel).entries.front();
    PackedArguments packed =
        pack_arguments(entry.entry().arguments, state_of(kernel).problem, {arguments}, *state_of(kernel).device);
    void* parameters[] = {packed.bytes.data()};
    const auto bare = [&] {
        driver().cuLaunchKernel(static_cast<CUfunction>(entry.function().handle),
                                static_cast<unsigned>(entry.shape.blocks), 1, 1,
                                static_cast<unsigned>(entry.shape.threads), 1, 1,
                                static_cast<unsigned>(entry.shape.shared_bytes), stream.stream, parameters, nullptr);
    };
    const auto launch = [&] { kernel.launch(arguments, stream.stream); };
    const auto request = [&] { static_cast<void>(context.kernel(problem.spec)); };
    const auto idle = [&] { JITGEMM_CHECK(driver().cuStreamSynchronize(stream.stream)); };
    const auto holds = [](const std::vector<double>& us) { return us[1] - us[0] < 1.0 && us[2] < 1.0; };
    const std::vector<double> us =
        jitgemm::testing::fastest_us({bare, launch, request}, {.rounds = 200, .calls = 100, .idle = idle}, holds);
    std::cout << "cuLaunchKernel " << us[0] << " us, GemmKernel::launch " << us[1] << " us, repeated request " << us[2]
              << " us\n";
    CHECK(holds(us));
}
