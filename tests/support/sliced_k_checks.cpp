#include "tests/support/sliced_k_checks.hpp"

#include "tests/support/wgmma_checks.hpp"

namespace jitgemm::testing {
namespace {

MmaSlicedKConfig config_with(std::string_view parameters) {
    return std::get<MmaSlicedKConfig>(with_parameters({MmaSlicedKConfig{}}, parse_parameters(parameters)).family);
}

}  // namespace

void check_sliced_k(Context& context, const GemmSpec& spec, std::string_view parameters, const VerifyOptions& options) {
    GemmSpec constant = spec;
    constant.constant_a = constant.constant_b = true;
    static_cast<void>(check_kernel(context, constant, {config_with(parameters)}, options));
}

void check_sliced_k_variants(Context& context, GemmLayout layout, const std::vector<LongProblem>& problems,
                             Share share) {
    using enum DataType;
    auto i = static_cast<std::size_t>(layout);
    std::size_t number = 0;
    for (const std::string_view variant : kSlicedKVariants) {
        ++number;
        for (std::size_t size = 0; size < problems.size(); ++size) {
            if (!is_taken(share, layout, number, size)) continue;
            const LongProblem& problem = problems[size];
            ++i;
            const MmaSlicedKConfig config = config_with(variant);
            const std::int64_t few = 1 + static_cast<std::int64_t>(i * 5) % config.block.n;
            // swap_ab is about rows of D as it is computed, row-major.
            const bool by_column = i % 7 == 3;
            const bool few_rows = config.swap_ab != by_column;
            GemmSpec spec = spec_of(layout, few_rows ? few : problem.extent, few_rows ? problem.extent : few, problem.k,
                                    i % 3 == 0 ? f16 : bf16);
            if (i % 6 == 0) spec.accumulator = f16;
            spec.d = std::array{spec.a, f32, spec.a, bf16, f16}.at(i % 5);
            if (i % 4 == 1) spec.c = std::array{f32, bf16, f16}.at(i % 7 % 3);
            if (by_column) spec.d_order = Order::column;
            // A D of one line lies both ways, and may turn, unless it is beside a C.
            if (as_lines(resolved(spec)).d_order != spec.d_order) spec.c = spec.d;
            check_sliced_k(context, with_tma_pitches(spec), variant,
                           {.alpha = i % 2 == 0 ? 1.0F : 0.5F, .beta = spec.c ? 2.0F : 0.0F});
        }
    }
}

}  // namespace jitgemm::testing
