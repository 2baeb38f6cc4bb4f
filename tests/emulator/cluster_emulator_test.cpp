/// CUDA kernels with clusters, compiled by NVRTC and launched on the emulator as a Device: blocks add up partial sums
/// in each other's shared memory.

#include "runtime/compiler/compiler.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

constexpr int kThreads = 128;

/// Every block lays kThreads values of its own into shared memory; then the blocks of a cluster add up a part of all
/// their tiles each, through the addresses mapa gives, in order of rank.
constexpr const char* kReduction = R"(
struct Arguments {
    const float* in;  // (blocks, kThreads)
    float* out;       // (clusters, kThreads)
};

__device__ void sync_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ unsigned special(const int which) {
    unsigned value;
    if (which == 0) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
    if (which == 1) asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
    if (which == 2) asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(value));
    return value;
}

__device__ float4 load_peer(const unsigned own, const unsigned rank) {
    unsigned peer;
    float4 value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(own), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w) : "r"(peer) : "memory");
    return value;
}

extern "C" __global__ void __launch_bounds__(128) reduce(const Arguments arguments) {
    extern __shared__ float4 tile[];
    const unsigned rank = special(0), blocks = special(1);
    reinterpret_cast<float*>(tile)[threadIdx.x] = arguments.in[blockIdx.x * blockDim.x + threadIdx.x];
    FIRST_BARRIER;
    const unsigned vectors = blockDim.x / 4;
    for (unsigned i = rank + threadIdx.x * blocks; i < vectors; i += blockDim.x * blocks) {
        float4 sum = {0, 0, 0, 0};
        for (unsigned peer = 0; peer < blocks; ++peer) {
            const float4 part = load_peer(static_cast<unsigned>(__cvta_generic_to_shared(tile + i)), peer);
            sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
        }
        reinterpret_cast<float4*>(arguments.out)[special(2) * vectors + i] = sum;
    }
    LAST_BARRIER;
}
)";

std::string reduction(const std::string& first_barrier, const std::string& last_barrier) {
    std::string text = kReduction;
    text.replace(text.find("FIRST_BARRIER"), 13, first_barrier);
    text.replace(text.find("LAST_BARRIER"), 12, last_barrier);
    return text;
}

/// The launch's results for in[i] = i. There is a mode for each verification of the emulator.
std::vector<float> run(const std::string& text, int blocks, int cluster, const EmulatorMode& mode) {
    EmulatorDevice device(find_arch("sm_90a"), 0);
    device.set_mode(mode);
    const KernelEntry entry{.function = "reduce",
                            .threads = kThreads,
                            .shared_bytes = kThreads * 4,
                            .cluster = {cluster, 1, 1},
                            .grid = {},
                            .arguments = {}};
    const auto compiler = make_nvrtc_compiler(Options::from_environment(), 0, "");
    const CompiledKernel compiled = compiler->compile(
        ptx_request({.name = "reduce", .arch = &find_arch("sm_90a"), .body = text, .entries = {entry}}));
    const Function function = device.load(compiled.binary, entry);
    std::vector<float> values(static_cast<std::size_t>(blocks) * kThreads);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    std::vector<float> sums(values.size() / static_cast<std::size_t>(cluster));
    const std::array<DevicePointer, 2> arguments{device.allocate(values.size() * 4), device.allocate(sums.size() * 4)};
    device.copy_to_device(arguments[0], values.data(), values.size() * 4);
    device.launch(function, {blocks, entry.threads, entry.shared_bytes, entry.cluster},
                  std::as_bytes(std::span(arguments)), nullptr);
    device.copy_to_host(sums.data(), arguments[1], sums.size() * 4);
    return sums;
}

std::vector<float> expected(int blocks, int cluster) {
    std::vector<float> sums;
    for (int first = 0; first < blocks; first += cluster) {
        for (int i = 0; i < kThreads; ++i) {
            float sum = 0;
            for (int block = first; block < first + cluster; ++block) sum += static_cast<float>(block * kThreads + i);
            sums.push_back(sum);
        }
    }
    return sums;
}

std::string fault_of(const std::string& text, const EmulatorMode& mode) {
    try {
        static_cast<void>(run(text, 4, 2, mode));
    } catch (const emulator::EmulatorFault& fault) {
        return fault.what();
    }
    return "no fault";
}

}  // namespace

TEST_CASE("emulated clusters: blocks compiled by NVRTC reduce through distributed shared memory") {
    const std::string text = reduction("sync_cluster()", "sync_cluster()");
    for (const int cluster : {1, 2, 3, 4, 6, 8, 16}) {
        for (const std::uint64_t seed : {0U, 5U}) {
            INFO("cluster of " << cluster << ", seed " << seed);
            const EmulatorMode mode{.order_seed = seed, .checks = {}, .threads = 2};
            CHECK(run(text, 3 * cluster, cluster, mode) == expected(3 * cluster, cluster));
        }
    }
}

TEST_CASE("emulated clusters: a missing cluster barrier is told with its source line") {
    for (const std::uint64_t seed : {0U, 5U}) {
        const EmulatorMode mode{.order_seed = seed, .checks = {.shared_written = false}};
        const std::string race = fault_of(reduction("__syncthreads()", "sync_cluster()"), mode);
        CHECK_THAT(race, ContainsSubstring("no cluster barrier between"));
        CHECK_THAT(race, ContainsSubstring("(kernel.cu:"));
        CHECK_THAT(fault_of(reduction("sync_cluster()", "__syncthreads()"), mode), ContainsSubstring("ended block"));
    }
}

TEST_CASE("emulated clusters: the device refuses what a GPU would") {
    const std::string text = reduction("sync_cluster()", "sync_cluster()");
    CHECK_THROWS_WITH(run(text, 7, 2, {}), ContainsSubstring("7 is no multiple of 2"));
    CHECK_THROWS_WITH(run(text, 32, 32, {}), ContainsSubstring("more than the 16"));
}
