#include "runtime/bench/benchmark.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "jitgemm/error.hpp"
#include "runtime/bench/prepared_timing.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/verify/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace jitgemm {
namespace {

constexpr double kNormalInputsLimit =
    0x1p38;  // multiply-adds up to which a candidate is checked on normal inputs as well

/// Nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double part) {
    const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double median(const std::vector<double>& sorted) {
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<Timing> summaries(std::vector<std::vector<double>> rounds) {
    std::vector<Timing> timings;
    for (std::vector<double>& times : rounds) {
        std::vector<double> sorted = times;
        std::ranges::sort(sorted);
        timings.push_back({median(sorted), percentile(sorted, 0.1), percentile(sorted, 0.9), std::move(times)});
    }
    return timings;
}

// ---- candidates -----------------------------------------------------------------------------------------------------

Verification verify_inputs(ContextState& context, const GemmSpec& spec, const BenchCandidate& candidate,
                           const TrialInputs& trial) {
    const auto& [kind, seed, alpha, beta] = trial;
    const GuardedProblem problem(context, spec, kind, seed, alpha, beta, Placement::generous);
    if (candidate.prepare) candidate.prepare(problem.arguments());
    candidate.launch(problem.arguments(), nullptr);
    context.device->synchronize(nullptr);
    return problem.check();
}

/// A peer's calls name their scalars once: no others are tried.
std::vector<TrialInputs> trials_of(const GemmSpec& spec, const VerifyOptions& options) {
    TrialBudget budget = gpu_budget(spec);
    budget.scalars = 0;
    std::vector<TrialInputs> trials = integer_trials(spec, options, budget);
    if (flops(spec) / 2 <= kNormalInputsLimit) trials.push_back(normal_trial(options));
    return trials;
}

}  // namespace

BenchCandidate candidate_of(std::string name, const GemmKernel& kernel) {
    const auto launch = std::make_shared<PreparingLaunch>(kernel);
    BenchCandidate candidate{
        .name = std::move(name),
        .launch = [launch](const GemmArguments& arguments, Stream stream) { launch->launch(arguments, stream); }};
    if (kernel.spec().prepared != Prepared::none)
        candidate.prepare = [launch](const GemmArguments& arguments) { launch->prepare(arguments); };
    return candidate;
}

Verification verify_candidate(ContextState& context, const GemmSpec& asked, const BenchCandidate& candidate,
                              const VerifyOptions& options) {
    const ScopedContext current(cuda_context(*context.device));
    GemmSpec spec = asked;
    if (!candidate.judged_by.empty()) spec.epilogue = candidate.judged_by;
    try {
        Verification verdict;
        for (const TrialInputs& trial : trials_of(spec, options)) {
            verdict = verify_inputs(context, spec, candidate, trial);
            if (!verdict.ok) break;
        }
        return verdict;
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        Verification verdict;
        verdict.message = error.what();
        return verdict;
    }
}

std::vector<Timing> time_candidates(ContextState& context, const GemmSpec& spec,
                                    const std::vector<BenchCandidate>& candidates, const TimingOptions& options) {
    if (options.rounds < 1) throw Error(fmt::format("rounds is {}: it must be at least 1", options.rounds));
    PreparedTiming timing(context, spec, options);
    std::vector<std::size_t> prepared;
    for (const BenchCandidate& candidate : candidates) prepared.push_back(timing.add(candidate));
    std::vector<std::vector<double>> times(candidates.size());
    for (int round = 0; round < options.rounds; ++round) {
        for (const std::size_t turn : turns_of_round(round, candidates.size()))
            times[turn].push_back(timing.microseconds(prepared[turn]));
    }
    return summaries(std::move(times));
}

std::vector<std::size_t> turns_of_round(int round, std::size_t candidates) {
    std::vector<std::size_t> turns(candidates);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    if (round % 2 != 0) std::ranges::reverse(turns);
    return turns;
}

namespace {

/// Peers take a B. That of a symmetric product is A's memory.
std::vector<BenchCandidate> with_b(const GemmSpec& spec, std::vector<BenchCandidate> candidates) {
    for (BenchCandidate& one : candidates)
        if (spec.symmetric)
            one.launch = [launch = std::move(one.launch)](GemmArguments arguments, Stream stream) {
                arguments.b = arguments.a;
                launch(arguments, stream);
            };
    return candidates;
}

}  // namespace

std::vector<BenchCandidate> Peer::candidates(const GemmSpec& spec, std::string& reason) {
    GemmSpec told = spec;
    told.deterministic = Determinism::run_to_run;  // ours to keep: a peer is what one would have without it
    told.constant_a = told.constant_b = false;     // a promise that it may leave unused
    told.prepared = Prepared::none;                // it reads operands as they lie
    if (told.math == Math::tf32) told.a = told.b = DataType::tf32;
    told.math = Math::ieee;  // otherwise f32 operands are f32 to it
    told.symmetric = false;  // the full product, whose B is A's memory
    GemmSpec plain = told;
    if (takes_row_of_c()) plain.broadcast_c = false;
    if (takes_epilogue()) plain.epilogue = {};
    if (takes_sums()) plain.sums = Summation::usual;
    if (takes_batch()) {
        plain.batch = 1;
        plain.outer = {};
        plain.batch_stride_a = plain.batch_stride_b = plain.batch_stride_c = plain.batch_stride_d = kPackedBatch;
    }
    const std::string untold = later_formats_text(plain);
    if (untold.empty()) return with_b(spec, candidates_of_one(told, reason));
    reason = fmt::format("{} computes only plain problems, without{}", name(), untold);
    return {};
}

}  // namespace jitgemm
