#include "runtime/cli/kernels/set_options.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/tuning/store/tuned_kernel_set.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <fmt/format.h>

#include <string_view>

namespace jitgemm::cli {

void SetOptions::declare_limits(CLI::App& app) {
    app.add_option("--most", most, "Number of kernels to compile at most")->capture_default_str();
    app.add_option("--mean", set.least_mean, "Enough: the geometric mean of best time over served time, as predicted")
        ->capture_default_str();
    app.add_option("--worst", set.least_worst, "Enough: the least of these ratios")->capture_default_str();
}

void SetOptions::check_limits() const {
    if (most < 1) throw UsageError(fmt::format("--most is {}: a set has 1 kernel or more", most));
    const auto check_ratio = [](std::string_view name, double ratio) {
        if (!(ratio > 0 && ratio <= 1))
            throw UsageError(fmt::format("--{} is {}: a ratio of times is above 0 and at most 1", name, ratio));
    };
    check_ratio("mean", set.least_mean);
    check_ratio("worst", set.least_worst);
}

KernelSetOptions SetOptions::limits() const {
    KernelSetOptions limits = set;
    limits.most_bodies = static_cast<std::size_t>(most);
    return limits;
}

ChosenSet choose_set(SetOptions& options) {
    options.check_limits();
    const RowRange rows = options.problem.take_row_range();
    const GemmSpec spec = options.problem.problem().spec;
    const Target target = choose_target(options.problem);
    const Options settings = options.problem.options();
    const tuning::TunedChoices choices =
        tuning::tuned_choices(settings, target.gpu, TemplateSet::from_directory(settings.template_directory));
    return {tuning::tuned_kernel_set(spec, rows.first, rows.last, target.gpu, options.problem.selection(), choices,
                                     options.limits()),
            target};
}

}  // namespace jitgemm::cli
