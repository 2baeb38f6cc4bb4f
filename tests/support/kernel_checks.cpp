#include "tests/support/kernel_checks.hpp"

#include "generator/heuristics.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "tests/catch.hpp"

#include <cstddef>
#include <vector>

namespace jitgemm::testing {

GemmSpec f16(GemmSpec spec, DataType accumulator, DataType d) {
    spec.a = spec.b = DataType::f16;
    spec.d = d;
    spec.accumulator = accumulator;
    return spec;
}

GemmKernel check_kernel(Context& context, const GemmSpec& spec, const KernelConfig& config,
                        const VerifyOptions& options) {
    GemmKernel kernel = state_of(context).build(problem_of(spec), config);
    const Verification verdict = verify(state_of(context), kernel, options);
    INFO(to_string(spec) << "\n" << kernel.info().name << "\n" << verdict.message);
    CHECK(verdict.ok);
    return kernel;
}

GemmKernel check_chosen(Context& context, const GemmSpec& spec, const VerifyOptions& options) {
    return check_kernel(context, spec, choose_config(problem_of(spec), state_of(context).device->model()), options);
}

GemmKernel check_with(Context& context, const GemmSpec& spec, const std::string& parameters,
                      const VerifyOptions& options) {
    return check_kernel(context, spec, with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters)), options);
}

void check_same_bits(Context& context, const GemmSpec& asked, const KernelConfig& config,
                     const std::function<void()>& between_launches) {
    const GemmSpec spec = resolved(asked);
    const GemmKernel kernel = check_kernel(context, spec, config);
    Device& device = *state_of(context).device;
    GuardedProblem problem(state_of(context), spec, InputKind::normal, 5, 1.0F, 0.0F);
    std::vector<std::byte> first(static_cast<std::size_t>(spec.m * spec.ldd * bytes(spec.d)));
    std::vector<std::byte> again(first.size());
    problem.run(kernel);
    device.copy_to_host(first.data(), problem.arguments().d, first.size());
    if (between_launches) between_launches();
    problem.run(kernel);
    device.copy_to_host(again.data(), problem.arguments().d, again.size());
    CHECK(first == again);
    CHECK(problem.check().ok);
}

void check_unread_operands(GemmSpec spec, const std::function<void(const GemmSpec&, const VerifyOptions&)>& check) {
    spec.c = spec.d;
    check(spec, {.alpha = 1.0F, .beta = 0.0F});
    check(spec, {.alpha = 0.0F, .beta = 1.0F});
    spec.k = 0;
    check(spec, {.alpha = 1.0F, .beta = 1.0F});
    spec.c.reset();
    check(spec, {});
}

}  // namespace jitgemm::testing
