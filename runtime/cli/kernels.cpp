#include "generator/kernel_set.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/tuning/store/tuned_kernel_set.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>

namespace jitgemm::cli {
namespace {

struct KernelsOptions {
    ProblemOptions problem;
    KernelSetOptions set;
    std::int64_t most = 10;
};

void check(const KernelsOptions& options) {
    if (options.most < 1) throw UsageError(fmt::format("--most is {}: a set has 1 kernel or more", options.most));
    const auto check_ratio = [](std::string_view name, double ratio) {
        if (!(ratio > 0 && ratio <= 1))
            throw UsageError(fmt::format("--{} is {}: a ratio of times is above 0 and at most 1", name, ratio));
    };
    check_ratio("mean", options.set.least_mean);
    check_ratio("worst", options.set.least_worst);
}

int kernels(KernelsOptions& options, Output& output) {
    check(options);
    const RowRange rows = options.problem.take_row_range();
    const GemmSpec spec = options.problem.problem().spec;
    const Target target = choose_target(options.problem);
    const Options settings = options.problem.options();
    options.set.most_bodies = static_cast<std::size_t>(options.most);
    const tuning::TunedChoices choices =
        tuning::tuned_choices(settings, target.gpu, TemplateSet::from_directory(settings.template_directory));
    const KernelSet set = tuning::tuned_kernel_set(spec, rows.first, rows.last, target.gpu, options.problem.selection(),
                                                   choices, options.set);
    output.text(to_string(set));
    output.document(Json::parse(to_json(set)));
    return kExitFine;
}

}  // namespace

Action declare_kernels(CLI::App& app) {
    auto options = std::make_shared<KernelsOptions>();
    options->problem.declare_for_target(app);
    app.add_option("--most", options->most, "Number of kernels to compile at most")->capture_default_str();
    app.add_option("--mean", options->set.least_mean,
                   "Enough: the geometric mean of best time over served time, as predicted")
        ->capture_default_str();
    app.add_option("--worst", options->set.least_worst, "Enough: the least of these ratios")->capture_default_str();
    return [options](Output& output) { return kernels(*options, output); };
}

}  // namespace jitgemm::cli
