#include "tests/support/kernel_checks.hpp"

#include "generator/heuristics.hpp"
#include "tests/catch.hpp"

namespace jitgemm::testing {

GemmSpec f16(GemmSpec spec, DataType accumulator, DataType d) {
    spec.a = spec.b = DataType::f16;
    spec.d = d;
    spec.accumulator = accumulator;
    return spec;
}

GemmKernel check_kernel(Context& context, const GemmSpec& spec, const KernelConfig& config,
                        const VerifyOptions& options) {
    GemmKernel kernel = state_of(context).build(spec, config);
    const Verification verdict = verify(state_of(context), kernel, options);
    INFO(to_string(spec) << "\n" << kernel.info().name << "\n" << verdict.message);
    CHECK(verdict.ok);
    return kernel;
}

GemmKernel check_chosen(Context& context, const GemmSpec& spec, const VerifyOptions& options) {
    return check_kernel(context, spec, choose_config(spec, state_of(context).device->model()), options);
}

GemmKernel check_with(Context& context, const GemmSpec& spec, const std::string& parameters,
                      const VerifyOptions& options) {
    return check_kernel(context, spec, with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters)), options);
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
