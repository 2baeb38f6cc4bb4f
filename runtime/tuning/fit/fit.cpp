#include "runtime/tuning/fit/fit.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/families/shared/cost_table.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/fit/least_squares.hpp"
#include "runtime/tuning/report/tune_figures.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
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

/// The input of a fit.
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

/// Numbers problems by what they are, the same for every family.
using ProblemNumbers = std::map<std::string, std::size_t>;

ProblemNumbers numbers_of(const std::vector<FitPoint>& points) {
    ProblemNumbers numbers;
    for (const FitPoint& point : points) numbers.emplace(to_string(problem_of(point.spec).row_major()), numbers.size());
    return numbers;
}

FitData data_of(const Family& family, const std::vector<FitPoint>& points, const ProblemNumbers& problems,
                const GpuModel& gpu) {
    FitData data;
    for (const FitPoint& point : points) {
        std::optional<CostByConstants> cost = cost_of(point, family, gpu);
        if (!cost) {
            ++data.left_out;
            continue;
        }
        const std::string spec = to_string(problem_of(point.spec).row_major());
        data.observations.push_back({std::move(*cost), point.us, problems.at(spec)});
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
        if (choice.chosen == nullptr) continue;  // no kernel of this family was timed
        ++error.problems;
        const double regret = choice.chosen->us / choice.best->us;
        regrets += std::log(regret);
        error.worst_regret = std::max(error.worst_regret, regret);
        error.hits += choice.chosen->us <= choice.best->us ? 1 : 0;
    }
    error.regret = std::exp(regrets / error.problems);
    error.ratio = std::exp(logs / static_cast<double>(data.observations.size()));
    error.rms_log = std::sqrt(squares / weights);
    return error;
}

/// Each problem's fold, evenly at random.
std::vector<std::size_t> random_folds(std::size_t problems, std::size_t folds, int seed) {
    std::vector<std::size_t> fold_of(problems);
    for (std::size_t i = 0; i < problems; ++i) fold_of[i] = i % folds;
    std::mt19937_64 engine(static_cast<std::uint64_t>(seed));
    for (std::size_t i = problems; i > 1; --i) std::swap(fold_of[i - 1], fold_of[engine() % i]);
    return fold_of;
}

bool has_two_problems(const FitData& data) {
    return std::ranges::any_of(data.observations,
                               [&](const Observation& one) { return one.problem != data.observations[0].problem; });
}

FitSplit split_of(const FitData& data, const CostConstants& start, const FitOptions& options, int seed) {
    const auto folds = static_cast<std::size_t>(std::max(options.folds, 2));
    FitSplit split{random_folds(data.problems, folds, seed), {}};
    for (std::size_t fold = 0; fold < folds; ++fold)
        split.constants.push_back(fitted_constants(
            data, start, options, [&](std::size_t problem) { return split.fold_of[problem] != fold; }));
    return split;
}

/// Fits the family to its observations, and in a first split to parts of them.
FitResult fitted(const Family& family, const FitData& data, const GpuModel& gpu, const FitOptions& options) {
    FitResult result;
    result.start = family.cost_constants(gpu);
    result.points = data.observations.size();
    result.left_out = data.left_out;
    result.before = error_of(data, [&](std::size_t) -> const CostConstants& { return result.start; });
    result.constants = fitted_constants(data, result.start, options, [](std::size_t) { return true; });
    result.after = error_of(data, [&](std::size_t) -> const CostConstants& { return result.constants; });
    if (!has_two_problems(data)) return result;
    result.splits.push_back(split_of(data, result.start, options, 0));
    result.held_out =
        error_of(data, [&](std::size_t problem) -> const CostConstants& { return result.splits.front().of(problem); });
    return result;
}

// ---- all families ---------------------------------------------------------------------------------------------------

/// A family's kernels with what is predicted of them.
struct Predicted {
    const Family* family;
    FitData data;
    std::vector<std::vector<double>> us;  ///< of each observation, in each split
};

template <typename ConstantsOf>
std::vector<double> predictions(const FitData& data, const ConstantsOf& constants_of) {
    std::vector<double> us;
    us.reserve(data.observations.size());
    for (const Observation& one : data.observations) us.push_back(one.cost(constants_of(one.problem)).total_us);
    return us;
}

ChoiceRegret regret_of_split(const std::vector<Predicted>& families, std::size_t problems, std::size_t split) {
    struct Best {
        double predicted = std::numeric_limits<double>::infinity(), chosen = 0;
        double fastest = std::numeric_limits<double>::infinity();
    };
    std::vector<Best> best(problems);
    for (const Predicted& family : families)
        for (std::size_t i = 0; i < family.data.observations.size(); ++i) {
            const Observation& one = family.data.observations[i];
            Best& of_problem = best[one.problem];
            of_problem.fastest = std::min(of_problem.fastest, one.us);
            const double predicted = family.us[split][i];
            if (predicted < of_problem.predicted) of_problem.predicted = predicted, of_problem.chosen = one.us;
        }
    ChoiceRegret regret;
    double logs = 0;
    std::size_t count = 0;
    for (const Best& one : best) {
        if (one.chosen == 0) continue;
        ++count;
        logs += std::log(one.chosen / one.fastest);
        regret.worst = std::max(regret.worst, one.chosen / one.fastest);
    }
    if (count > 0) regret.mean = std::exp(logs / static_cast<double>(count));
    return regret;
}

/// In all splits.
ChoiceRegret choice_regret(const std::vector<Predicted>& families, std::size_t problems) {
    ChoiceRegret regret;
    const std::size_t splits = families.empty() ? 0 : families.front().us.size();
    for (std::size_t split = 0; split < splits; ++split) {
        const ChoiceRegret one = regret_of_split(families, problems, split);
        regret.mean *= std::pow(one.mean, 1.0 / static_cast<double>(splits));
        regret.worst = std::max(regret.worst, one.worst);
    }
    return regret;
}

/// A fit is worth taking for better choices alone; a mean that gains by making one problem much worse is none.
bool chooses_better(const ChoiceRegret& now, const ChoiceRegret& before) {
    constexpr double kNoise = 1e-4;
    constexpr double kMostWorse = 1.02;
    return now.mean < before.mean - kNoise && now.worst <= before.worst * kMostWorse;
}

/// The families that have constants and timed kernels, predicted by the table.
std::vector<Predicted> predicted_families(const std::vector<FitPoint>& points, const ProblemNumbers& problems,
                                          const GpuModel& gpu, const FitOptions& options) {
    const auto splits = static_cast<std::size_t>(std::max(options.splits, 1));
    std::vector<Predicted> families;
    for (const Family& family : family_table()) {
        if (family.cost_constants == nullptr) continue;
        FitData data = data_of(family, points, problems, gpu);
        if (data.observations.empty()) continue;
        const CostConstants start = family.cost_constants(gpu);
        const std::vector<double> us = predictions(data, [&](std::size_t) -> const CostConstants& { return start; });
        families.push_back({&family, std::move(data), std::vector(splits, us)});
    }
    return families;
}

/// Whether the family's constants choose better in this split. Its predictions then become those of the folds.
bool is_better_in(std::vector<Predicted>& families, Predicted& one, std::size_t problems, const FitSplit& split,
                  std::size_t number) {
    const ChoiceRegret before = regret_of_split(families, problems, number);
    one.us[number] =
        predictions(one.data, [&](std::size_t problem) -> const CostConstants& { return split.of(problem); });
    return chooses_better(regret_of_split(families, problems, number), before);
}

/// Fits one of the families; its predictions become those of the folds where they choose better in all splits.
FamilyFit fit_one(std::vector<Predicted>& families, Predicted& one, std::size_t problems, const GpuModel& gpu,
                  const FitOptions& options) {
    FamilyFit fit;
    fit.family = one.family;
    fit.result = fitted(*one.family, one.data, gpu, options);
    fit.before = choice_regret(families, problems);
    fit.held_out = fit.before;
    std::vector<FitSplit>& splits = fit.result.splits;
    if (splits.empty()) return fit;
    const std::vector<std::vector<double>> table = one.us;
    fit.is_taken = is_better_in(families, one, problems, splits[0], 0);
    for (std::size_t i = 1; i < table.size() && fit.is_taken; ++i) {
        splits.push_back(split_of(one.data, fit.result.start, options, static_cast<int>(i)));
        fit.is_taken = is_better_in(families, one, problems, splits[i], i);
    }
    fit.held_out =
        fit.is_taken ? choice_regret(families, problems) : regret_of_split(families, problems, splits.size() - 1);
    if (!fit.is_taken) one.us = table;
    return fit;
}

std::string regret_text(const ChoiceRegret& regret) {
    return fmt::format("{:.2f} % behind the best (worst {:.1f} %)", 100 * (regret.mean - 1), 100 * (regret.worst - 1));
}

/// Four digits are more than a fit knows.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

std::string error_text(std::string_view when, const FitError& error) {
    return fmt::format(
        "{:<10} predicted/measured {:.3f}, rms error {:.1f} %, choice slower than the best by {:.2f} % (worst {:.1f} "
        "%), best chosen in {} of {}\n",
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

FitResult fit_cost_constants(const Family& family, const std::vector<FitPoint>& points, const GpuModel& gpu,
                             const FitOptions& options) {
    const FitData data = data_of(family, points, numbers_of(points), gpu);
    if (data.observations.empty())
        throw Error(fmt::format("nothing to fit: none of {} measurements is a timed {} kernel of its problem",
                                points.size(), family.name));
    return fitted(family, data, gpu, options);
}

TableFit fit_cost_table(const std::vector<FitPoint>& points, const GpuModel& gpu,
                        const std::optional<std::string>& family, const FitOptions& options) {
    const Family* const wanted = family ? &find_family(*family) : nullptr;
    if (wanted != nullptr && wanted->cost_constants == nullptr)
        throw Error(fmt::format("nothing to fit: the cost model of {} has no fitted constants", wanted->name));
    const ProblemNumbers problems = numbers_of(points);
    std::vector<Predicted> families = predicted_families(points, problems, gpu, options);
    TableFit fit;
    fit.problems = problems.size();
    fit.before = choice_regret(families, fit.problems);
    for (Predicted& one : families)
        if (wanted == nullptr || wanted == one.family)
            fit.families.push_back(fit_one(families, one, fit.problems, gpu, options));
    if (fit.families.empty())
        throw Error(fmt::format("nothing to fit: none of {} measurements is a timed kernel of {}", points.size(),
                                wanted == nullptr ? "a family with constants" : wanted->name));
    fit.held_out = choice_regret(families, fit.problems);
    return fit;
}

std::string table_text(const TableFit& fit, const GpuModel& gpu) {
    const CostTable& nearest = cost_tables()[nearest_cost_table(gpu)];
    auto table = nlohmann::ordered_json::parse(embedded_cost_tables().at(nearest.gpu().name + ".json"));
    table["gpu"] = find_gpu(gpu.name).name;
    table["measured"] =
        fmt::format("{} problems; choices for problems left out are {}", fit.problems, regret_text(fit.held_out));
    for (const FamilyFit& one : fit.families)
        if (one.is_taken)
            for (const CostConstant& constant : one.result.constants)
                table[std::string(one.family->name)][std::string(constant.name)] = rounded(constant.value);
    return table.dump(2) + "\n";
}

std::string fit_text(const TableFit& fit, const GpuModel& gpu) {
    std::string text =
        fmt::format("{} problems on {}\nchoices of the table: {}\nof this fit, for problems it has not seen: {}\n",
                    fit.problems, gpu.name, regret_text(fit.before), regret_text(fit.held_out));
    for (const FamilyFit& one : fit.families)
        text += fmt::format("\n{}: {}\n  choices before {}\n  choices held out {}\n{}", one.family->name,
                            one.is_taken ? "taken" : "not taken, because choices would not get better in every split",
                            regret_text(one.before), regret_text(one.held_out), fit_text(one.result, gpu));
    return text;
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
