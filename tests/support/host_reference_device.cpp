#include "tests/support/host_reference_device.hpp"

#include "runtime/verify/reference_kernels.hpp"

#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

// ---- CUDA's words, for one block of host threads at a time ----------------------------------------------------------

namespace host_cuda {
namespace {

struct Index {
    unsigned x = 0;
};

struct uint4 {
    unsigned x, y, z, w;
};

thread_local Index threadIdx;
Index blockIdx;
Index blockDim;
Index gridDim;
std::unique_ptr<std::barrier<>>
    block_barrier;  // of the block that is running; null where threads run one after the other

void __syncthreads() {
    if (block_barrier) block_barrier->arrive_and_wait();
}

using AtomicWord = unsigned long long;
void atomicAdd(AtomicWord* target, AtomicWord value) { std::atomic_ref(*target).fetch_add(value); }

template <typename Better>
void atomic_replace(AtomicWord* target, AtomicWord value, Better better) {
    const std::atomic_ref word(*target);
    AtomicWord old = word.load();
    while (better(value, old) && !word.compare_exchange_weak(old, value)) {
    }
}
void atomicMin(AtomicWord* target, AtomicWord value) { atomic_replace(target, value, std::less<>()); }
void atomicMax(AtomicWord* target, AtomicWord value) { atomic_replace(target, value, std::greater<>()); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#define __global__
#define __device__
#define __forceinline__
#define __noinline__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#include "runtime/verify/reference_arithmetic.cuh"
#include "runtime/verify/reference_elements.cuh"
#include "runtime/verify/reference_kernels.cu"
#undef __global__
#undef __device__
#undef __forceinline__
#undef __noinline__
#undef __shared__
#undef __grid_constant__
#undef __launch_bounds__
#pragma GCC diagnostic pop

}  // namespace
}  // namespace host_cuda

namespace jitgemm::testing {
namespace {

using Bytes = std::vector<std::byte>;

struct HostKernel {
    std::function<void(const Bytes&)> run;  ///< what one thread does
    bool synchronizes = false;
};

template <typename Arguments>
HostKernel host_kernel(void (*kernel)(Arguments), bool synchronizes) {
    return {[kernel](const Bytes& bytes) {
                std::remove_const_t<Arguments> arguments;
                if (bytes.size() != sizeof arguments) throw std::logic_error("argument struct of another size");
                std::memcpy(&arguments, bytes.data(), sizeof arguments);
                kernel(arguments);
            },
            synchronizes};
}

const HostKernel& find_kernel(const std::string& name) {
    static const std::map<std::string, HostKernel> kernels = {
        {"reference_fill", host_kernel(host_cuda::reference_fill, false)},
        {"reference_compare", host_kernel(host_cuda::reference_compare, false)},
        {"reference_check_exact", host_kernel(host_cuda::reference_check_exact, true)},
        {"reference_check_bounded", host_kernel(host_cuda::reference_check_bounded, true)},
        {"reference_element", host_kernel(host_cuda::reference_element, true)},
        {"reference_guard", host_kernel(host_cuda::reference_guard, false)},
        {"reference_read", host_kernel(host_cuda::reference_read, false)},
    };
    return kernels.at(name);
}

void run_as_threads(const HostKernel& kernel, const Bytes& arguments, unsigned threads) {
    host_cuda::block_barrier = std::make_unique<std::barrier<>>(threads);
    std::vector<std::jthread> block;
    for (unsigned thread = 0; thread < threads; ++thread) {
        block.emplace_back([&, thread] {
            host_cuda::threadIdx.x = thread;
            kernel.run(arguments);
        });
    }
    block.clear();
    host_cuda::block_barrier.reset();
}

void run_block(const HostKernel& kernel, const Bytes& arguments, unsigned threads) {
    if (kernel.synchronizes) return run_as_threads(kernel, arguments, threads);
    for (unsigned thread = 0; thread < threads; ++thread) {
        host_cuda::threadIdx.x = thread;
        kernel.run(arguments);
    }
}

}  // namespace

void HostReferenceDevice::launch(const Function& function, const LaunchShape& shape,
                                 std::span<const std::byte> arguments, Stream stream) {
    FakeDevice::launch(function, shape, arguments, stream);
    const Launch& written = launches.back();
    host_cuda::gridDim.x = static_cast<unsigned>(shape.blocks);
    host_cuda::blockDim.x = static_cast<unsigned>(shape.threads);
    for (unsigned block = 0; block < host_cuda::gridDim.x; ++block) {
        host_cuda::blockIdx.x = block;
        run_block(find_kernel(written.function), written.arguments, host_cuda::blockDim.x);
    }
}

}  // namespace jitgemm::testing
