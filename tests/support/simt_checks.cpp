#include "tests/support/simt_checks.hpp"

#include "generator/heuristics.hpp"

namespace jitgemm::testing {
namespace {

constexpr std::array kTypes{DataType::f32, DataType::f16, DataType::bf16};

/// The i-th problem of a kind: neighbours differ in everything but layout and sizes.
GemmSpec varied(std::size_t i, GemmLayout layout, const Sizes& sizes) {
    GemmSpec spec = spec_of(layout, sizes[0], sizes[1], sizes[2], kTypes.at(i % 3));
    spec.d = kTypes.at(i / 3 % 3);
    spec.d_order = i / 2 % 2 == 0 ? Order::row : Order::column;
    if (i % 4 != 0) spec.c = kTypes.at(i / 2 % 3);
    return spec;
}

VerifyOptions varied_scalars(std::size_t i, const GemmSpec& spec) {
    constexpr std::array kAlphas{1.0F, -0.5F, 2.0F};
    constexpr std::array kBetas{2.0F, 0.0F, -0.5F, 1.0F};
    return {.alpha = kAlphas.at(i % 3), .beta = spec.c ? kBetas.at(i / 2 % 4) : 0.0F};
}

}  // namespace

void check_simt_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes, Share share) {
    std::size_t i = 0, number = 0;
    for (const SimtVariant& variant : simt_variants()) {
        ++number;
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            if (!is_taken(share, layout, number, size)) continue;
            const GemmSpec spec = varied(i, layout, sizes[size]);
            static_cast<void>(check_kernel(context, spec, variant.config(), varied_scalars(i, spec)));
            ++i;
        }
    }
}

void check_simt_families(Context& context, const GemmSpec& spec, const VerifyOptions& options) {
    for (const std::string_view family : kSimtFamilies) {
        const Selection selection{.kernel = {}, .family = std::string(family), .parameters = {}};
        const KernelConfig config = choose_config(problem_of(spec), state_of(context).device->model(), selection);
        static_cast<void>(check_kernel(context, spec, config, options));
    }
}

}  // namespace jitgemm::testing
