#include "generator/explain.hpp"

#include "generator/base/spread_blocks.hpp"
#include "generator/families/shared/expected_problem.hpp"
#include "generator/rejection_rules.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace jitgemm {
namespace {

/// Parameters that make no other kernel worth showing beside one that has them all but these.
constexpr std::array<std::string_view, 6> kTrifles{"double_buffer", "group",         "ldsm_a",
                                                   "ldsm_b",        "rasterization", "stages"};

bool is_trifle(std::string_view name) { return std::ranges::find(kTrifles, name) != kTrifles.end(); }

std::vector<ParameterDifference> differences(const KernelConfig& config, const KernelConfig& chosen) {
    const ParameterMap reference = parameters_of(chosen);
    std::vector<ParameterDifference> found;
    if (family_name(config) != family_name(chosen))
        found.push_back({"family", std::string(family_name(config)), std::string(family_name(chosen))});
    for (const auto& [name, value] : parameters_of(config)) {
        const auto other = reference.find(name);
        const std::string chosen_value = other == reference.end() ? "" : other->second;
        if (value != chosen_value) found.push_back({name, value, chosen_value});
    }
    return found;
}

bool is_distinct(const KernelConfig& left, const KernelConfig& right) {
    return std::ranges::any_of(differences(left, right),
                               [](const ParameterDifference& difference) { return !is_trifle(difference.name); });
}

std::vector<Alternative> runners_up(const std::vector<Candidate>& candidates, const KernelConfig& chosen) {
    std::vector<Alternative> found;
    for (const Candidate& candidate : candidates) {
        if (found.size() == kRunnersUp) break;
        const auto resembles = [&](const Alternative& other) { return !is_distinct(candidate.config, other.config); };
        if (!is_distinct(candidate.config, chosen) || std::ranges::any_of(found, resembles)) continue;
        found.push_back({candidate.config, candidate.cost, differences(candidate.config, chosen)});
    }
    return found;
}

std::vector<RejectionGroup> grouped(const std::vector<RejectedCandidate>& rejected, const KernelConfig& chosen) {
    std::map<std::string, RejectionGroup> groups;
    for (const auto& [config, reasons] : rejected) {
        for (const std::string& reason : reasons) {
            RejectionGroup& group = groups[rule_of(reason)];
            if (group.count++ == 0) {
                group.example = config;
                group.reason = reason;
                group.differs = differences(config, chosen);
            }
        }
    }
    std::vector<RejectionGroup> sorted;
    for (auto& [rule, group] : groups) sorted.push_back(std::move(group));
    std::ranges::sort(sorted, [](const RejectionGroup& left, const RejectionGroup& right) {
        return std::tie(right.count, left.reason) < std::tie(left.count, right.reason);
    });
    return sorted;
}

[[noreturn]] void throw_nothing_serves(const CandidateList& list) {
    std::vector<std::string> reasons = reasons_for_none(list);
    if (reasons.empty()) reasons.emplace_back("no family proposes one: give a whole name (--kernel) to have one");
    throw ConfigError("no kernel serves this problem", std::move(reasons));
}

/// Adds the candidates of the choice, and the kernel that would be chosen without the selection.
void explain_choice(Explanation& explanation, const Selection& selection) {
    const CandidateList free = list_candidates(explanation.problem, explanation.gpu);
    const bool restricted = selection.family || !selection.parameters.empty();
    CandidateList list = restricted ? list_candidates(explanation.problem, explanation.gpu, selection) : free;
    explanation.accepted_count = list.accepted.size();
    explanation.untimed_count = static_cast<std::size_t>(std::ranges::count_if(
        list.accepted, [](const Candidate& one) { return family_of(one.config).is_untimed(one.config); }));
    explanation.rejected_count = list.rejected.size();
    explanation.forced = selection.kernel.has_value();
    if (explanation.forced) {
        const Candidate forced = list_candidates(explanation.problem, explanation.gpu, selection).accepted.front();
        list.accepted.insert(list.accepted.begin(), forced);
    }
    if (list.accepted.empty()) throw_nothing_serves(list);
    explanation.config = list.accepted.front().config;
    explanation.cost = list.accepted.front().cost;
    explanation.runners_up = runners_up(list.accepted, explanation.config);
    explanation.rejections = grouped(list.rejected, explanation.config);
    explanation.unsupported = std::move(list.unsupported);
    if (free.accepted.empty() || free.accepted.front().config == explanation.config) return;
    const auto& [config, cost] = free.accepted.front();
    explanation.free_choice = Alternative{config, cost, differences(config, explanation.config)};
}

/// Of the entry that multiplies; others pack operands or add partial sums.
KernelEntry main_entry(const Explanation& explanation) {
    for (const KernelEntry& entry :
         family_of(explanation.config).entries(explanation.problem.signature, explanation.config))
        if (entry.function == kMultiplyingFunction) return entry;
    KernelEntry entry;
    entry.grid = {explanation.anatomy.block.m, explanation.anatomy.block.n, explanation.anatomy.split_k};
    return entry;
}

void place_blocks(Explanation& explanation, int registers) {
    KernelAnatomy& anatomy = explanation.anatomy;
    KernelEntry entry = main_entry(explanation);
    const GpuModel& gpu = explanation.gpu;
    const GemmSpec& row_major = explanation.problem.row_major();
    const std::int64_t used = anatomy.shared_bytes - anatomy.pad_bytes;
    entry.shared_bytes = static_cast<int>(used);
    anatomy.shared_bytes = launched_shared_bytes(entry, blocks_of_batch(entry.grid, row_major), gpu);
    anatomy.pad_bytes = anatomy.shared_bytes - used;
    explanation.occupancy = occupancy(
        {.threads = anatomy.threads(), .registers = registers, .shared_bytes = anatomy.shared_bytes}, *gpu.arch);
    const Problem seen = has_groups(row_major) ? expected_problem(explanation.problem) : explanation.problem;
    const std::int64_t blocks = blocks_of_batch(entry.grid, seen.row_major());
    explanation.waves = wave_breakdown(blocks, explanation.occupancy.blocks(), gpu.sm_count);
}

}  // namespace

WaveBreakdown wave_breakdown(std::int64_t blocks, int blocks_per_sm, int sm_count) {
    WaveBreakdown waves{.blocks = blocks, .blocks_per_sm = blocks_per_sm};
    waves.slots = std::int64_t{blocks_per_sm} * sm_count;
    if (blocks == 0 || waves.slots == 0) return waves;
    waves.waves = static_cast<double>(blocks) / static_cast<double>(waves.slots);
    waves.full_waves = blocks / waves.slots;
    waves.last_blocks = blocks % waves.slots;
    const bool leaves_sms = waves.last_blocks > 0 && waves.last_blocks < sm_count;
    waves.idle_sms = leaves_sms ? sm_count - static_cast<int>(waves.last_blocks) : 0;
    waves.efficiency = waves.waves / std::ceil(waves.waves);
    return waves;
}

std::string_view to_string(Bound bound, MathUnit unit) {
    const std::array<std::string_view, 7> names{to_string(unit), "shared memory", "L1",    "L2",
                                                "DRAM",          "latency",       "launch"};
    return names[static_cast<std::size_t>(bound)];
}

Bound bound_of(const CostEstimate& cost) {
    if (2 * cost.overhead_us >= cost.total_us) return Bound::launch;
    const std::array<std::pair<double, Bound>, 5> units{{{cost.math_unit_us, Bound::math_unit},
                                                         {cost.shared_us, Bound::shared_memory},
                                                         {cost.l1_us, Bound::l1},
                                                         {cost.l2_us, Bound::l2},
                                                         {cost.dram_us, Bound::dram}}};
    const auto [busy_us, unit] = *std::ranges::max_element(units, {}, &std::pair<double, Bound>::first);
    return cost.total_us - cost.overhead_us > 2 * busy_us ? Bound::latency : unit;
}

Explanation explain(const Problem& problem, const GpuModel& gpu, const Selection& selection) {
    Explanation explanation;
    explanation.problem = problem;
    explanation.gpu = gpu;
    explain_choice(explanation, selection);
    explanation.roofline = roofline(problem.row_major(), gpu, family_of(explanation.config).math_instruction);
    explanation.bound = bound_of(explanation.cost);
    explanation.epilogue = epilogue_cost(problem, explanation.config, gpu);
    const double seconds = explanation.cost.total_us * 1e-6;
    const double rate = seconds > 0 ? explanation.roofline.flops / seconds : 0;
    explanation.share_of_peak = rate / explanation.roofline.peak_flops;
    const double attainable = explanation.roofline.attainable_flops;
    explanation.share_of_attainable = attainable > 0 ? rate / attainable : 0;
    explanation.anatomy = family_of(explanation.config).anatomy(problem, explanation.config);
    place_blocks(explanation, std::min(explanation.anatomy.registers(), gpu.arch->max_registers_per_thread));
    return explanation;
}

Explanation with_registers(Explanation explanation, MeasuredRegisters measured) {
    place_blocks(explanation, measured.registers);
    explanation.measured = std::move(measured);
    return explanation;
}

}  // namespace jitgemm
