#include "tests/support/symmetric_checks.hpp"

#include "generator/heuristics.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "tests/catch.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace jitgemm::testing {
namespace {

constexpr float kAlpha = 0.7F;

/// D's elements, row by row and problem by problem, as the kernel makes them of one A and, where it takes one, a B that
/// is A's memory.
std::vector<std::byte> elements_of_d(Context& context, const GemmKernel& kernel) {
    const GemmSpec spec = resolved(kernel.spec());
    GuardedProblem problem(state_of(context), spec, InputKind::normal, 5, spec.epilogue.empty() ? kAlpha : 1.0F, 0.0F);
    GemmArguments arguments = problem.arguments();
    arguments.b = arguments.a;
    kernel.launch(arguments);
    Device& device = *state_of(context).device;
    device.synchronize(nullptr);
    const GemmOperand d = *gemm_operands(spec).find("d");
    const auto element = static_cast<std::size_t>(bytes(spec.d));
    std::vector<std::byte> all(static_cast<std::size_t>(d.extent()) * element);
    if (!all.empty()) device.copy_to_host(all.data(), arguments.d, all.size());
    std::vector<std::byte> packed;
    for (std::int64_t matrix = 0; matrix < d.matrices(); ++matrix)
        for (std::int64_t row = 0; row < d.rows; ++row)
            for (std::int64_t column = 0; column < d.columns; ++column) {
                const std::int64_t line = d.order == Order::row ? row : column;
                const std::int64_t place = d.order == Order::row ? column : row;
                const std::int64_t at = matrix * d.batch_stride + line * d.leading_dimension() + place;
                const auto* const from = &all[static_cast<std::size_t>(at) * element];
                packed.insert(packed.end(), from, from + element);
            }
    return packed;
}

/// Elements that differ from those across the diagonal.
std::size_t unequal_pairs(const std::vector<std::byte>& d, const GemmSpec& spec) {
    const auto element = static_cast<std::size_t>(bytes(spec.d));
    const auto n = static_cast<std::size_t>(spec.n);
    std::size_t count = 0;
    for (std::size_t matrix = 0; n != 0 && matrix < d.size() / (n * n * element); ++matrix)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const std::byte* const of_matrix = d.data() + matrix * n * n * element;
                const auto at = [&](std::size_t row, std::size_t column) {
                    return of_matrix + (row * n + column) * element;
                };
                count += std::memcmp(at(i, j), at(j, i), element) != 0 ? 1 : 0;
            }
    return count;
}

bool has_one_order(const KernelConfig& config) {
    const auto* const wgmma = std::get_if<WgmmaWarpSpecializedConfig>(&config.family);
    return wgmma == nullptr || wgmma->stream_k == 0;
}

}  // namespace

GemmSpec symmetric_of(GemmLayout layout, std::int64_t m, std::int64_t k, DataType type) {
    GemmSpec spec = spec_of(layout, m, m, k, type);
    spec.symmetric = true;
    return spec;
}

KernelConfig symmetric_config(const GemmSpec& spec, std::string_view variant) {
    WgmmaWarpSpecializedConfig config = wgmma_config(variant);
    const GemmSpec whole = resolved(spec);
    constexpr int kWholeBytes = 16;
    if (whole.align_d < kWholeBytes || whole.n * bytes(whole.d) % kWholeBytes != 0) config.store = OutputStore::shared;
    if (has_promoted_sums(spec)) config.promote = 128;
    return {config};
}

void check_symmetric(Context& context, const GemmSpec& spec, const KernelConfig& config, const VerifyOptions& options) {
    const GemmKernel kernel = check_kernel(context, spec, config, options);
    INFO(to_string(spec) << "\n" << kernel.info().name);
    const std::vector<std::byte> d = elements_of_d(context, kernel);
    CHECK(unequal_pairs(d, spec) == 0);
    if (!has_one_order(config)) return;
    GemmSpec full = resolved(spec);  // whose B lies as A does
    full.symmetric = false;
    const bool is_full = elements_of_d(context, state_of(context).build(problem_of(full), config)) == d;
    CHECK(is_full);
}

void check_symmetric_choice(Context& context, const GemmSpec& spec, const VerifyOptions& options) {
    check_symmetric(context, spec, choose_config(problem_of(spec), state_of(context).device->model()), options);
}

}  // namespace jitgemm::testing
