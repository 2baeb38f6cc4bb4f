#include "runtime/export/export_dispatcher.hpp"

#include "generator/base/spec_text.hpp"
#include "runtime/export/export_dispatcher_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace jitgemm {
namespace {

/// Whether one launcher serves both: the caller's operands are the same ones of the kernel.
bool have_one_form(const Problem& left, const Problem& right) {
    const GemmSpec one = as_lines(left.asked);
    const GemmSpec other = as_lines(right.asked);
    return left.transposed == right.transposed && one.layout == other.layout && one.d_order == other.d_order;
}

/// A larger m that the kernel of m = 1 serves as well; 0: there is none.
std::int64_t larger_m_of_kernel(const KernelSet& set, std::size_t kernel) {
    const auto range = std::ranges::find_if(
        set.ranges, [&](const KernelRange& one) { return one.kernel == kernel && one.last_m > 1; });
    return range == set.ranges.end() ? 0 : range->last_m;
}

std::string kernel_names(const KernelSet& set) {
    std::string text;
    for (const SetKernel& kernel : set.kernels) text += fmt::format("    \"{}\",\n", kernel_name(kernel.id));
    return text;
}

std::string ranges_text(const KernelSet& set) {
    std::string text;
    for (const KernelRange& range : set.ranges)
        text += fmt::format("    {{{}, {}, {}}},\n", range.first_m, range.last_m, range.kernel);
    return text;
}

std::string classes_text(const KernelSet& set) {
    std::string text;
    for (std::size_t first = 0, end = 0; first < set.ranges.size(); first = end) {
        while (end < set.ranges.size() && set.ranges[end].multiple == set.ranges[first].multiple) ++end;
        text += fmt::format("    {{{}, {}, {}}},\n", set.ranges[first].multiple, first, end);
    }
    return text;
}

/// Leading dimensions that follow m. The others are those of the exported problem.
std::string pitches_of(const LauncherInput& launcher) {
    std::string text;
    if (launcher.first_m == launcher.last_m) return text;
    for (const GemmOperand& operand : launcher.operands) {
        if (is_pitched_by_m(operand, launcher.problem.asked))
            text += fmt::format("    problem.{} = m;\n", to_string({operand.name, ArgumentPart::pitch}));
    }
    return text;
}

struct LaunchersText {
    std::string includes;
    std::string fields;
    std::string loads;
    std::string unloads;
    std::string functions;
    std::string cases;
};

LaunchersText launchers_text(const DispatcherInput& input) {
    LaunchersText text;
    for (std::size_t i = 0; i < input.launchers.size(); ++i) {
        const LauncherInput& launcher = input.launchers[i];
        const auto of_launcher = [&](std::string_view form) {
            return filled(form, {{"KERNEL", launcher.name},
                                 {"CUBIN", launcher.cubin},
                                 {"PITCHES", pitches_of(launcher)},
                                 {"I", std::to_string(i)}});
        };
        text.includes += of_launcher("#include \"@KERNEL@.h\"\n");
        text.fields += of_launcher("    @KERNEL@_kernel kernel_@I@;\n");
        text.loads += of_launcher(export_text::kDispatcherLoad);
        text.unloads += of_launcher(export_text::kDispatcherUnload);
        text.functions += of_launcher(export_text::kDispatcherLaunch);
        text.cases += of_launcher("        case @I@: return launch_@I@(&kernels->kernel_@I@, m, arguments, stream);\n");
    }
    return text;
}

std::size_t largest_workspace(const std::vector<LauncherInput>& launchers) {
    std::size_t bytes = 0;
    for (const LauncherInput& launcher : launchers) bytes = std::max(bytes, launcher.workspace.bytes);
    return bytes;
}

}  // namespace

KernelSet with_own_single_row(KernelSet set) {
    const auto range =
        std::ranges::find_if(set.ranges, [](const KernelRange& one) { return one.multiple == 1 && one.first_m == 1; });
    if (range == set.ranges.end()) return set;
    const std::int64_t larger_m = larger_m_of_kernel(set, range->kernel);
    if (larger_m == 0 || have_one_form(set.problem(1), set.problem(larger_m))) return set;
    const SetKernel kernel = set.kernels[range->kernel];
    const KernelRange single{1, 1, 1, set.kernels.size()};
    if (range->last_m == 1) {
        *range = single;
    } else {
        range->first_m = 2;
        set.ranges.insert(range, single);
    }
    set.kernels.push_back(kernel);
    return set;
}

std::string dispatcher_header(const DispatcherInput& input) {
    const LaunchersText launchers = launchers_text(input);
    const LauncherInput& first = input.launchers.front();
    return filled(export_text::kDispatcherHeader,
                  {{"INCLUDES", launchers.includes},
                   {"KERNEL_FIELDS", launchers.fields},
                   {"SPEC", range_text(input.set.spec, input.set.first_m, input.set.last_m)},
                   {"FORMULA", formula(input.set.spec)},
                   {"FIRST_M", std::to_string(input.set.first_m)},
                   {"LAST_M", std::to_string(input.set.last_m)},
                   {"N", std::to_string(input.set.spec.n)},
                   {"K", std::to_string(input.set.spec.k)},
                   {"KERNELS", std::to_string(input.launchers.size())},
                   {"ARCH", std::string(first.source.arch->name)},
                   {"WORKSPACE_BYTES", std::to_string(largest_workspace(input.launchers))},
                   {"GUARD", upper(input.name) + "_H"},
                   {"UPPER", upper(input.name)},
                   {"NAME", input.name}});
}

std::string dispatcher_source(const DispatcherInput& input) {
    const LaunchersText launchers = launchers_text(input);
    return filled(export_text::kDispatcherSource, {{"NAMES", kernel_names(input.set)},
                                                   {"CLASSES", classes_text(input.set)},
                                                   {"RANGES", ranges_text(input.set)},
                                                   {"LOADS", launchers.loads},
                                                   {"UNLOADS", launchers.unloads},
                                                   {"LAUNCH_FUNCTIONS", launchers.functions},
                                                   {"CASES", launchers.cases},
                                                   {"FIRST_M", std::to_string(input.set.first_m)},
                                                   {"LAST_M", std::to_string(input.set.last_m)},
                                                   {"KERNELS", std::to_string(input.launchers.size())},
                                                   {"NAME", input.name}});
}

}  // namespace jitgemm
