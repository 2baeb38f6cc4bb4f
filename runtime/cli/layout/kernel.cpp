#include "generator/draw/kernel_page.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/layout/kernel_json.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"

#include <fmt/format.h>

#include <memory>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kSupposedExtent = 4096;  // of m, n and k where only a kernel is named

struct LayoutKernelOptions {
    ProblemOptions problem;
    LayoutFormat format{.format = "html", .file = {}, .unless_asked = {}};
};

KernelPage make_page(const ProblemOptions& problem, Output& output) {
    const GemmSpec spec = resolved(problem.problem().spec);
    const Target target = choose_target(problem);
    if (target.assumed) output.note(fmt::format("jitgemm: drawing for {}", describe(target)));
    return kernel_page(spec, choose_config(spec, target.gpu, problem.selection()), target.gpu);
}

int draw_kernel(LayoutKernelOptions& options, Output& output) {
    const std::string format = chosen_format(options.format, output);
    if (options.problem.set_default_size(kSupposedExtent))
        output.note(fmt::format("jitgemm: no size given: drawing a problem of {0}×{0}×{0}", kSupposedExtent));
    const KernelPage page = make_page(options.problem, output);
    if (format == "html") return write_answer(kernel_page_html(page), format, options.format, output);
    return show({kernel_page_text(page), to_json(page), tiling_picture(page)}, options.format, output);
}

}  // namespace

Action declare_layout_kernel(CLI::App& app) {
    auto options = std::make_shared<LayoutKernelOptions>();
    options->problem.declare_for_target(app);
    declare_format(app, options->format);
    return [options](Output& output) { return draw_kernel(*options, output); };
}

}  // namespace jitgemm::cli
