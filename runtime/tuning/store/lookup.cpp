#include "runtime/tuning/store/lookup.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/device_facts.hpp"
#include "runtime/tuning/store/lookup_reasons.hpp"
#include "runtime/tuning/store/winner_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace jitgemm::tuning {
namespace {

GemmSpec normal_form(const GemmSpec& spec) { return with_row_major_d(resolved(spec)); }

/// What a kernel knows at compile time, and whether C is as aligned: all but the sizes.
GemmSpec class_of(GemmSpec spec) {
    spec.m = spec.n = spec.k = 0;
    spec.lda = spec.ldb = spec.ldc = spec.ldd = 0;
    return spec;
}

/// Infinite where an extent is 0.
double distance_between(const GemmSpec& left, const GemmSpec& right) {
    const auto octaves = [](std::int64_t a, std::int64_t b) {
        if (a == b) return 0.0;
        return std::log2(static_cast<double>(a) / static_cast<double>(b));
    };
    return std::hypot(octaves(left.m, right.m), octaves(left.n, right.n), octaves(left.k, right.k));
}

double predicted_us(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu) {
    return family_of(config).cost(spec, config, gpu).total_us;
}

std::string sizes(const GemmSpec& spec) { return fmt::format("{}x{}x{}", spec.m, spec.n, spec.k); }

/// Why the kernel cannot compute this problem on this device today.
std::vector<std::string> misfits(const KernelId& id, const GemmSpec& spec, const Arch& arch) {
    if (id.signature != signature(spec)) return {"it is for other types, another layout or alignment"};
    const Family& family = family_of(id.config);
    std::vector<std::string> reasons = family.unsupported(spec, arch);
    const std::vector<std::string> violations = family.violations(spec, id.config, arch);
    reasons.insert(reasons.end(), violations.begin(), violations.end());
    return reasons;
}

/// The same of a winner's, whose name may be none of today's.
std::vector<std::string> misfits(const Winner& winner, const GemmSpec& spec, const Arch& arch) {
    try {
        return misfits(parse_kernel_name(winner.kernel), spec, arch);
    } catch (const Error& error) {
        return {error.what()};
    }
}

/// The config of a near problem's winner where it can compute this one, which nobody promised.
std::optional<KernelConfig> fitting_config(const Winner& neighbour, const GemmSpec& spec, const Arch& arch) {
    if (!misfits(neighbour, spec, arch).empty()) return std::nullopt;
    return parse_kernel_name(neighbour.kernel).config;
}

/// The config of the problem's own winner, which did compute it: where it no longer can, a line in the log says why.
std::optional<KernelConfig> sound_config(const Winner& own, const GemmSpec& spec, const Arch& arch) {
    const std::vector<std::string> reasons = misfits(own, spec, arch);
    if (reasons.empty()) return parse_kernel_name(own.kernel).config;
    log().warn("passing over the tuned kernel {} for {}: {}", own.kernel, sizes(spec), fmt::join(reasons, "; "));
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

/// Searched to its end over all that the request leaves open. What lost to the heuristic's kernel is no choice but for
/// those who keep to a part that the heuristic's kernel is none of.
bool is_searched_through(const Winner& winner, const Selection& selection) {
    if (!winner.complete || !is_steady(winner)) return false;
    if (winner.narrowed.empty()) return !lost_to_heuristic(winner);
    return winner.narrowed == narrowing(selection);
}

/// The model is only asked of kernels that pass all rules: what a file names may have tiles that no arithmetic holds.
bool fits(const KernelId& id, const GemmSpec& spec, const GpuModel& gpu) {
    return misfits(id, spec, *gpu.arch).empty();
}

/// By how much the model thinks worse of the winner than of the heuristic's kernel on the problem where it won.
double model_error(const Winner& winner, const KernelConfig& config, const GpuModel& gpu) {
    try {
        const KernelId own{signature(winner.spec), config};
        const KernelId heuristic = parse_kernel_name(winner.heuristic_kernel);
        if (!fits(own, winner.spec, gpu) || !fits(heuristic, winner.spec, gpu)) return 1.0;
        const double ratio = predicted_us(winner.spec, config, gpu) / predicted_us(winner.spec, heuristic.config, gpu);
        return std::isfinite(ratio) ? std::max(1.0, ratio) : 1.0;
    } catch (const Error&) {  // an older version's kernel
        return 1.0;
    }
}

/// Two kernels whose block tiles hold as many elements cover D alike: what one gains over the other hangs on no size.
bool cover_alike(const KernelConfig& left, const KernelConfig& right, const GemmSpec& spec) {
    if (family_name(left) != family_name(right)) return false;
    const auto tile_elements = [&](const KernelConfig& config) {
        const TileShape block = family_of(config).anatomy(spec, config).block;
        return block.m * block.n;
    };
    return tile_elements(left) == tile_elements(right);
}

std::string gain(const Winner& winner) {
    if (winner.median_us == 0) return "its time was not kept";
    std::string text = fmt::format("{:.2f} us {}", winner.median_us, time_source(winner.device_class));
    if (winner.heuristic_us > 0) text += fmt::format(", the heuristic's kernel took {:.2f} us", winner.heuristic_us);
    return text;
}

/// What keeps the winner's kernel itself from serving; empty where nothing does.
std::string obstacle(const Winner& own, const GemmSpec& spec, const Selection& selection, const Arch& arch) {
    if (!misfits(own, spec, arch).empty()) return "does not fit the problem today";
    return satisfies(parse_kernel_name(own.kernel).config, selection) ? "" : "is none of " + narrowing(selection);
}

using WinnersByClass = std::unordered_map<GemmSpec, std::vector<Winner>>;

/// The winner of the same sizes, types and layout that differs from what is asked in the fewest fields; null where
/// there is none.
const Winner* of_product(const WinnersByClass& classes, const GemmSpec& spec) {
    const auto rank = [&](const Winner& one) {
        return std::pair(count_differing_fields(one.spec, spec), to_string(one.spec));
    };
    const Winner* closest = nullptr;
    for (const auto& [key, winners] : classes)
        for (const Winner& winner : winners)
            if (is_same_product(winner.spec, spec) && (closest == nullptr || rank(winner) < rank(*closest)))
                closest = &winner;
    return closest;
}

/// Why no record serves. Who tuned this very problem, `own`, wants to know what is wrong with that.
std::string why_none(const std::vector<const Winner*>& own, const WinnersByClass& classes, const GemmSpec& spec,
                     const Selection& selection, const Arch& arch, const KernelConfig& heuristic) {
    if (classes.empty()) return "nothing is tuned for this class of devices";
    if (!own.empty()) {
        const auto steady = std::ranges::find_if(own, [](const Winner* winner) { return is_steady(*winner); });
        const Winner& record = steady == own.end() ? *own.front() : **steady;
        const std::string rival = kernel_name({signature(spec), heuristic});
        const std::string hindrance = obstacle(record, spec, selection, arch);
        return "this problem was tuned" + why_unserving(record, hindrance, rival);
    }
    if (const Winner* const other = of_product(classes, spec))
        return "this product was tuned, but " + differing_fields(other->spec, spec);
    return "nothing tuned is near enough to this problem";
}

}  // namespace

std::string narrowing(const Selection& selection) {
    std::vector<std::string> words;
    if (selection.family) words.push_back("family=" + *selection.family);
    if (selection.kernel) words.push_back("kernel=" + *selection.kernel);
    for (const auto& [name, value] : selection.parameters) words.push_back(fmt::format("{}={}", name, value));
    return fmt::format("{}", fmt::join(words, " "));
}

TunedChoices::TunedChoices(const std::vector<Winner>& winners, Versions today, InstalledWinners installed)
    : today_(std::move(today)), installed_(std::move(installed)) {
    for (Winner winner : winners) {
        winner.spec = normal_form(winner.spec);
        classes_[class_of(winner.spec)].push_back(std::move(winner));
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
        reasons.emplace_back("what was searched is not known");
    else if (!winner.narrowed.empty())
        reasons.push_back("the search was kept to " + winner.narrowed);
    if (is_stale(winner, today_)) reasons.emplace_back("it ran with other versions than today's");
    return fmt::format("{}", fmt::join(reasons, ", "));
}

std::vector<const Winner*> TunedChoices::of_problem(const GemmSpec& spec) const {
    std::vector<const Winner*> found;
    const auto group = classes_.find(class_of(spec));
    if (group == classes_.end()) return found;
    for (const Winner& winner : group->second)
        if (winner.spec == spec) found.push_back(&winner);
    std::ranges::sort(found, [](const Winner* left, const Winner* right) { return is_better(*left, *right); });
    return found;
}

std::optional<TunedChoice> TunedChoices::exact(const Request& request) const {
    for (const Winner* const winner : of_problem(request.spec)) {
        if (!is_trusted(*winner, request.selection)) continue;
        const std::optional<KernelConfig> config = sound_config(*winner, request.spec, *request.gpu.arch);
        if (!config || !satisfies(*config, request.selection)) continue;
        return TunedChoice{*config, ChoiceSource::exact,
                           fmt::format("tuned for this problem on this class of devices ({})", gain(*winner))};
    }
    return std::nullopt;
}

std::optional<TunedChoice> TunedChoices::hint(const Request& request, const KernelConfig& heuristic) const {
    const std::string rival = kernel_name({signature(request.spec), heuristic});
    for (const Winner* const winner : of_problem(request.spec)) {
        if (!is_steady(*winner) || !beat_heuristic(*winner) || winner->heuristic_kernel != rival) continue;
        const std::optional<KernelConfig> config = sound_config(*winner, request.spec, *request.gpu.arch);
        if (!config || !satisfies(*config, request.selection)) continue;
        return TunedChoice{
            *config, ChoiceSource::hint,
            fmt::format("faster than the heuristic's kernel on this problem and class of devices ({}); a "
                        "hint, as {}",
                        gain(*winner), caveats(*winner))};
    }
    return std::nullopt;
}

/// What won on other problems is no better founded than what was timed on this one.
std::optional<TunedChoice> TunedChoices::unbeaten(const Request& request, const KernelConfig& heuristic) const {
    const std::string rival = kernel_name({signature(request.spec), heuristic});
    for (const Winner* const winner : of_problem(request.spec)) {
        if (!is_steady(*winner) || !winner->narrowed.empty() || winner->candidates_timed < 2) continue;
        if (winner->heuristic_kernel != rival || winner->heuristic_us <= 0 || beat_heuristic(*winner)) continue;
        return TunedChoice{heuristic, ChoiceSource::heuristic,
                           fmt::format("none of {} kernels timed on this problem and class of devices was faster "
                                       "beyond doubt than its {:.2f} us",
                                       winner->candidates_timed, winner->heuristic_us)};
    }
    return std::nullopt;
}

std::vector<TunedChoices::Neighbour> TunedChoices::neighbours(const Request& request) const {
    std::vector<Neighbour> found;
    const auto group = classes_.find(class_of(request.spec));
    if (group == classes_.end()) return found;
    for (const Winner& winner : group->second) {
        const double distance = distance_between(request.spec, winner.spec);
        const bool trusted = is_trusted(winner, request.selection);
        const bool may_serve = trusted || (is_searched_through(winner, request.selection) && beat_heuristic(winner));
        if (distance <= kNearestLimit && may_serve) found.push_back({&winner, distance, trusted});
    }
    std::ranges::sort(found, [](const Neighbour& left, const Neighbour& right) {
        const auto rank = [](const Neighbour& one) {
            return std::tuple(!one.is_trusted, one.distance, one.winner->spec.m, one.winner->spec.n,
                              one.winner->median_us, one.winner->kernel);
        };
        return rank(left) < rank(right);
    });
    return found;
}

std::optional<TunedChoice> TunedChoices::nearest(const Request& request, const KernelConfig& heuristic) const {
    const double heuristic_us = predicted_us(request.spec, heuristic, request.gpu);
    for (const auto& [winner, distance, trusted] : neighbours(request)) {
        const std::optional<KernelConfig> config = fitting_config(*winner, request.spec, *request.gpu.arch);
        if (!config || !satisfies(*config, request.selection)) continue;
        const double allowed_us = heuristic_us * kNearestSlack * model_error(*winner, *config, request.gpu);
        if (predicted_us(request.spec, *config, request.gpu) > allowed_us) continue;
        return TunedChoice{
            *config, trusted ? ChoiceSource::nearest : ChoiceSource::hint,
            fmt::format("tuned for the near {} on this class of devices, distance {:.2f} ({}){}", sizes(winner->spec),
                        distance, gain(*winner), trusted ? "" : "; a hint, as " + caveats(*winner)),
            winner->spec, distance};
    }
    return std::nullopt;
}

/// Those that beat this kernel in whatever a kernel's loop does not hang on (C, D's type, alignments), by their distance; of two as far
/// the first in the file comes first.
std::multimap<double, Winner> TunedChoices::installed_over(const Request& request,
                                                           const KernelConfig& heuristic) const {
    std::multimap<double, Winner> found;
    if (!installed_) return found;
    const GemmSpec& spec = request.spec;
    for (Winner& winner : installed_(heuristic)) {
        if (winner.spec.a != spec.a || winner.spec.b != spec.b || winner.spec.layout != spec.layout) continue;
        if (parse_kernel_name(winner.heuristic_kernel).config != heuristic) continue;
        found.emplace(distance_between(spec, winner.spec), std::move(winner));
    }
    return found;
}

std::optional<TunedChoice> TunedChoices::installed(const Request& request, const KernelConfig& heuristic) const {
    const double heuristic_us = predicted_us(request.spec, heuristic, request.gpu);
    for (const auto& [distance, winner] : installed_over(request, heuristic)) {
        const KernelConfig config = parse_kernel_name(winner.kernel).config;
        if (!misfits({signature(request.spec), config}, request.spec, *request.gpu.arch).empty()) continue;
        if (distance > kNearestLimit && !cover_alike(config, heuristic, request.spec)) continue;
        const double allowed_us = heuristic_us * kInstalledSlack * model_error(winner, config, request.gpu);
        if (!satisfies(config, request.selection) || predicted_us(request.spec, config, request.gpu) > allowed_us)
            continue;
        return TunedChoice{config, ChoiceSource::installed,
                           fmt::format("comes with the library: faster than the heuristic's kernel on this class of "
                                       "devices, measured with {}",
                                       sizes(winner.spec)),
                           winner.spec, distance};
    }
    return std::nullopt;
}

TunedChoice TunedChoices::choose(const GemmSpec& asked, const GpuModel& gpu, const Selection& selection) const {
    if (selection.kernel) return {choose_config(asked, gpu, selection), ChoiceSource::forced, "named by the caller"};
    const Request request{normal_form(asked), gpu, selection};
    if (auto choice = exact(request)) return *std::move(choice);
    const KernelConfig heuristic = choose_config(asked, gpu, selection);
    if (auto choice = hint(request, heuristic)) return *std::move(choice);
    if (auto choice = unbeaten(request, heuristic)) return *std::move(choice);
    if (auto choice = nearest(request, heuristic)) return *std::move(choice);
    if (auto choice = installed(request, heuristic)) return *std::move(choice);
    return {heuristic, ChoiceSource::heuristic,
            why_none(of_problem(request.spec), classes_, request.spec, selection, *gpu.arch, heuristic)};
}

}  // namespace jitgemm::tuning
