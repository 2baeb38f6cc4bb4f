#include "runtime/cli/kernels/set_options.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/tuning/store/tuned_kernel_set.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace jitgemm::cli {

void SetLimits::declare(CLI::App& app) {
    declared_ = {
        app.add_option("--most", most_, "Number of kernels to compile at most")->capture_default_str(),
        app.add_option("--mean", set_.least_mean,
                       "Enough: the geometric mean of best time over served time, as predicted")
            ->capture_default_str(),
        app.add_option("--worst", set_.least_worst, "Enough: the least of these ratios")->capture_default_str()};
}

KernelSetOptions SetLimits::options() const {
    if (most_ < 1) throw UsageError(fmt::format("--most is {}: a set has 1 kernel or more", most_));
    const auto check_ratio = [](std::string_view name, double ratio) {
        if (!(ratio > 0 && ratio <= 1))
            throw UsageError(fmt::format("--{} is {}: a ratio of times is above 0 and at most 1", name, ratio));
    };
    check_ratio("mean", set_.least_mean);
    check_ratio("worst", set_.least_worst);
    KernelSetOptions options = set_;
    options.most_bodies = static_cast<std::size_t>(most_);
    return options;
}

bool SetLimits::are_given() const {
    return std::ranges::any_of(declared_, [](const CLI::Option* one) { return one->count() > 0; });
}

ChosenSet choose_set(SetOptions& options) {
    const KernelSetOptions limits = options.limits.options();
    const RowRange rows = options.problem.take_row_range();
    const GemmSpec spec = options.problem.problem().spec;
    Target target = choose_target(options.problem);
    const Options settings = options.problem.options();
    const Selection selection = options.problem.selection();
    const TemplateSet templates = TemplateSet::from_directory(settings.template_directory);
    const tuning::TunedChoices choices = tuning::tuned_choices(settings, target.gpu, templates);
    const tuning::TunedSets sets = tuning::tuned_sets(settings, target.gpu, templates);
    KernelSet set = options.limits.are_given()
                        ? tuning::tuned_kernel_set(spec, rows.first, rows.last, target.gpu, selection, choices, limits)
                        : tuning::serving_kernel_set(spec, rows.first, rows.last, target.gpu, selection, choices, sets);
    return {std::move(set), std::move(target)};
}

}  // namespace jitgemm::cli
