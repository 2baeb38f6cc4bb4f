#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/options.hpp"
#include "runtime/warm/warm_plan.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace jitgemm::warm {

struct WarmOptions {
    std::vector<std::string> program;  ///< of the processes that compile, and the words before `worker`
    Options options;                   ///< its cache takes the kernels
    const Arch* arch = nullptr;
    int newest_cuda_major = 0;          ///< largest CUDA major whose binaries the GPU's driver takes; 0: any
    int jobs = 0;                       ///< processes that compile; 0: one per core this process may use
    std::chrono::seconds timeout{120};  ///< of one compile
};

struct FailedKernel {
    std::string name;
    std::string message;
};

/// How far it is, and in the end what was done.
struct WarmProgress {
    int kernels = 0;
    int compiled = 0;
    int from_cache = 0;
    std::vector<FailedKernel> failed;
    [[nodiscard]] int done() const { return compiled + from_cache + static_cast<int>(failed.size()); }
};

/// Sees to it that the cache has every kernel. What it has is left as it is; the rest is compiled in processes, which
/// start with the first kernel that is missing. Several of these, in one process or in many, compile each kernel once.
/// Throws Error with the reason where a kernel can't be kept, and for no NVRTC; kernels kept before stay. A kernel that
/// the compiler refuses is in `failed`. `on_progress` is called after each kernel, from one thread at a time.
[[nodiscard]] WarmProgress warm_cache(const std::vector<WarmKernel>& kernels, const WarmOptions& options,
                                      const std::function<void(const WarmProgress&)>& on_progress,
                                      const std::function<bool()>& stopped);

}  // namespace jitgemm::warm
