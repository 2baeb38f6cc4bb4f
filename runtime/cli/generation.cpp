#include "runtime/cli/generation.hpp"

#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/target.hpp"

#include <fmt/format.h>

namespace jitgemm::cli {

GeneratedKernel generate_kernel(const ProblemOptions& problem, Output& output) {
    GeneratedKernel kernel;
    kernel.problem = problem_of(problem.problem().spec);
    const Target target = choose_target(problem);
    if (target.assumed) output.note(fmt::format("jitgemm: generating for {}", describe(target)));
    const KernelConfig config = choose_kernel(problem, kernel.problem, target).config;
    kernel.source = generate(kernel.problem, config, *target.gpu.arch,
                             TemplateSet::from_directory(problem.options().template_directory));
    return kernel;
}

CompiledKernel compile_kernel(const GeneratedKernel& kernel, const CompileRequest& request, const Options& options,
                              Output& output) {
    const std::shared_ptr<Compiler> compiler = announced(compiler_of(options, newest_major_of_machine()), output);
    KernelCache cache = cache_of(options);
    CompiledKernel compiled = cache.get_or_compile(request, *compiler, dump(kernel.source, kernel.problem)).kernel;
    stop_if_interrupted();
    return compiled;
}

}  // namespace jitgemm::cli
