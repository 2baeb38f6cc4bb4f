#include "generator/heuristics.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/rejection_rules.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

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

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;  // bounds and costs add up in different orders

using FamilyGroup = std::pair<const Family*, CandidateGroup<KernelConfig>>;

/// Those that may be fastest come first.
std::vector<FamilyGroup> groups_of(const std::vector<const Family*>& families, const Problem& problem,
                                   const GpuModel& gpu) {
    std::vector<FamilyGroup> groups;
    for (const Family* family : families) {
        if (!family->unsupported(problem, *gpu.arch).empty()) continue;
        for (CandidateGroup<KernelConfig>& group : family->groups(problem, gpu)) groups.emplace_back(family, group);
    }
    std::ranges::sort(groups, {}, [](const FamilyGroup& one) { return one.second.least_us; });
    return groups;
}

/// The candidates of a group, by their costs.
std::vector<Candidate> fast_candidates(const FamilyGroup& group, const Problem& problem, const GpuModel& gpu,
                                       double limit_us) {
    const Family& family = *group.first;
    std::vector<Candidate> fast;
    for (const KernelConfig& config : family.candidates_of(problem, group.second.tile, gpu, limit_us)) {
        const CostEstimate cost = family.cost(problem, config, gpu);
        if (cost.total_us <= limit_us) fast.push_back({config, cost});
    }
    std::ranges::sort(fast, {}, [](const Candidate& one) { return one.cost.total_us; });
    return fast;
}

/// Calls `take` for accepted candidates that `is_wanted`, among them all that take at most `limit_us()`, which may fall
/// meanwhile. Groups come by their bounds, the candidates of a group by their costs, and their rules are checked last:
/// few of them need it. What the selection fixes has no bounds, and may be nothing that a cost can be computed of
/// (zeros, products beyond 64 bits). There the rules come first.
template <typename IsWanted, typename Take, typename Limit>
void search(const Problem& problem, const GpuModel& gpu, const Selection& selection, IsWanted is_wanted, Take take,
            Limit limit_us) {
    const std::vector<const Family*> families = selected_families(selection, problem);
    const auto is_rejected = [&](const Family& family, const KernelConfig& config) {
        return !rejections(family, problem, config, *gpu.arch, selection).empty();
    };
    if (!selection.parameters.empty()) {
        const auto visit = [&](const Family& family, const KernelConfig& config) {
            if (is_rejected(family, config)) return;
            const Candidate candidate{config, family.cost(problem, config, gpu)};
            if (is_wanted(candidate)) take(candidate);
        };
        for_each_candidate(families, problem, gpu, selection, visit);
        return;
    }
    for (const FamilyGroup& group : groups_of(families, problem, gpu)) {
        const double limit = limit_us() * (1 + kRounding);
        if (group.second.least_us > limit) return;
        for (const Candidate& candidate : fast_candidates(group, problem, gpu, limit))
            if (is_wanted(candidate) && !is_rejected(*group.first, candidate.config)) take(candidate);
    }
}

[[noreturn]] void throw_nothing_serves(const Problem& problem, const Selection& selection, const GpuModel& gpu) {
    std::vector<std::string> reasons = reasons_for_none(list_candidates(problem, gpu, selection));
    if (reasons.empty() && selection.family)
        reasons.push_back(
            fmt::format("{} proposes none for these types and sizes on {}: give a whole name (--kernel) to have one",
                        *selection.family, gpu.arch->name));
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
    std::vector<Candidate> near;
    double limit_us = kNoLimit;  // set by those whose time is no guess
    const auto add = [&](const Candidate& candidate) {
        near.push_back(candidate);
        if (!is_untimed(candidate.config)) limit_us = std::min(limit_us, candidate.cost.total_us * slack);
    };
    const auto is_wanted = [&](const Candidate& one) {
        return one.cost.total_us <= limit_us && !(is_untimed(one.config) && limit_us != kNoLimit);
    };
    search(problem, gpu, selection, is_wanted, add, [&] { return limit_us; });
    if (near.empty()) throw_nothing_serves(problem, selection, gpu);
    std::ranges::sort(near, runs_before);
    std::erase_if(near, [&, first = near.front()](const Candidate& one) {
        return one.cost.total_us > first.cost.total_us * slack || is_untimed(one.config) != is_untimed(first.config);
    });
    return near;
}

KernelConfig choose_config(const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    if (selection.kernel) return forced_config(*selection.kernel, problem, *gpu.arch);
    std::optional<Candidate> best;
    search(
        problem, gpu, selection, [&](const Candidate& one) { return !best || runs_before(one, *best); },
        [&](const Candidate& one) { best = one; },
        [&] { return best && !is_untimed(best->config) ? best->cost.total_us : kNoLimit; });
    if (!best) throw_nothing_serves(problem, selection, gpu);
    return best->config;
}

std::optional<KernelConfig> quick_config(const Problem& problem, const GpuModel& gpu, double limit_us) {
    constexpr double kLaunches = 100;  // until the better kernel takes over
    const auto ms = [](const KernelConfig& config, double us) {
        return family_of(config).compile_ms(config) + kLaunches * us / 1000;
    };
    const auto least_ms = [&](const FamilyGroup& one) { return ms(one.second.tile, one.second.least_us); };
    std::vector<FamilyGroup> groups = groups_of(selected_families({}, problem), problem, gpu);
    std::erase_if(groups, [&](const FamilyGroup& one) { return one.second.least_us > limit_us; });
    std::ranges::sort(groups, {}, least_ms);
    std::optional<KernelConfig> quickest;
    double quickest_ms = kNoLimit;
    for (const FamilyGroup& group : groups) {
        if (least_ms(group) > quickest_ms) break;
        for (const auto& [config, cost] : fast_candidates(group, problem, gpu, limit_us)) {
            const double own_ms = ms(config, cost.total_us);
            if (own_ms >= quickest_ms || is_untimed(config)) continue;
            if (!rejections(*group.first, problem, config, *gpu.arch, {}).empty()) continue;
            quickest = config;
            quickest_ms = own_ms;
        }
    }
    return quickest;
}

}  // namespace jitgemm
