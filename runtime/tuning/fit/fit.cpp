#include "runtime/tuning/fit/fit.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/families/mma_multistage/cost.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/fit/least_squares.hpp"
#include "runtime/tuning/report/tune_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace jitgemm::tuning {
namespace {

/// A point, ready to be predicted again and again.
struct Observation {
    MmaCostInputs inputs;
    double us;
    std::size_t problem;
    double weight = 1;
};

/// What a fit is made of: the points, and the GPU they are from.
struct FitData {
    std::vector<Observation> observations;
    std::size_t problems = 0;
    GpuModel gpu;
    std::size_t left_out = 0;
};

std::optional<MmaCostInputs> inputs_of(const FitPoint& point) {
    try {
        const KernelId id = parse_kernel_name(point.kernel);
        const auto* config = std::get_if<MmaMultistageConfig>(&id.config.family);
        const GemmSpec spec = with_row_major_d(resolved(point.spec));
        if (config == nullptr || !(point.us > 0) || id.signature != signature(spec)) return std::nullopt;
        return mma_cost_inputs(spec, *config, geometry(id.signature, *config));
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

FitData data_of(const std::vector<FitPoint>& points, const GpuModel& gpu) {
    FitData data{.observations = {}, .problems = 0, .gpu = gpu, .left_out = 0};
    std::map<std::string, std::size_t> problems;
    for (const FitPoint& point : points) {
        std::optional<MmaCostInputs> inputs = inputs_of(point);
        if (!inputs || mma_pipeline_cost(*inputs, gpu, mma_cost_constants(gpu)).blocks_per_sm == 0) {
            ++data.left_out;
            continue;
        }
        const std::size_t problem = problems.emplace(to_string(inputs->spec), problems.size()).first->second;
        data.observations.push_back({*inputs, point.us, problem});
    }
    data.problems = problems.size();
    weigh(data);
    return data;
}

double log_error(const Observation& one, const GpuModel& gpu, const MmaCostConstants& constants) {
    return std::log(mma_pipeline_cost(one.inputs, gpu, constants).total_us / one.us);
}

/// The start's constants, each times e to the power of its change.
MmaCostConstants changed(const MmaCostConstants& start, const std::vector<double>& change) {
    MmaCostConstants constants = start;
    const auto fields = mma_cost_fields();
    for (std::size_t i = 0; i < fields.size(); ++i) constants.*fields[i].member *= std::exp(change[i]);
    return constants;
}

/// Fitted to the problems that `fitted` is true of.
template <typename Fitted>
MmaCostConstants fitted_constants(const FitData& data, const MmaCostConstants& start, const FitOptions& options,
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
        const MmaCostConstants constants = changed(start, change);
        std::vector<double> values;
        values.reserve(used.size() + change.size());
        for (const Observation* one : used)
            values.push_back(std::sqrt(one->weight * points) * log_error(*one, data.gpu, constants));
        for (const double one : change) values.push_back(options.doubt / options.freedom * one);
        return values;
    };
    LeastSquaresOptions solver;
    solver.bound = std::log(options.most_change);
    solver.iterations = options.iterations;
    return changed(start, least_squares(residuals, std::vector<double>(mma_cost_fields().size()), solver));
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
        const double off = log_error(one, data.gpu, constants_of(one.problem));
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

std::optional<FitError> held_out_error(const FitData& data, const MmaCostConstants& start, const FitOptions& options) {
    const auto folds = std::min(static_cast<std::size_t>(std::max(options.folds, 2)), data.problems);
    if (folds < 2) return std::nullopt;
    std::vector<MmaCostConstants> of_fold;
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

FitResult fit_mma_constants(const std::vector<FitPoint>& points, const GpuModel& gpu, const FitOptions& options) {
    const FitData data = data_of(points, gpu);
    if (data.observations.empty())
        throw Error(fmt::format(
            "nothing to fit: none of {} measurements is a timed mma_multistage kernel of its problem", points.size()));
    FitResult result;
    result.start = mma_cost_constants(gpu);
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
    for (const MmaCostField& field : mma_cost_fields())
        constants += fmt::format("{}.{} = {:.4g}", constants.empty() ? "" : ",\n                   ", field.name,
                                 result.constants.*field.member);
    return row + "     .constants = {" + constants + "}},\n";
}

std::string fit_text(const FitResult& result, const GpuModel& gpu) {
    std::string text = fmt::format("{} timings of {} problems on {} ({} left out)\n", result.points,
                                   result.after.problems, gpu.name, result.left_out);
    text += error_text("before", result.before) + error_text("after", result.after);
    if (result.held_out) text += error_text("held out", *result.held_out);
    for (const MmaCostField& field : mma_cost_fields())
        text += fmt::format("  {:<24} {:>10.4g} -> {:<10.4g}\n", field.name, result.start.*field.member,
                            result.constants.*field.member);
    return text;
}

}  // namespace jitgemm::tuning
