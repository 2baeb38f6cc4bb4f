#include "runtime/tuning/workers/timing_bench.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::tuning {
namespace {

constexpr int kScreeningRounds = 3;

TimingOptions timing_options(const TimeJob& job) {
    TimingOptions options;
    options.protocol = job.protocol;
    options.hot = job.hot;
    options.seed = job.seed;
    options.alpha = job.alpha;
    options.beta = job.beta;
    options.group_sizes = job.group_sizes;
    return options;
}

/// One way of the peer, and its median time.
struct Screened {
    std::size_t number = 0;  ///< of the candidate, as timed
    const BenchCandidate* candidate = nullptr;
    double median_us = 0;
};

std::vector<Screened> screen(PreparedTiming& timing, const std::vector<BenchCandidate>& candidates) {
    std::vector<Screened> screened;
    for (const BenchCandidate& candidate : candidates) screened.push_back({timing.add(candidate), &candidate, 0});
    std::vector<std::vector<double>> times(candidates.size());
    for (int round = 0; round < kScreeningRounds; ++round) {
        for (const std::size_t i : turns_of_round(round, candidates.size()))
            times[i].push_back(timing.microseconds(screened[i].number));
    }
    for (std::size_t i = 0; i < screened.size(); ++i) {
        std::ranges::sort(times[i]);
        screened[i].median_us = times[i][kScreeningRounds / 2];
    }
    std::ranges::sort(screened, {}, [](const Screened& one) { return std::pair(one.median_us, one.number); });
    return screened;
}

}  // namespace

TimingBench::TimingBench(ContextState& context, const TimeJob& job)
    : context_(context), job_(job), timing_(context, job.spec, timing_options(job)) {}

bool TimingBench::serves(const TimeJob& job) const {
    return job.spec == job_.spec && job.protocol == job_.protocol && job.hot == job_.hot && job.seed == job_.seed &&
           job.alpha == job_.alpha && job.beta == job_.beta && job.group_sizes == job_.group_sizes;
}

void TimingBench::add(const std::string& kernel) {
    if (numbers_.contains(kernel)) return;
    if (kernel == kCublasLt) {
        numbers_[kernel] = add_best_of_cublaslt();
        return;
    }
    const Problem problem = problem_of(job_.spec);
    const GemmKernel made = context_.build(problem, config_of_kernel(problem, kernel));
    numbers_[kernel] = timing_.add(candidate_of(made.info().name, made));
}

/// The fastest of its algorithms whose result is right; the others are dropped.
std::size_t TimingBench::add_best_of_cublaslt() {
    std::string reason;
    const std::unique_ptr<Peer> peer = open_peer(std::string(kCublasLt), context_);
    const std::vector<BenchCandidate> candidates = peer->candidates(job_.spec, reason);
    if (candidates.empty()) throw Error(reason.empty() ? "cuBLASLt does not serve this problem" : reason);
    std::optional<std::size_t> best;
    for (const Screened& way : screen(timing_, candidates)) {
        const VerifyOptions options{.alpha = job_.alpha, .beta = job_.beta};
        if (!best && verify_candidate(context_, job_.spec, *way.candidate, options).ok)
            best = way.number;
        else
            timing_.drop(way.number);
    }
    if (!best) throw Error("no algorithm of cuBLASLt computes a correct result");
    return *best;
}

void TimingBench::keep_only(const std::vector<std::string>& kernels) {
    std::erase_if(numbers_, [&](const auto& known) {
        const bool leaves = std::ranges::find(kernels, known.first) == kernels.end();
        if (leaves) timing_.drop(known.second);
        return leaves;
    });
}

double TimingBench::microseconds(const std::string& kernel) { return timing_.microseconds(numbers_.at(kernel)); }

double TimingBench::sustained_microseconds(const std::string& kernel) {
    return timing_.sustained_microseconds(numbers_.at(kernel));
}

}  // namespace jitgemm::tuning
