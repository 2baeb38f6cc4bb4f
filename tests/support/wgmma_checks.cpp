#include "tests/support/wgmma_checks.hpp"

#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/support/one_in.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm::testing {
namespace {

constexpr std::int64_t kElements = 8;      // of 16 bytes
constexpr std::int64_t kSharedK = 7 * 64;  // with what a problem has: two pieces of four k-tiles

std::int64_t whole_vectors(std::int64_t pitch) { return (pitch + kElements - 1) / kElements * kElements; }

/// The i-th mix of types, D's order, C.
GemmSpec mixed(GemmLayout layout, const Sizes& size, std::size_t i) {
    using enum DataType;
    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], i % 3 == 0 ? f16 : bf16);
    if (i % 6 == 0) spec.accumulator = f16;
    spec.d = std::array{spec.a, f32, spec.a, bf16, f16}.at(i % 5);
    if (i % 4 == 1) spec.c = std::array{f32, bf16, f16}.at(i % 7 % 3);
    if (i % 7 == 3) spec.d_order = Order::column;
    return spec;
}

/// The tiles that the blocks of a cluster compute at once, and a rest.
Sizes within_one_cluster(const Sizes& size, std::string_view variant) {
    const auto config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant)))
                            .as<WgmmaWarpSpecializedConfig>();
    return {std::min<std::int64_t>(size[0], config.block.m * config.cluster.m + 8),
            std::min<std::int64_t>(size[1], config.block.n * config.cluster.n + 40), size[2]};
}

/// The problem with more of K, and the same residues and alignments.
GemmSpec with_shared_k(GemmSpec spec) {
    spec.k += kSharedK;
    if (spec.lda != 0) spec.lda += kSharedK;
    if (spec.ldb != 0) spec.ldb += kSharedK;
    return spec;
}

/// On the emulator, half of the cases are taken.
OneIn taken_on(const Context& context, int shift) {
    return OneIn(as_emulator(*state_of(context).device) != nullptr ? 2 : 1, shift);
}

}  // namespace

GemmSpec with_tma_pitches(const GemmSpec& spec) {
    GemmSpec padded = resolved(spec);
    padded.lda = whole_vectors(padded.lda);
    padded.ldb = whole_vectors(padded.ldb);
    padded.align_a = padded.align_b = padded.align_c = padded.align_d = 0;
    return resolved(padded);
}

void check_wgmma(Context& context, const GemmSpec& spec, std::string_view parameters, const VerifyOptions& options) {
    const Arch& arch = *state_of(context).device->model().arch;
    KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(parameters)));
    const bool shares_k = config.as<WgmmaWarpSpecializedConfig>().stream_k != 0 && spec.k != 0;
    GemmSpec constant = shares_k ? with_shared_k(spec) : spec;
    constant.constant_a = constant.constant_b = true;
    const Problem problem = problem_of(constant);
    for (const auto& [name, value] :
         {std::pair{"swap_ab", "0"}, std::pair{"store", "smem"}, std::pair{"early", "none"}})
        if (!family_of(config).violations(problem, config, arch).empty())
            config = with_parameters(config, {{name, value}});
    static_cast<void>(check_kernel(context, constant, config, options));
}

void check_wgmma_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes, Pitches pitches,
                          std::span<const std::string_view> variants) {
    std::size_t i = static_cast<std::size_t>(layout);
    OneIn tried = taken_on(context, static_cast<int>(layout));
    for (const std::string_view variant : variants) {
        ++i;
        for (const Sizes& size : sizes) {
            if (!tried.next()) continue;
            GemmSpec spec = mixed(layout, size, i);
            if (pitches == Pitches::of_tma) spec = with_tma_pitches(spec);
            check_wgmma(context, spec, variant, {.alpha = i % 2 == 0 ? 1.0F : 0.5F, .beta = spec.c ? 2.0F : 0.0F});
        }
    }
}

void check_wgmma_with_c(Context& context, const Sizes& size, std::span<const std::string_view> variants, Reach reach) {
    using enum DataType;
    constexpr std::array<std::array<DataType, 3>, 3> kTypes{{{bf16, f32, bf16}, {f16, f16, f16}, {bf16, f32, f32}}};
    std::size_t i = 0;
    OneIn tried = taken_on(context, 0);
    for (const std::string_view variant : variants) {
        if (variant.find("swap_ab=1") != std::string_view::npos) continue;  // reads no C
        const auto& [operands, sums, result] = kTypes.at(i++ % kTypes.size());
        if (!tried.next()) continue;
        const auto [m, n, k] = reach == Reach::all ? size : within_one_cluster(size, variant);
        GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, operands);
        spec.accumulator = sums;
        spec.d = result;
        spec.c = result;
        check_wgmma(context, spec, variant, {.alpha = 0.5F, .beta = 2.0F});
        spec.k = spec.lda = spec.ldb = 0;  // the ring holds zeros by turns with C
        check_wgmma(context, spec, variant, {.alpha = 0.5F, .beta = 2.0F});
    }
}

void check_wgmma_with_row_of_c(Context& context, const std::vector<Sizes>& sizes,
                               std::span<const std::string_view> variants) {
    using enum DataType;
    std::size_t i = 0;
    OneIn tried = taken_on(context, 1);
    for (const std::string_view variant : variants) {
        ++i;
        if (!tried.next()) continue;
        constexpr std::array<std::array<DataType, 4>, 5> kTypes{{{bf16, f32, bf16, bf16},
                                                                 {f16, f16, f16, f16},
                                                                 {bf16, f32, f32, bf16},
                                                                 {f16, f32, bf16, f32},
                                                                 {f16, f32, f16, f16}}};
        const auto& [operands, sums, c, result] = kTypes.at(i % kTypes.size());
        const Sizes& size = sizes[i / kLayouts.size() % sizes.size()];
        GemmSpec spec = spec_of(kLayouts[i % kLayouts.size()], size[0], size[1], size[2], operands);
        spec.accumulator = sums;
        spec.c = c;
        spec.d = result;
        spec.d_order = i % 3 == 0 ? Order::column : Order::row;
        spec.broadcast_c = true;
        const std::string parameters = std::string(variant) + ",broadcast_c=1";
        check_wgmma(context, spec, parameters, {.alpha = 0.5F, .beta = 2.0F});
        check_wgmma(context, with_tma_pitches(spec), parameters, {.alpha = 0.5F, .beta = -1.0F});
        check_wgmma(context, spec, parameters, {.alpha = 0.5F, .beta = 0.0F});  // whatever the row holds
    }
}

}  // namespace jitgemm::testing
