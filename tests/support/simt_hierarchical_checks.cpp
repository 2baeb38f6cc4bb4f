#include "tests/support/simt_hierarchical_checks.hpp"

namespace jitgemm::testing {
namespace {

/// The i-th mix of types, C and D's order.
GemmSpec mixed(GemmLayout layout, const Sizes& size, std::size_t i) {
    using enum DataType;
    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], std::array{f32, f32, f16, f32, bf16}.at(i % 5));
    spec.d = std::array{spec.d, f32, bf16, f16}.at(i % 4);
    if (i % 3 == 1) spec.c = std::array{f32, bf16, f16}.at(i % 7 % 3);
    if (i % 4 == 3) spec.d_order = Order::column;
    return spec;
}

KernelConfig config_of(std::string_view variant, const GemmSpec& spec) {
    ParameterMap parameters = parse_parameters(variant);
    if (spec.a != DataType::f32) {
        parameters["copy"] = "reg";
        parameters["stages"] = "2";
    }
    return with_parameters({SimtHierarchicalConfig{}}, parameters);
}

}  // namespace

void check_hierarchical_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes, Share share) {
    std::size_t i = 0, number = 0;
    for (const std::string_view variant : kHierarchicalVariants) {
        ++number;
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            if (!is_taken(share, layout, number, size)) continue;
            GemmSpec spec = mixed(layout, sizes[size], i++);
            if (variant.find("wave") != variant.npos) spec.d = DataType::f32;
            const VerifyOptions options{.alpha = i % 2 == 0 ? 1.0F : 0.5F, .beta = spec.c ? 2.0F : 0.0F};
            static_cast<void>(check_kernel(context, spec, config_of(variant, spec), options));
        }
    }
}

}  // namespace jitgemm::testing
