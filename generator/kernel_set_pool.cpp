#include "generator/kernel_set_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitgemm {
namespace {

constexpr double kNearSlack = 1.06;    // candidates of a sample take at most this many times its best time
constexpr double kSteadySlack = 1.2;   // the same, if all of these use stream-K
constexpr std::size_t kMostNear = 48;  // candidates of a sample
constexpr double kLeastWorth = 0.5;    // a kernel of less serves a sample as badly as none
constexpr double kNever = std::numeric_limits<double>::infinity();

/// One or two values of each step of sampled_rows(): with several classes, of another class each time.
std::vector<std::int64_t> with_classes(const KernelSetRequest& request, const std::vector<std::int64_t>& rows) {
    std::vector<std::int64_t> samples;
    std::size_t turn = 0;
    for (const std::int64_t m : rows) {
        if (m < request.first_m || m > request.last_m) continue;
        samples.push_back(m);
        const std::int64_t other = request.classes[turn++ % request.classes.size()].at_or_after(m);
        if (other <= request.last_m) samples.push_back(other);
    }
    std::ranges::sort(samples);
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    return samples;
}

/// The name without what a launch alone decides: how many blocks share the k-tiles that are streamed.
std::string body_name(const KernelId& id) {
    constexpr const char* kOfLaunch = "stream_k";
    const ParameterMap parameters = parameters_of(id.config);
    const auto blocks = parameters.find(kOfLaunch);
    if (blocks == parameters.end() || blocks->second == "0") return kernel_name(id);
    return kernel_name({id.signature, with_parameters(id.config, {{kOfLaunch, "1"}})});
}

bool is_streamed(const Problem& problem, const KernelConfig& config) {
    return family_of(config).anatomy(problem, config).stream_k_blocks != 0;
}

}  // namespace

bool is_valid(const SetKernel& kernel, const Problem& problem, const Arch& arch) {
    return problem.signature == kernel.id.signature &&
           family_of(kernel.id.config).violations(problem, kernel.id.config, arch).empty();
}

// A family proposes stream-K for values of m whose tiles don't come out even. At others the predicted time is wrong by
// up to a half, so kernels with stream-K only come in where no other is near.
std::vector<Candidate> near_steady_candidates(const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    std::vector<Candidate> near;
    for (const double slack : {kNearSlack, kSteadySlack}) {
        near = near_candidates(problem, gpu, selection, slack);
        std::vector<Candidate> steady = near;
        std::erase_if(steady, [&](const Candidate& one) { return is_streamed(problem, one.config); });
        if (!steady.empty()) return steady;
    }
    return near;
}

ProblemsOfRow::ProblemsOfRow(const std::vector<SetKernel>& kernels, const GemmSpec& aligned, std::int64_t m) {
    for (const SetKernel& kernel : kernels) {
        const bool is_known = std::ranges::any_of(problems_, [&](const auto& one) { return one.first == kernel.spec; });
        if (!is_known && is_aligned_for(kernel.spec, aligned))
            problems_.emplace_back(kernel.spec, problem_at(kernel.spec, m));
    }
}

const Problem* ProblemsOfRow::of(const SetKernel& kernel) const {
    const auto found = std::ranges::find(problems_, kernel.spec, &std::pair<GemmSpec, Problem>::first);
    return found == problems_.end() || found->second.signature != kernel.id.signature ? nullptr : &found->second;
}

KernelPool::KernelPool(const KernelSetRequest& request) : request_(request) {
    std::vector<std::int64_t> rows = sampled_rows(request.first_m, request.last_m);
    rows.insert(rows.end(), request.options.samples.begin(), request.options.samples.end());
    for (const KernelTime& time : request.options.times) rows.push_back(time.m);
    for (const std::int64_t m : with_classes(request, rows)) add_sample(m);
    for (const KernelTime& time : request.options.times) add_measured(time);
    worth_.assign(bodies_.size(), std::vector<double>(samples_.size(), 0));
    best_.assign(bodies_.size(), std::vector<std::size_t>(samples_.size(), 0));
    for (std::size_t i = 0; i < samples_.size(); ++i) compare_at(i);
}

void KernelPool::add_sample(std::int64_t m) {
    const GemmSpec aligned = aligned_at(request_.spec, m);
    const Problem problem = problem_at(aligned, m);
    const Candidate best = near_candidates(problem, request_.gpu, request_.selection, 1).front();
    const RowSample& sample = samples_.emplace_back(RowSample{m, aligned, best.config});
    std::vector<Candidate> near = near_steady_candidates(problem, request_.gpu, request_.selection);
    if (near.size() > kMostNear) near.resize(kMostNear);
    for (const Candidate& one : near) add(sample.aligned, problem, one.config);
    ask_for_better(problem, sample, best);
}

void KernelPool::ask_for_better(const Problem& problem, const RowSample& sample, const Candidate& best) {
    if (!request_.options.better) return;
    const std::optional<BetterChoice> better = request_.options.better(problem, best.config);
    if (!better || better->config == best.config) return;
    add(sample.aligned, problem, better->config);
    const double predicted = family_of(better->config).cost(problem, better->config, request_.gpu).total_us;
    measured_.add(sample.m, best.config, 1);
    measured_.add(sample.m, better->config, best.cost.total_us / better->gain / predicted);
}

void KernelPool::add_measured(const KernelTime& time) {
    if (std::isinf(time.us)) return measured_.refuse(time.config);
    if (time.m < request_.first_m || time.m > request_.last_m) return;
    const GemmSpec aligned = aligned_at(request_.spec, time.m);
    const Problem problem = problem_at(aligned, time.m);
    if (!is_valid({{problem.signature, time.config}, aligned}, problem, *request_.gpu.arch)) return;
    add(aligned, problem, time.config);
    measured_.add(time.m, time.config,
                  time.us / family_of(time.config).cost(problem, time.config, request_.gpu).total_us);
}

void KernelPool::add(const GemmSpec& aligned, const Problem& problem, const KernelConfig& config) {
    SetKernel kernel{{problem.signature, config}, aligned};
    // The name has all but C's alignment, which the signature has with D's.
    const std::string name = fmt::format("{} {}", kernel_name(kernel.id), aligned.align_c);
    if (!by_name_.emplace(name, kernels_.size()).second) return;
    kernel.body = bodies_.emplace(body_name(kernel.id), bodies_.size()).first->second;
    kernels_.push_back(kernel);
}

double KernelPool::time_us(const Problem& problem, std::int64_t m, const KernelConfig& config) const {
    return family_of(config).cost(problem, config, request_.gpu).total_us * measured_.factor(m, config);
}

std::vector<double> KernelPool::times_at(const ProblemsOfRow& problems, std::int64_t m) const {
    std::vector<double> times;
    times.reserve(kernels_.size());
    for (const SetKernel& kernel : kernels_) {
        const Problem* const problem = problems.of(kernel);
        times.push_back(problem == nullptr ? kNever : time_us(*problem, m, kernel.id.config));
    }
    return times;
}

/// In the order of time, so that few kernels' rules are checked: a body's first valid kernel is its best.
void KernelPool::compare_at(std::size_t sample) {
    RowSample& at = samples_[sample];
    const ProblemsOfRow problems(kernels_, at.aligned, at.m);
    const std::vector<double> times = times_at(problems, at.m);
    std::vector<std::size_t> order(times.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(times[i], i); });
    at.best_us = time_us(problem_at(at.aligned, at.m), at.m, at.choice);
    for (const std::size_t i : order) {
        double& worth = worth_[kernels_[i].body][sample];
        if (times[i] == kNever || times[i] * kLeastWorth > at.best_us) return;
        if (worth > 0 || !is_valid(kernels_[i], *problems.of(kernels_[i]), *request_.gpu.arch)) continue;
        at.best_us = std::min(at.best_us, times[i]);
        worth = at.best_us / times[i];
        best_[kernels_[i].body][sample] = i;
    }
}

std::vector<SetKernel> KernelPool::cover(const CoverLimits& limits) const {
    const Cover chosen = choose_cover(worth_, limits);
    std::vector<std::size_t> servers;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        const std::size_t body =
            *std::ranges::max_element(chosen.chosen, {}, [&](std::size_t one) { return worth_[one][i]; });
        if (worth_[body][i] > 0) servers.push_back(best_[body][i]);
    }
    std::ranges::sort(servers);
    servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
    std::vector<SetKernel> kernels;
    for (const std::size_t place : servers) kernels.push_back(kernels_[place]);
    return kernels;
}

}  // namespace jitgemm
