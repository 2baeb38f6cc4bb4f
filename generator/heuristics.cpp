#include "generator/heuristics.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/rejection_rules.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace jitgemm {
namespace {

bool serves(const Selection& selection, const Family& family, const Problem& problem) {
    if (selection.family) return *selection.family == family.name;
    return family.selected_by_default != nullptr && family.selected_by_default(problem);
}

bool has_parameters(const Family& family, const ParameterMap& parameters) {
    const std::vector<std::string_view> names = family.parameter_names();
    return std::ranges::all_of(parameters,
                               [&](const auto& named) { return std::ranges::find(names, named.first) != names.end(); });
}

/// The families to choose from: of those that serve the problem the ones that have what the selection fixes. Where none
/// has, all of them, so that the first one says what it has.
std::vector<const Family*> selected_families(const Selection& selection, const Problem& problem) {
    if (selection.family) static_cast<void>(find_family(*selection.family));  // throws for a name that is none
    std::vector<const Family*> serving;
    std::vector<const Family*> with_parameters;
    for (const Family& family : family_table()) {
        if (!serves(selection, family, problem)) continue;
        serving.push_back(&family);
        if (has_parameters(family, selection.parameters)) with_parameters.push_back(&family);
    }
    return with_parameters.empty() ? serving : with_parameters;
}

/// The one config of a forced kernel name; all reasons why it can't serve the problem.
KernelConfig forced_config(const std::string& name, const Problem& problem, const Arch& arch) {
    const KernelId id = parse_kernel_name(name);
    std::vector<std::string> reasons = family_of(id.config).violations(problem, id.config, arch);
    const KernelId fitting{problem.signature, id.config};
    if (id.signature != fitting.signature)
        reasons.insert(
            reasons.begin(),
            fmt::format("the kernel is for another problem; the same config for this one is {}", kernel_name(fitting)));
    if (!reasons.empty()) throw ConfigError(fmt::format("kernel {}", name), std::move(reasons));
    return id.config;
}

/// A family's candidates with the selection's parameters fixed, each once.
std::vector<KernelConfig> selected_candidates(const Family& family, const Problem& problem, const GpuModel& gpu,
                                              const Selection& selection) {
    std::vector<KernelConfig> candidates = family.candidates(problem, gpu);
    if (selection.parameters.empty()) return candidates;
    std::vector<KernelConfig> fixed;
    std::set<ParameterMap> seen;
    for (const KernelConfig& candidate : candidates) {
        const KernelConfig config = family.with_parameters(candidate, selection.parameters);
        if (seen.insert(family.parameters(config)).second) fixed.push_back(config);
    }
    return fixed;
}

/// Calls `visit(family, config)` for every candidate of every family that could serve the problem; returns why families
/// could not.
template <typename Visit>
std::vector<std::string> for_each_candidate(const std::vector<const Family*>& families, const Problem& problem,
                                            const GpuModel& gpu, const Selection& selection, Visit visit) {
    std::vector<std::string> unsupported;
    for (const Family* family : families) {
        std::vector<std::string> reasons = family->unsupported(problem, *gpu.arch);
        for (const std::string& reason : reasons)  // what no family does, each says
            if (std::ranges::find(unsupported, reason) == unsupported.end()) unsupported.push_back(reason);
        if (!reasons.empty()) continue;
        for (const KernelConfig& config : selected_candidates(*family, problem, gpu, selection)) visit(*family, config);
    }
    return unsupported;
}

/// Why the heuristic passes a candidate over. What the user fixed by parameter is allowed to be slow (the cost says how
/// slow); what the family proposes by itself is not.
std::vector<std::string> rejections(const Family& family, const Problem& problem, const KernelConfig& config,
                                    const Arch& arch, const Selection& selection) {
    std::vector<std::string> reasons = family.violations(problem, config, arch);
    return reasons.empty() && selection.parameters.empty() ? family.discouraged(problem, config) : reasons;
}

bool is_untimed(const KernelConfig& config) { return family_of(config).is_untimed(config); }

/// A guessed cost is none to choose by. Of equal cost, the parameters decide, so that the choice depends on nothing
/// else.
bool runs_before(const Candidate& left, const Candidate& right) {
    if (is_untimed(left.config) != is_untimed(right.config)) return is_untimed(right.config);
    if (left.cost.total_us != right.cost.total_us) return left.cost.total_us < right.cost.total_us;
    if (family_name(left.config) != family_name(right.config))
        return family_name(left.config) < family_name(right.config);
    return parameters_text(left.config) < parameters_text(right.config);
}

[[noreturn]] void throw_nothing_serves(const Problem& problem, const Selection& selection, const GpuModel& gpu) {
    std::vector<RejectedCandidate> rejected;
    std::vector<std::string> unsupported =
        for_each_candidate(selected_families(selection, problem), problem, gpu, selection,
                           [&](const Family& family, const KernelConfig& config) {
                               rejected.push_back({config, rejections(family, problem, config, *gpu.arch, selection)});
                           });
    // Why families that could serve it have no kernel is worth more than why others could not.
    std::vector<std::string> reasons = rejected.empty() ? std::move(unsupported) : reasons_in_common(rejected);
    if (reasons.empty()) reasons.emplace_back("no family that serves it has a kernel for these sizes");
    throw ConfigError("no kernel serves this problem", std::move(reasons));
}

}  // namespace

CandidateList list_candidates(const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    const Arch& arch = *gpu.arch;
    CandidateList list;
    if (selection.kernel) {
        const KernelConfig config = forced_config(*selection.kernel, problem, arch);
        list.accepted.push_back({config, family_of(config).cost(problem, config, gpu)});
        return list;
    }
    const auto add = [&](const Family& family, const KernelConfig& config) {
        std::vector<std::string> reasons = rejections(family, problem, config, arch, selection);
        if (reasons.empty())
            list.accepted.push_back({config, family.cost(problem, config, gpu)});
        else
            list.rejected.push_back({config, std::move(reasons)});
    };
    list.unsupported = for_each_candidate(selected_families(selection, problem), problem, gpu, selection, add);
    std::sort(list.accepted.begin(), list.accepted.end(), runs_before);
    return list;
}

std::vector<Candidate> near_candidates(const Problem& problem, const GpuModel& gpu, const Selection& selection,
                                       double slack) {
    if (selection.kernel) return list_candidates(problem, gpu, selection).accepted;
    const bool is_fixed = !selection.parameters.empty();  // its cost may be nothing to compute
    std::vector<Candidate> near;
    std::optional<double> best_us;  // of those whose time is no guess
    const auto add = [&](const Family& family, const KernelConfig& config) {
        const bool untimed = family.is_untimed(config);
        if (untimed && best_us) return;
        const auto is_rejected = [&] { return !rejections(family, problem, config, *gpu.arch, selection).empty(); };
        if (is_fixed && is_rejected()) return;
        const CostEstimate cost = family.cost(problem, config, gpu);
        if ((best_us && cost.total_us > *best_us * slack) || (!is_fixed && is_rejected())) return;
        near.push_back({config, cost});
        if (!untimed) best_us = std::min(best_us.value_or(cost.total_us), cost.total_us);
    };
    std::vector<const Family*> families = selected_families(selection, problem);
    std::ranges::reverse(families);  // the fastest first: few others then need checking
    for_each_candidate(families, problem, gpu, selection, add);
    if (near.empty()) throw_nothing_serves(problem, selection, gpu);
    std::ranges::sort(near, runs_before);
    std::erase_if(near, [&, first = near.front()](const Candidate& one) {
        return one.cost.total_us > first.cost.total_us * slack || is_untimed(one.config) != is_untimed(first.config);
    });
    return near;
}

KernelConfig choose_config(const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    const Arch& arch = *gpu.arch;
    if (selection.kernel) return forced_config(*selection.kernel, problem, arch);
    // The families of the newest hardware are the last of the table, and the fastest where they serve: with their best
    // at hand few candidates of others need checking.
    std::vector<const Family*> families = selected_families(selection, problem);
    std::ranges::reverse(families);
    // What the user fixed may be nothing that a cost can be computed of: zeros, products beyond 64 bits. Of what
    // families propose the cheap test comes first: most candidates are slower than the best so far, and need no
    // checking.
    const bool is_fixed = !selection.parameters.empty();
    std::optional<Candidate> best;
    for_each_candidate(families, problem, gpu, selection, [&](const Family& family, const KernelConfig& config) {
        if (best && is_untimed(config) && !is_untimed(best->config)) return;
        const auto is_rejected = [&] { return !rejections(family, problem, config, arch, selection).empty(); };
        if (is_fixed && is_rejected()) return;
        const Candidate candidate{config, family.cost(problem, config, gpu)};
        if (best && !runs_before(candidate, *best)) return;
        if (is_fixed || !is_rejected()) best = candidate;
    });
    if (!best) throw_nothing_serves(problem, selection, gpu);
    return best->config;
}

}  // namespace jitgemm
