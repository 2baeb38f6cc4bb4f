// The quickest read of N bytes that we know of: what a problem whose weights are read once can't beat.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a bench/read_floor.cu -o read_floor && ./read_floor [MB...]
//
// Prints a row per size: microseconds per launch of the fastest of a few grids, for three kinds of launch:
// - plain;
// - dependent, waits for the previous kernel and then reads: right with any neighbour;
// - dependent, reads first: right where nobody writes the bytes.
// Launches stand in a CUDA graph, one behind the other, over buffers of 1 GiB together,
// so that L2 (60 MB) holds nothing of use; the median of 15 replays counts. 1 MB is 10^6 bytes.
//
// Two kernels: `by_loads`, 16-byte loads with 4 or 8 of them in flight per thread, and `by_bulk_copies`, a ring of
// cp.async.bulk (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy") that one thread per block keeps full.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

enum class Launch { plain, waits_first, reads_first };

constexpr std::size_t kPoolBytes = std::size_t{1} << 30;
constexpr int kReplays = 15;

#define CHECK(call)                                                                    \
    do {                                                                               \
        const cudaError_t error = (call);                                              \
        if (error != cudaSuccess) {                                                    \
            std::fprintf(stderr, "error: %s: %s\n", #call, cudaGetErrorString(error)); \
            std::exit(1);                                                              \
        }                                                                              \
    } while (false)

template <Launch kLaunch>
__device__ void begin() {
    if (kLaunch != Launch::plain) asm volatile("griddepcontrol.launch_dependents;");
    if (kLaunch == Launch::waits_first) asm volatile("griddepcontrol.wait;" ::: "memory");
}

template <Launch kLaunch>
__device__ void end() {
    if (kLaunch == Launch::reads_first) asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// `vectors` of 16 bytes; `sink` is written only for a sum that no test data has, so that no load is left out.
template <int kInFlight, Launch kLaunch>
__global__ void __launch_bounds__(512) by_loads(const uint4* data, std::size_t vectors, unsigned* sink) {
    begin<kLaunch>();
    unsigned sum = 0;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (std::size_t at = first; at < vectors; at += threads * kInFlight) {
        uint4 loaded[kInFlight];
#pragma unroll
        for (int i = 0; i < kInFlight; ++i) {
            const std::size_t vector = at + i * threads;
            loaded[i] = vector < vectors ? __ldcs(data + vector) : uint4{0, 0, 0, 0};
        }
#pragma unroll
        for (int i = 0; i < kInFlight; ++i) sum ^= loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
    }
    end<kLaunch>();
    if (sum == 0x9e3779b9u) *sink = sum;
}

constexpr int kStages = 6;
constexpr unsigned kChunkBytes = 32768;

__device__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

/// A block of 32 threads; chunks i, i + gridDim.x, … are a block's.
template <Launch kLaunch>
__global__ void __launch_bounds__(32) by_bulk_copies(const char* data, std::size_t bytes) {
    extern __shared__ __align__(128) char ring[];  // kStages * kChunkBytes
    __shared__ std::uint64_t barriers[kStages];
    if (threadIdx.x != 0) return;
    for (std::uint64_t& barrier : barriers)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    begin<kLaunch>();
    int copies = 0;
    for (std::size_t at = blockIdx.x * std::size_t{kChunkBytes}; at < bytes;
         at += gridDim.x * std::size_t{kChunkBytes}, ++copies) {
        const int stage = copies % kStages;
        const unsigned barrier = shared_address(&barriers[stage]);
        if (copies >= kStages) wait_for(barrier, (copies / kStages - 1) & 1);
        const auto chunk = static_cast<unsigned>(min(std::size_t{kChunkBytes}, bytes - at));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(chunk) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(ring + stage * kChunkBytes)),
                     "l"(data + at), "r"(chunk), "r"(barrier)
                     : "memory");
    }
    for (int i = max(0, copies - kStages); i < copies; ++i)
        wait_for(shared_address(&barriers[i % kStages]), (i / kStages) & 1);
    end<kLaunch>();
}

struct Grid {
    std::string name;
    int blocks, threads;
    unsigned shared_bytes;
    const void* kernel;
    bool bulk;
};

template <Launch kLaunch>
std::vector<Grid> grids() {
    std::vector<Grid> all;
    for (const int per_sm : {2, 4, 8})
        for (const int threads : {256, 512}) {
            if (per_sm * threads > 2048) continue;
            const std::string size = std::to_string(132 * per_sm) + "x" + std::to_string(threads);
            all.push_back({size + ", 4 loads", 132 * per_sm, threads, 0, (const void*)by_loads<4, kLaunch>, false});
            all.push_back({size + ", 8 loads", 132 * per_sm, threads, 0, (const void*)by_loads<8, kLaunch>, false});
        }
    all.push_back({"bulk copies", 132, 32, kStages * kChunkBytes, (const void*)by_bulk_copies<kLaunch>, true});
    CHECK(cudaFuncSetAttribute((const void*)by_bulk_copies<kLaunch>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kStages * kChunkBytes));
    return all;
}

class Pool {
public:
    Pool() {
        CHECK(cudaMalloc(&data_, kPoolBytes));
        CHECK(cudaMemset(data_, 1, kPoolBytes));
        CHECK(cudaMalloc(&sink_, sizeof(unsigned)));
        CHECK(cudaStreamCreate(&stream_));
        CHECK(cudaEventCreate(&begin_));
        CHECK(cudaEventCreate(&end_));
    }

    /// Microseconds per launch.
    double time(const Grid& grid, Launch launch, std::size_t bytes) {
        const std::size_t slots = kPoolBytes / bytes;
        const int launches = static_cast<int>(std::max<std::size_t>(slots, 20));
        CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < launches; ++i) enqueue(grid, launch, data_ + i % slots * bytes, bytes);
        cudaGraph_t graph;
        CHECK(cudaStreamEndCapture(stream_, &graph));
        cudaGraphExec_t replayed;
        CHECK(cudaGraphInstantiate(&replayed, graph, 0));
        CHECK(cudaGraphLaunch(replayed, stream_));
        std::vector<float> milliseconds;
        for (int replay = 0; replay < kReplays; ++replay) {
            CHECK(cudaEventRecord(begin_, stream_));
            CHECK(cudaGraphLaunch(replayed, stream_));
            CHECK(cudaEventRecord(end_, stream_));
            CHECK(cudaEventSynchronize(end_));
            CHECK(cudaEventElapsedTime(&milliseconds.emplace_back(), begin_, end_));
        }
        CHECK(cudaGraphExecDestroy(replayed));
        CHECK(cudaGraphDestroy(graph));
        std::nth_element(milliseconds.begin(), milliseconds.begin() + kReplays / 2, milliseconds.end());
        return milliseconds[kReplays / 2] * 1e3 / launches;
    }

private:
    void enqueue(const Grid& grid, Launch launch, char* data, std::size_t bytes) {
        cudaLaunchAttribute dependent{};
        dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        dependent.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(grid.blocks);
        config.blockDim = dim3(grid.threads);
        config.dynamicSmemBytes = grid.shared_bytes;
        config.stream = stream_;
        config.attrs = &dependent;
        config.numAttrs = launch == Launch::plain ? 0 : 1;
        std::size_t count = grid.bulk ? bytes : bytes / sizeof(uint4);
        void* arguments[] = {&data, &count, &sink_};
        CHECK(cudaLaunchKernelExC(&config, grid.kernel, arguments));
    }

    char* data_ = nullptr;
    unsigned* sink_ = nullptr;
    cudaStream_t stream_{};
    cudaEvent_t begin_{}, end_{};
};

template <Launch kLaunch>
void print_fastest(Pool& pool, std::size_t bytes) {
    double fastest = 1e30;
    std::string name;
    for (const Grid& grid : grids<kLaunch>()) {
        const double us = pool.time(grid, kLaunch, bytes);
        if (us < fastest) fastest = us, name = grid.name;
    }
    std::printf(" | %7.2f us %5.2f TB/s (%s)", fastest, static_cast<double>(bytes) / fastest / 1e6, name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    // The weights of Llama-3 8B and 70B and DeepSeek-V3 in two bytes per element, and two sizes below them.
    std::vector<double> megabytes{4, 8.4, 16.8, 30.3, 33.6, 50.3, 75.5, 117.4, 167.8, 234.9, 469.8};
    if (argc > 1) megabytes.assign(argc - 1, 0);
    for (int i = 1; i < argc; ++i) {
        char* end = nullptr;
        megabytes[i - 1] = std::strtod(argv[i], &end);
        if (*end != '\0' || !(megabytes[i - 1] >= 0.001 && megabytes[i - 1] <= kPoolBytes / 2e6)) {
            std::fprintf(stderr, "error: %s is no size between 0.001 and %.0f MB\n", argv[i], kPoolBytes / 2e6);
            return 2;
        }
    }
    Pool pool;
    std::printf("      MB | plain launch | dependent, waits first | dependent, reads first\n");
    for (const double size : megabytes) {
        const std::size_t bytes = static_cast<std::size_t>(size * 1e6) / 128 * 128;
        std::printf("%8.1f", size);
        print_fastest<Launch::plain>(pool, bytes);
        print_fastest<Launch::waits_first>(pool, bytes);
        print_fastest<Launch::reads_first>(pool, bytes);
        std::printf("\n");
        std::fflush(stdout);
    }
    return 0;
}
