#include "runtime/tuning/fit/fit.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/fit/least_squares.hpp"
#include "runtime/tuning/report/tune_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace jitgemm::tuning {
namespace {

/// A point, ready to be predicted again and again.
struct Observation {
    CostByConstants cost;
    double us;
    std::size_t problem;
    double weight = 1;
};

/// What a fit is made of.
struct FitData {
    std::vector<Observation> observations;
    std::size_t problems = 0;
    std::size_t left_out = 0;
};

/// The point's kernel as a cost to fit; unset for what says nothing of the family.
std::optional<CostByConstants> cost_of(const FitPoint& point, const Family& family, const GpuModel& gpu) {
    try {
        const KernelId id = parse_kernel_name(point.kernel);
        const Problem problem = problem_of(point.spec);
        if (&family_of(id.config) != &family || !(point.us > 0) || id.signature != problem.signature)
            return std::nullopt;
        if (family.is_untimed(id.config))
            return std::nullopt;  // its form is a guess, and would bend those of the others
        CostByConstants cost = family.cost_by_constants(problem, id.config, gpu);
        if (cost(family.cost_constants(gpu)).blocks_per_sm == 0) return std::nullopt;
        return cost;
    } catch (const ReasonedError&) {  // another version's
        return std::nullopt;
    }
}

/// All of a problem weigh 1 together; a kernel twice as slow as the best half as much as it, for nobody will choose it.
void weigh(FitData& data) {
    std::vector<double> best(data.problems, 0);
    std::vector<double> sums(data.problems, 0);
    for (const Observation& one : data.observations)
        best[one.problem] = best[one.problem] > 0 ? std::min(best[one.problem], one.us) : one.us;
    for (const Observation& one : data.observations) sums[one.problem] += best[one.problem] / one.us;
    for (Observation& one : data.observations) one.weight = best[one.problem] / one.us / sums[one.problem];
}

FitData data_of(const Family& family, const std::vector<FitPoint>& points, const GpuModel& gpu) {
    FitData data;
    std::map<std::string, std::size_t> problems;
    for (const FitPoint& point : points) {
        std::optional<CostByConstants> cost = cost_of(point, family, gpu);
        if (!cost) {
            ++data.left_out;
            continue;
        }
        const std::string spec = to_string(problem_of(point.spec).row_major);
        const std::size_t problem = problems.emplace(spec, problems.size()).first->second;
        data.observations.push_back({std::move(*cost), point.us, problem});
    }
    data.problems = problems.size();
    weigh(data);
    return data;
}

double log_error(const Observation& one, const CostConstants& constants) {
    return std::log(one.cost(constants).total_us / one.us);
}

/// The start's constants, each times e to the power of its change.
CostConstants changed(const CostConstants& start, const std::vector<double>& change) {
    CostConstants constants = start;
    for (std::size_t i = 0; i < constants.size(); ++i) constants[i].value *= std::exp(change[i]);
    return constants;
}

/// Fitted to the problems that `fitted` is true of.
template <typename Fitted>
CostConstants fitted_constants(const FitData& data, const CostConstants& start, const FitOptions& options,
                               const Fitted& fitted) {
    std::vector<const Observation*> used;
    double weights = 0;
    for (const Observation& one : data.observations) {
        if (!fitted(one.problem)) continue;
        used.push_back(&one);
        weights += one.weight;
    }
    const double points = static_cast<double>(used.size()) / weights;
    const auto residuals = [&](const std::vector<double>& change) {
        const CostConstants constants = changed(start, change);
        std::vector<double> values;
        values.reserve(used.size() + change.size());
        for (const Observation* one : used)
            values.push_back(std::sqrt(one->weight * points) * log_error(*one, constants));
        for (const double one : change) values.push_back(options.doubt / options.freedom * one);
        return values;
    };
    LeastSquaresOptions solver;
    solver.bound = std::log(options.most_change);
    solver.iterations = options.iterations;
    return changed(start, least_squares(residuals, std::vector<double>(start.size()), solver));
}

/// The problem's best by prediction and by measurement.
struct Choice {
    const Observation* chosen = nullptr;
    double predicted = 0;
    const Observation* best = nullptr;
};

/// Errors of constants that may differ from problem to problem.
template <typename ConstantsOf>
FitError error_of(const FitData& data, const ConstantsOf& constants_of) {
    FitError error;
    std::vector<Choice> choices(data.problems);
    double logs = 0;
    double squares = 0;
    double weights = 0;
    for (const Observation& one : data.observations) {
        const double off = log_error(one, constants_of(one.problem));
        logs += off;
        squares += one.weight * off * off;
        weights += one.weight;
        Choice& choice = choices[one.problem];
        const double predicted = one.us * std::exp(off);
        if (choice.chosen == nullptr || predicted < choice.predicted)
            choice.chosen = &one, choice.predicted = predicted;
        if (choice.best == nullptr || one.us < choice.best->us) choice.best = &one;
    }
    double regrets = 0;
    for (const Choice& choice : choices) {
        const double regret = choice.chosen->us / choice.best->us;
        regrets += std::log(regret);
        error.worst_regret = std::max(error.worst_regret, regret);
        error.hits += choice.chosen->us <= choice.best->us ? 1 : 0;
    }
    error.problems = static_cast<int>(choices.size());
    error.regret = std::exp(regrets / error.problems);
    error.ratio = std::exp(logs / static_cast<double>(data.observations.size()));
    error.rms_log = std::sqrt(squares / weights);
    return error;
}

std::optional<FitError> held_out_error(const FitData& data, const CostConstants& start, const FitOptions& options) {
    const auto folds = std::min(static_cast<std::size_t>(std::max(options.folds, 2)), data.problems);
    if (folds < 2) return std::nullopt;
    std::vector<CostConstants> of_fold;
    for (std::size_t fold = 0; fold < folds; ++fold)
        of_fold.push_back(
            fitted_constants(data, start, options, [&](std::size_t problem) { return problem % folds != fold; }));
    return error_of(data, [&](std::size_t problem) { return of_fold[problem % folds]; });
}

std::string error_text(std::string_view when, const FitError& error) {
    return fmt::format(
        "{:<10} predicted/measured {:.3f}, rms error {:.1f} %, choice slower than the best by {:.2f} % (worst {:.1f} "
        "%), "
        "best chosen in {} of {}\n",
        when, error.ratio, 100 * error.rms_log, 100 * (error.regret - 1), 100 * (error.worst_regret - 1), error.hits,
        error.problems);
}

}  // namespace

std::vector<FitPoint> fit_points(const std::vector<ProblemRecord>& problems) {
    std::vector<FitPoint> points;
    for (const ProblemRecord& problem : problems)
        for (const TimedCandidate& candidate : figures_of(problem).timed)
            points.push_back({problem.spec, candidate.kernel, candidate.us});
    return points;
}

const Family& family_to_fit(const std::optional<std::string>& name) {
    const auto has_constants = [](const Family& family) { return family.cost_constants != nullptr; };
    if (!name) return *std::ranges::find_if(family_table(), has_constants);
    const Family& family = find_family(*name);
    if (!has_constants(family))
        throw Error(fmt::format("nothing to fit: the cost model of {} has no fitted constants", family.name));
    return family;
}

FitResult fit_cost_constants(const Family& family, const std::vector<FitPoint>& points, const GpuModel& gpu,
                             const FitOptions& options) {
    const FitData data = data_of(family, points, gpu);
    if (data.observations.empty())
        throw Error(fmt::format("nothing to fit: none of {} measurements is a timed {} kernel of its problem",
                                points.size(), family.name));
    FitResult result;
    result.start = family.cost_constants(gpu);
    result.points = data.observations.size();
    result.left_out = data.left_out;
    result.before = error_of(data, [&](std::size_t) { return result.start; });
    result.constants = fitted_constants(data, result.start, options, [](std::size_t) { return true; });
    result.after = error_of(data, [&](std::size_t) { return result.constants; });
    result.held_out = held_out_error(data, result.start, options);
    return result;
}

std::string fitted_row(const FitResult& result, const GpuModel& gpu) {
    std::string row = fmt::format(
        "    // {} timings of {} problems: rms error {:.1f} %, choice {:.1f} % slower than the best{}.\n"
        "    {{.gpu = \"{}\",\n     .arch = \"{}\",\n     .sm_count = {},\n     .dram_bytes_per_second = {:.0f}e9,\n",
        result.points, result.after.problems, 100 * result.after.rms_log, 100 * (result.after.regret - 1),
        result.held_out ? fmt::format("; of problems left out {:.1f} % and {:.1f} %", 100 * result.held_out->rms_log,
                                      100 * (result.held_out->regret - 1))
                        : "",
        gpu.name, gpu.arch->name, gpu.sm_count, gpu.dram_bytes_per_second / 1e9);
    std::string constants;
    for (const CostConstant& one : result.constants)
        constants +=
            fmt::format("{}.{} = {:.4g}", constants.empty() ? "" : ",\n                   ", one.name, one.value);
    return row + "     .constants = {" + constants + "}},\n";
}

std::string fit_text(const FitResult& result, const GpuModel& gpu) {
    std::string text = fmt::format("{} timings of {} problems on {} ({} left out)\n", result.points,
                                   result.after.problems, gpu.name, result.left_out);
    text += error_text("before", result.before) + error_text("after", result.after);
    if (result.held_out) text += error_text("held out", *result.held_out);
    for (std::size_t i = 0; i < result.start.size(); ++i)
        text += fmt::format("  {:<24} {:>10.4g} -> {:<10.4g}\n", result.start[i].name, result.start[i].value,
                            result.constants[i].value);
    return text;
}

}  // namespace jitgemm::tuning
