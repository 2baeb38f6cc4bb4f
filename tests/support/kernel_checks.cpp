#include "tests/support/kernel_checks.hpp"

#include "generator/heuristics.hpp"
#include "tests/catch.hpp"

namespace jitgemm::testing {

GemmSpec spec_of(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.layout = layout;
    return spec;
}

GemmSpec f16(GemmSpec spec, DataType accumulator, DataType d) {
    spec.a = spec.b = DataType::f16;
    spec.d = d;
    spec.accumulator = accumulator;
    return spec;
}

GemmKernel check_kernel(Context& context, const GemmSpec& spec, const KernelConfig& config,
                        const VerifyOptions& options) {
    GemmKernel kernel = context.impl().build(spec, config);
    const Verification verdict = verify(context.impl(), kernel, options);
    INFO(to_string(spec) << "\n" << kernel.info().name << "\n" << verdict.message);
    CHECK(verdict.ok);
    return kernel;
}

GemmKernel check_chosen(Context& context, const GemmSpec& spec, const VerifyOptions& options) {
    return check_kernel(context, spec, choose_config(spec, context.impl().device->model()), options);
}

GemmKernel check_with(Context& context, const GemmSpec& spec, const std::string& parameters,
                      const VerifyOptions& options) {
    return check_kernel(context, spec, with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters)), options);
}

}  // namespace jitgemm::testing
