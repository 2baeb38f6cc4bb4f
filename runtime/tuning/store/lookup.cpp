#include "runtime/tuning/store/lookup.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/device_facts.hpp"
#include "runtime/tuning/store/lookup_reasons.hpp"
#include "runtime/tuning/store/nearness.hpp"
#include "runtime/tuning/store/winner_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace jitgemm::tuning {
namespace {

double predicted_us(const Problem& problem, const KernelConfig& config, const GpuModel& gpu) {
    return family_of(config).cost(problem, config, gpu).total_us;
}

/// Why the kernel cannot compute this problem on this device today.
std::vector<std::string> misfits(const KernelId& id, const Problem& problem, const Arch& arch) {
    if (id.signature != problem.signature) return {"it is for other types, another layout or alignment"};
    const Family& family = family_of(id.config);
    std::vector<std::string> reasons = family.unsupported(problem, arch);
    const std::vector<std::string> violations = family.violations(problem, id.config, arch);
    reasons.insert(reasons.end(), violations.begin(), violations.end());
    return reasons;
}

/// The same of a winner's, whose name may be none of today's.
std::vector<std::string> misfits(const KnownWinner& winner, const Problem& problem, const Arch& arch) {
    if (winner.kernel) return misfits(*winner.kernel, problem, arch);
    return {winner.unknown_kernel};
}

/// The config of a near problem's winner where it can compute this one, which nobody promised.
std::optional<KernelConfig> fitting_config(const KnownWinner& neighbour, const Problem& problem, const Arch& arch) {
    if (!misfits(neighbour, problem, arch).empty()) return std::nullopt;
    return neighbour.kernel->config;
}

/// The config of the problem's own winner, which did compute it: where it no longer can, a line in the log says why.
std::optional<KernelConfig> sound_config(const KnownWinner& own, const Problem& problem, const Arch& arch) {
    const std::vector<std::string> reasons = misfits(own, problem, arch);
    if (reasons.empty()) return own.kernel->config;
    log().warn("the tuned kernel {} is not used for {}: {}", own.record.kernel, sizes_of(problem.row_major()),
               fmt::join(reasons, "; "));
    return std::nullopt;
}

/// Whether the caller's wishes leave this config open.
bool satisfies(const KernelConfig& config, const Selection& selection) {
    if (selection.family && *selection.family != family_name(config)) return false;
    if (selection.parameters.empty()) return true;
    try {
        return parameters_of(with_parameters(config, selection.parameters)) == parameters_of(config);
    } catch (const ConfigError&) {  // the parameters of another family
        return false;
    }
}

bool is_steady(const Winner& winner) { return winner.protocol == Protocol::steady && !winner.hot; }

/// Its own sweep measured the heuristic's kernel, and that was faster.
bool lost_to_heuristic(const Winner& winner) { return winner.heuristic_us > 0 && winner.low_us > winner.heuristic_us; }

/// Its own sweep measured the heuristic's kernel, and it was faster beyond doubt.
bool beat_heuristic(const Winner& winner) { return winner.high_us > 0 && winner.high_us < winner.heuristic_us; }

/// The search ended and covered all that the request allows. A winner that lost to the heuristic's kernel counts only
/// for requests that exclude that kernel.
bool is_searched_through(const Winner& winner, const Selection& selection) {
    if (!winner.complete || !is_steady(winner)) return false;
    if (winner.narrowed.empty()) return !lost_to_heuristic(winner);
    return winner.narrowed == narrowing(selection);
}

/// The model is only asked of kernels that pass all rules: what a file names may have tiles that no arithmetic holds.
bool fits(const KernelConfig& config, const Problem& problem, const GpuModel& gpu) {
    return misfits({problem.signature, config}, problem, *gpu.arch).empty();
}

/// By how much the model thinks worse of the winner than of the heuristic's kernel on the problem where it won.
double model_error(const KnownWinner& winner, const KernelConfig& config, const GpuModel& gpu) {
    const auto& [record, problem, kernel, heuristic, unknown] = winner;
    if (!heuristic || !fits(config, problem, gpu) || !misfits(*heuristic, problem, *gpu.arch).empty()) return 1.0;
    const double ratio = predicted_us(problem, config, gpu) / predicted_us(problem, heuristic->config, gpu);
    return std::isfinite(ratio) ? std::max(1.0, ratio) : 1.0;
}

/// Two kernels whose block tiles hold as many elements cover D alike: what one gains over the other hangs on no size.
bool cover_alike(const KernelConfig& left, const KernelConfig& right, const Problem& problem) {
    if (family_name(left) != family_name(right)) return false;
    const auto tile_elements = [&](const KernelConfig& config) {
        const TileShape block = family_of(config).anatomy(problem, config).block;
        return block.m * block.n;
    };
    return tile_elements(left) == tile_elements(right);
}

double gain_ratio(const Winner& winner) {
    const bool is_known = winner.median_us > 0 && winner.heuristic_us > 0;
    return is_known ? std::max(1.0, winner.heuristic_us / winner.median_us) : 1;
}

std::string gain(const Winner& winner) {
    if (winner.median_us == 0) return "its time is not recorded";
    std::string text = fmt::format("{:.2f} us {}", winner.median_us, time_source(winner.device_class));
    if (winner.heuristic_us > 0) text += fmt::format(", the heuristic's kernel took {:.2f} us", winner.heuristic_us);
    return text;
}

/// Returns why the winner's kernel can't serve, or "" if it can.
std::string obstacle(const KnownWinner& own, const Problem& problem, const Selection& selection, const Arch& arch) {
    if (!misfits(own, problem, arch).empty()) return "does not fit the problem in this version";
    return satisfies(own.kernel->config, selection) ? "" : "is none of " + narrowing(selection);
}

using WinnersByClass = std::unordered_map<GemmSpec, std::vector<KnownWinner>>;

/// The winner of the same sizes, types and layout that differs from what is asked in the fewest fields; null where
/// there is none.
const Winner* of_product(const WinnersByClass& classes, const GemmSpec& spec) {
    const auto rank = [&](const Winner& one) {
        return std::pair(count_differing_fields(one.spec, spec), to_string(one.spec));
    };
    const Winner* closest = nullptr;
    for (const auto& [key, winners] : classes)
        for (const auto& [winner, problem, kernel, heuristic, unknown] : winners)
            if (is_same_product(winner.spec, spec) && (closest == nullptr || rank(winner) < rank(*closest)))
                closest = &winner;
    return closest;
}

/// Why no record serves. Who tuned this very problem, `own`, wants to know what is wrong with that.
std::string why_none(const std::vector<const KnownWinner*>& own, const WinnersByClass& classes, const Problem& problem,
                     const Selection& selection, const Arch& arch, const KernelConfig& heuristic) {
    if (classes.empty()) return "nothing is tuned for this class of devices";
    if (!own.empty()) {
        const auto steady =
            std::ranges::find_if(own, [](const KnownWinner* winner) { return is_steady(winner->record); });
        const KnownWinner& winner = steady == own.end() ? *own.front() : **steady;
        const std::string hindrance = obstacle(winner, problem, selection, arch);
        return "this problem was tuned" + why_unserving(winner.record, hindrance, kernel_name(problem, heuristic));
    }
    if (const Winner* const other = of_product(classes, problem.row_major()))
        return "this product was tuned, but " + differing_fields(other->spec, problem.row_major());
    return "nothing tuned is near enough to this problem";
}

/// Unset for a name of another version's kernel; then `why` is set.
std::optional<KernelId> parsed(const std::string& name, std::string& why) {
    try {
        return parse_kernel_name(name);
    } catch (const Error& error) {
        why = error.what();
        return std::nullopt;
    }
}

}  // namespace

KnownWinner::KnownWinner(Winner winner) : record(std::move(winner)), problem(problem_of(record.spec)) {
    std::string ignored;
    record.spec = problem.row_major();
    kernel = parsed(record.kernel, unknown_kernel);
    heuristic = parsed(record.heuristic_kernel, ignored);
}

std::string narrowing(const Selection& selection) {
    std::vector<std::string> words;
    if (selection.family) words.push_back("family=" + *selection.family);
    if (selection.kernel) words.push_back("kernel=" + *selection.kernel);
    for (const auto& [name, value] : selection.parameters) words.push_back(fmt::format("{}={}", name, value));
    return fmt::format("{}", fmt::join(words, " "));
}

TunedChoices::TunedChoices(const std::vector<Winner>& winners, Versions today, InstalledWinners installed)
    : today_(std::move(today)), installed_(std::move(installed)) {
    for (const Winner& winner : winners) {
        KnownWinner known(winner);
        classes_[class_of(known.record.spec)].push_back(std::move(known));
    }
}

bool TunedChoices::is_trusted(const Winner& winner, const Selection& selection) const {
    return is_searched_through(winner, selection) && !is_stale(winner, today_);
}

/// Why it is no more than a hint; empty for one that is.
std::string TunedChoices::caveats(const Winner& winner) const {
    std::vector<std::string> reasons;
    if (!winner.complete) reasons.emplace_back("the search was not finished");
    if (winner.narrowed == kNarrowedUnknown)
        reasons.emplace_back("the extent of the search is not recorded");
    else if (!winner.narrowed.empty())
        reasons.push_back("the search was limited to " + winner.narrowed);
    if (is_stale(winner, today_)) reasons.emplace_back("it ran with other versions than the current ones");
    return fmt::format("{}", fmt::join(reasons, ", "));
}

std::vector<const KnownWinner*> TunedChoices::of_problem(const Problem& problem) const {
    std::vector<const KnownWinner*> found;
    const auto group = classes_.find(class_of(problem.row_major()));
    if (group == classes_.end()) return found;
    for (const KnownWinner& winner : group->second)
        if (winner.record.spec == problem.row_major()) found.push_back(&winner);
    std::ranges::sort(found, [](const KnownWinner* left, const KnownWinner* right) {
        return is_better(left->record, right->record);
    });
    return found;
}

std::optional<TunedChoice> TunedChoices::exact(const Request& request) const {
    for (const KnownWinner* const winner : of_problem(request.problem)) {
        if (!is_trusted(winner->record, request.selection)) continue;
        const std::optional<KernelConfig> config = sound_config(*winner, request.problem, *request.gpu.arch);
        if (!config || !satisfies(*config, request.selection)) continue;
        return TunedChoice{*config,
                           ChoiceSource::exact,
                           fmt::format("tuned for this problem on this class of devices ({})", gain(winner->record)),
                           {},
                           0,
                           gain_ratio(winner->record)};
    }
    return std::nullopt;
}

std::optional<TunedChoice> TunedChoices::hint(const Request& request, const KernelConfig& heuristic) const {
    const std::string rival = kernel_name(request.problem, heuristic);
    for (const KnownWinner* const winner : of_problem(request.problem)) {
        const Winner& record = winner->record;
        if (!is_steady(record) || !beat_heuristic(record) || record.heuristic_kernel != rival) continue;
        const std::optional<KernelConfig> config = sound_config(*winner, request.problem, *request.gpu.arch);
        if (!config || !satisfies(*config, request.selection)) continue;
        return TunedChoice{
            *config,
            ChoiceSource::hint,
            fmt::format("faster than the heuristic's kernel on this problem and class of devices ({}); a "
                        "hint, as {}",
                        gain(winner->record), caveats(winner->record)),
            {},
            0,
            gain_ratio(winner->record)};
    }
    return std::nullopt;
}

/// A winner of other problems is no better founded than a kernel that was timed on this problem.
std::optional<TunedChoice> TunedChoices::unbeaten(const Request& request, const KernelConfig& heuristic) const {
    const std::string rival = kernel_name(request.problem, heuristic);
    for (const KnownWinner* const winner : of_problem(request.problem)) {
        const Winner& record = winner->record;
        if (!is_steady(record) || !record.narrowed.empty() || record.candidates_timed < 2) continue;
        if (record.heuristic_kernel != rival || record.heuristic_us <= 0 || beat_heuristic(record)) continue;
        return TunedChoice{
            heuristic, ChoiceSource::heuristic,
            fmt::format(
                "none of {} kernels timed on this problem and class of devices was clearly faster than its {:.2f} us",
                record.candidates_timed, record.heuristic_us)};
    }
    return std::nullopt;
}

std::vector<TunedChoices::Neighbour> TunedChoices::neighbours(const Request& request) const {
    std::vector<Neighbour> found;
    const auto group = classes_.find(class_of(request.problem.row_major()));
    if (group == classes_.end()) return found;
    for (const KnownWinner& winner : group->second) {
        const Winner& record = winner.record;
        const double distance = distance_between(request.problem.row_major(), record.spec);
        const bool trusted = is_trusted(record, request.selection);
        const bool may_serve = trusted || (is_searched_through(record, request.selection) && beat_heuristic(record));
        if (distance <= kNearestLimit && may_serve) found.push_back({&winner, distance, trusted});
    }
    std::ranges::sort(found, [](const Neighbour& left, const Neighbour& right) {
        const auto rank = [](const Neighbour& one) {
            const Winner& record = one.winner->record;
            return std::tuple(!one.is_trusted, one.distance, record.spec.m, record.spec.n, record.median_us,
                              record.kernel);
        };
        return rank(left) < rank(right);
    });
    return found;
}

std::optional<TunedChoice> TunedChoices::nearest(const Request& request, const KernelConfig& heuristic) const {
    const double heuristic_us = predicted_us(request.problem, heuristic, request.gpu);
    for (const auto& [winner, distance, trusted] : neighbours(request)) {
        const std::optional<KernelConfig> config = fitting_config(*winner, request.problem, *request.gpu.arch);
        if (!config || !satisfies(*config, request.selection)) continue;
        const double allowed_us = heuristic_us * kNearestSlack * model_error(*winner, *config, request.gpu);
        if (predicted_us(request.problem, *config, request.gpu) > allowed_us) continue;
        return TunedChoice{
            *config,
            trusted ? ChoiceSource::nearest : ChoiceSource::hint,
            fmt::format("tuned for the similar problem {} on this class of devices, distance {:.2f} ({}){}",
                        sizes_of(winner->record.spec), distance, gain(winner->record),
                        trusted ? "" : "; a hint, as " + caveats(winner->record)),
            winner->record.spec,
            distance,
            gain_ratio(winner->record)};
    }
    return std::nullopt;
}

/// Those that beat this kernel in whatever a kernel's loop does not hang on (C, D's type, alignments), by their
/// distance; of two as far the first in the file comes first.
std::multimap<double, KnownWinner> TunedChoices::installed_over(const Request& request,
                                                                const KernelConfig& heuristic) const {
    std::multimap<double, KnownWinner> found;
    if (!installed_) return found;
    const GemmSpec& spec = request.problem.row_major();
    for (Winner& winner : installed_(heuristic)) {
        if (winner.spec.a != spec.a || winner.spec.b != spec.b || winner.spec.layout != spec.layout) continue;
        if (winner.spec.symmetric != spec.symmetric) continue;  // their tiles fill other waves
        if (!are_of_one_kind(winner.spec, spec)) continue;      // and groups' tiles take other code
        KnownWinner known(std::move(winner));
        if (!known.kernel || !known.heuristic || known.heuristic->config != heuristic) continue;
        const double distance = distance_between(spec, known.record.spec);
        found.emplace(distance, std::move(known));
    }
    return found;
}

std::optional<TunedChoice> TunedChoices::installed(const Request& request, const KernelConfig& heuristic) const {
    const double heuristic_us = predicted_us(request.problem, heuristic, request.gpu);
    for (const auto& [distance, winner] : installed_over(request, heuristic)) {
        const KernelConfig& config = winner.kernel->config;
        if (!fits(config, request.problem, request.gpu)) continue;
        if (distance > kNearestLimit && !cover_alike(config, heuristic, request.problem)) continue;
        const double allowed_us = heuristic_us * kInstalledSlack * model_error(winner, config, request.gpu);
        if (!satisfies(config, request.selection) || predicted_us(request.problem, config, request.gpu) > allowed_us)
            continue;
        return TunedChoice{config,
                           ChoiceSource::installed,
                           fmt::format("comes with the library: faster than the heuristic's kernel on this class of "
                                       "devices, measured with {}",
                                       sizes_of(winner.record.spec)),
                           winner.record.spec,
                           distance,
                           gain_ratio(winner.record)};
    }
    return std::nullopt;
}

std::optional<TunedChoice> TunedChoices::better_than(const KernelConfig& heuristic, const Problem& problem,
                                                     const GpuModel& gpu, const Selection& selection) const {
    if (selection.kernel) return std::nullopt;
    const Request request{problem, gpu, selection};
    if (auto choice = exact(request)) return choice;
    if (auto choice = hint(request, heuristic)) return choice;
    if (unbeaten(request, heuristic)) return std::nullopt;
    if (auto choice = nearest(request, heuristic)) return choice;
    return installed(request, heuristic);
}

std::vector<const Problem*> TunedChoices::tuned_problems() const {
    std::vector<const Problem*> problems;
    for (const auto& [key, winners] : classes_)
        for (const KnownWinner& winner : winners) problems.push_back(&winner.problem);
    return problems;
}

TunedChoice TunedChoices::choose(const Problem& problem, const GpuModel& gpu, const Selection& selection) const {
    if (selection.kernel) return {choose_config(problem, gpu, selection), ChoiceSource::forced, "named by the caller"};
    const Request request{problem, gpu, selection};
    if (auto choice = exact(request)) return *std::move(choice);
    const KernelConfig heuristic = choose_config(problem, gpu, selection);
    if (auto choice = hint(request, heuristic)) return *std::move(choice);
    if (auto choice = unbeaten(request, heuristic)) return *std::move(choice);
    if (auto choice = nearest(request, heuristic)) return *std::move(choice);
    if (auto choice = installed(request, heuristic)) return *std::move(choice);
    return {heuristic, ChoiceSource::heuristic,
            why_none(of_problem(problem), classes_, problem, selection, *gpu.arch, heuristic)};
}

}  // namespace jitgemm::tuning
