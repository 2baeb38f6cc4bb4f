#pragma once

#include "generator/base/problem.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "runtime/tuning/store/tuned_sets.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jitgemm::warm {

/// A problem that is to be served later, or a range: the same problem for each m from spec.m to last_m.
struct WarmRequest {
    GemmSpec spec;
    std::int64_t last_m = 0;
    bool is_range = false;  ///< also of a single m
};

/// A kernel that serves some of the problems. Its body hangs on no size, so one of them stands for all.
struct WarmKernel {
    std::string name;
    Problem problem;
    KernelConfig config;
};

/// A request that no kernel serves.
struct UnservedRequest {
    WarmRequest request;
    std::string reason;
};

struct WarmPlan {
    std::vector<WarmKernel> kernels;  ///< each once, in the order of the requests
    std::vector<UnservedRequest> unserved;
    std::int64_t problems = 0;
};

/// The choices that later requests on that GPU get.
struct WarmChooser {
    GpuModel gpu;
    tuning::TunedChoices choices;
    tuning::TunedSets sets;
    Selection selection;
};

/// The kernels that later requests will ask for, each once: of a range, the kernel set that serves it. `stopped` ends
/// the work early: then the plan is not whole.
[[nodiscard]] WarmPlan plan_warm(const std::vector<WarmRequest>& requests, const WarmChooser& chooser, int threads,
                                 const std::function<bool()>& stopped);

}  // namespace jitgemm::warm
