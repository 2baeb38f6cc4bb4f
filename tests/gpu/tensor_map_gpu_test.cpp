/// The launch model on a GPU with TMA: the copying kernel of the emulator's tests, launched from eight threads, and
/// what a launch with tensor maps costs.

#include "jitgemm/context.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/device/argument_packer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/tensor_map_copy_checks.hpp"
#include "tests/support/timing.hpp"

#include <atomic>
#include <iostream>
#include <thread>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::Equals;

namespace {

#define REQUIRE_TMA(context) \
    if (!(context).device->model().arch->has_tma) SKIP_TEST("no TMA before sm_90")

/// One of several matrices that a thread copies in turn.
struct Copy {
    DevicePointer a;
    DevicePointer d;
    std::vector<std::uint16_t> input;
};

Copy new_copy(Device& device, const CopiedMatrix& matrix, std::uint64_t seed) {
    Copy copy{device.allocate(matrix.bytes_a()), device.allocate(matrix.bytes_d()), copied_input(matrix, seed)};
    device.copy_to_device(copy.a, copy.input.data(), matrix.bytes_a());
    device.fill_bytes(copy.d, kUncopied, matrix.bytes_d());
    return copy;
}

}  // namespace

TEST_CASE("on the GPU, a matrix copied through tensor maps arrives whole, with every residue and swizzle") {
    REQUIRE_GPU();
    Context owner;
    ContextState& context = state_of(owner);
    REQUIRE_TMA(context);
    for (const TensorMapSwizzle swizzle :
         {TensorMapSwizzle::none, TensorMapSwizzle::span32, TensorMapSwizzle::span64, TensorMapSwizzle::span128}) {
        const TensorMapCopy copy(context, swizzle, 8);
        for (std::int64_t rows = 1; rows <= 2 * copy.box_rows() + 1; ++rows)
            for (std::int64_t columns = 1; columns <= copy.box_columns() + 1; ++columns)
                REQUIRE_THAT(copy_problem(context, copy, {rows, columns}), Equals(""));
        REQUIRE_THAT(copy_problem(context, copy, {3001, 5003}), Equals(""));
    }
}

TEST_CASE("on the GPU, eight threads launch one kernel with tensor maps of changing matrices", "[threads]") {
    REQUIRE_GPU();
    Context owner;
    ContextState& context = state_of(owner);
    REQUIRE_TMA(context);
    constexpr int kThreads = 8, kMatrices = 12, kLaunches = 600;
    const TensorMapCopy copy(context, TensorMapSwizzle::span128, 64);
    const CopiedMatrix matrix(130, 201);
    const GemmKernel kernel = copy.kernel(matrix.rows, matrix.columns, matrix.lda, matrix.ldd);
    std::vector<std::string> problems(kThreads);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            Device& device = *context.device;
            const ScopedContext current(cuda_context(device));
            const CudaStream stream;
            std::vector<Copy> copies;
            for (int i = 0; i < kMatrices; ++i)
                copies.push_back(
                    new_copy(device, matrix, static_cast<std::uint64_t>(thread) * 100 + static_cast<std::uint64_t>(i)));
            for (int i = 0; i < kLaunches; ++i) {
                // Each D is written from every A in turn; what the last launch left must be the last one's.
                const Copy& from = copies[static_cast<std::size_t>(i % kMatrices)];
                const Copy& to = copies[static_cast<std::size_t>(i * 5 % kMatrices)];
                kernel.launch(TensorMapCopy::arguments(from.a, to.d), stream.handle());
            }
            stream.synchronize();
            std::vector<std::uint16_t> output(matrix.bytes_d() / 2);
            for (int i = kLaunches - kMatrices; i < kLaunches; ++i) {
                const Copy& from = copies[static_cast<std::size_t>(i % kMatrices)];
                const Copy& to = copies[static_cast<std::size_t>(i * 5 % kMatrices)];
                device.copy_to_host(output.data(), to.d, matrix.bytes_d());
                problems[static_cast<std::size_t>(thread)] += wrong_copy(matrix, from.input, output);
            }
            for (const Copy& of : copies) {
                device.free(of.a);
                device.free(of.d);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& problem : problems) CHECK_THAT(problem, Equals(""));
}

TEST_CASE("a captured launch has counters of its own, and graphs replay beside plain launches") {
    REQUIRE_GPU();
    Context owner;
    ContextState& context = state_of(owner);
    REQUIRE_TMA(context);
    const TensorMapCopy copy(context, TensorMapSwizzle::span128, 8);
    const CopiedMatrix matrix(300, 333);
    const GemmKernel kernel = copy.kernel(matrix.rows, matrix.columns, matrix.lda, matrix.ldd);
    Device& device = *context.device;
    const ScopedContext current(cuda_context(device));
    const CudaStream stream, beside;
    const Copy captured = new_copy(device, matrix, 1), plain = new_copy(device, matrix, 2);
    const DriverApi& api = driver();
    JITGEMM_CHECK(api.cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_GLOBAL));
    kernel.launch(TensorMapCopy::arguments(captured.a, captured.d), stream.handle());
    CUgraph graph = nullptr;
    JITGEMM_CHECK(api.cuStreamEndCapture(stream.handle(), &graph));
    CUgraphExec executable = nullptr;
    JITGEMM_CHECK(api.cuGraphInstantiateWithFlags(&executable, graph, 0));
    for (int i = 0; i < 20; ++i) {
        JITGEMM_CHECK(api.cuGraphLaunch(executable, stream.handle()));
        kernel.launch(TensorMapCopy::arguments(plain.a, plain.d), beside.handle());
    }
    stream.synchronize();
    beside.synchronize();
    for (const Copy* of : {&captured, &plain}) {
        std::vector<std::uint16_t> output(matrix.bytes_d() / 2);
        device.copy_to_host(output.data(), of->d, matrix.bytes_d());
        CHECK_THAT(wrong_copy(matrix, of->input, output), Equals(""));
        device.free(of->a);
        device.free(of->d);
    }
    JITGEMM_CHECK(api.cuGraphExecDestroy(executable));
    JITGEMM_CHECK(api.cuGraphDestroy(graph));
}

// Three maps, as a kernel of Hopper has them; an empty kernel, so that the host is what is timed.
TEST_CASE("a launch with three tensor maps costs less than 0.3 us above the same launch bare", "[timing]") {
    REQUIRE_GPU();
    Context owner;
    ContextState& context = state_of(owner);
    REQUIRE_TMA(context);
    const auto map = [](ArgumentRole role) { return TensorMapArgument{role, {64, 64}, TensorMapSwizzle::span128}; };
    const KernelEntry entry{.function = "nothing",
                            .threads = 32,
                            .cluster = {2, 1, 1},
                            .grid = {.tile_m = 64, .tile_n = 64, .blocks = PersistentBlocks{1, 2}},
                            .arguments = {map(ArgumentRole::a), map(ArgumentRole::b), map(ArgumentRole::d),
                                          ExtentArgument{ArgumentRole::m}, ExtentArgument{ArgumentRole::n},
                                          ExtentArgument{ArgumentRole::k}, ScalarArgument{ArgumentRole::alpha}}};
    const KernelText text{.name = "nothing",
                          .arch = context.device->model().arch,
                          .body =
                              "struct alignas(64) Args { unsigned long long words[50]; };\n"
                              "extern \"C\" __global__ void nothing(const __grid_constant__ Args args) {}\n",
                          .entries = {entry}};
    const LoadedKernel loaded = context.load(text, text.body);
    auto state = std::make_shared<KernelState>(problem_of({.m = 64, .n = 64, .k = 64}));
    auto loaded_kernel = std::make_shared<LoadedKernel>();
    loaded_kernel->source = std::make_shared<const KernelSource>(KernelSource{text, {}});
    state->kernel = std::move(loaded_kernel);
    state->entries.emplace_back(entry, loaded.functions.front(), state->problem, *context.device);
    state->device = context.device;
    state->workspaces = context.workspaces;
    const LoadedEntry& only = state->entries.front();
    const GemmKernel kernel = KernelAccess::make(state);

    Device& device = *context.device;
    const ScopedContext current(cuda_context(device));
    const CudaStream stream;
    const DevicePointer memory = device.allocate(3 * 8192);
    const GemmArguments arguments{.a = memory, .b = memory.address + 8192, .d = memory.address + 16384};
    const PackedArguments packed = pack_arguments(entry.arguments, state->problem, {arguments}, device);
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {2, 1, 1};
    void* parameters[] = {const_cast<std::byte*>(packed.bytes.data())};
    const auto bare = [&] {
        CUlaunchConfig config{};
        config.gridDimX = static_cast<unsigned>(only.shape.blocks);
        config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
        config.blockDimX = 32;
        config.hStream = stream.handle();
        config.attrs = &cluster;
        config.numAttrs = 1;
        driver().cuLaunchKernelEx(&config, static_cast<CUfunction>(only.function().handle), parameters, nullptr);
    };
    // Each launch with a pointer of its own, so that one map is encoded.
    std::uint64_t offset = 0;
    GemmArguments moving = arguments;
    const auto ours = [&] { kernel.launch(arguments, stream.handle()); };
    const auto encoding = [&] {
        moving.a = 0x7f0000000000 + (offset += 4096);  // never read
        kernel.launch(moving, stream.handle());
    };
    const auto holds = [](const std::vector<double>& us) { return us[1] - us[0] < 0.3; };
    const std::vector<double> us =
        fastest_us({bare, ours, encoding}, {.rounds = 100, .idle = [&] { stream.synchronize(); }}, holds);
    std::cout << "cuLaunchKernelEx with three tensor maps " << us[0] << " us, GemmKernel::launch " << us[1]
              << " us, with a new pointer for one of them " << us[2] << " us\n";
    CHECK(holds(us));
    device.free(memory);
}
