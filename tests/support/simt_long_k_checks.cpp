#include "tests/support/simt_long_k_checks.hpp"
#include "tests/support/one_in.hpp"

namespace jitgemm::testing {
namespace {

/// The i-th mix of types of C and D, D's order and padding.
GemmSpec mixed_long_k(GemmLayout layout, const Sizes& size, std::size_t i) {
    using enum DataType;
    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], f32);
    spec.d = std::array{f32, f32, bf16, f16}.at(i % 4);
    if (i % 3 == 1) spec.c = std::array{f32, bf16, f16}.at(i % 7 % 3);
    if (i % 5 == 3) spec.d_order = Order::column;
    return i % 4 == 1 ? with_row_padding(spec, {.a = 1, .b = 2, .c = 3, .d = 5}) : spec;
}

}  // namespace

void check_long_k_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes, Share share) {
    std::size_t number = 0;
    OneIn tried(share == Share::all ? 1 : 2);
    for (const std::string_view variant : kLongKVariants) {
        const std::size_t i = static_cast<std::size_t>(layout) + ++number;
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            if (!is_taken(share, layout, number, size) || !tried.next()) continue;
            const GemmSpec spec = mixed_long_k(layout, sizes[size], i);
            const VerifyOptions options{.alpha = i % 2 == 0 ? 1.0F : 0.5F, .beta = spec.c ? 2.0F : 0.0F};
            const KernelConfig config = with_parameters({SimtLongKConfig{}}, parse_parameters(variant));
            static_cast<void>(check_kernel(context, spec, config, options));
        }
    }
}

}  // namespace jitgemm::testing
