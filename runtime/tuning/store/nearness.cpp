#include "runtime/tuning/store/nearness.hpp"

#include "generator/base/operand.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace jitgemm::tuning {
namespace {

/// 0 if all problems share a matrix.
std::int64_t kind_of_stride(std::int64_t stride) { return stride == 0 ? 0 : kPackedBatch; }

std::array<double, 4> measures_of(const GemmSpec& spec) {
    const auto problems = static_cast<double>(has_groups(spec) ? spec.groups : spec.batch);
    const double of_rows = is_grouped(spec) ? problems : 1, of_k = is_grouped_by_k(spec) ? problems : 1;
    return {static_cast<double>(expected_rows(spec)) / of_rows, static_cast<double>(spec.n),
            static_cast<double>(expected_k(spec)) / of_k, problems};
}

}  // namespace

GemmSpec class_of(GemmSpec spec) {
    spec.m = spec.n = spec.k = 0;
    spec.lda = spec.ldb = spec.ldc = spec.ldd = 0;
    spec.expected_rows = 0;
    if (is_batched(spec) || is_grouped_by_k(spec)) spec.batch = 2;
    if (has_groups(spec)) spec.groups = 1;
    if (spec.group_rows != 0) spec.group_rows = 1;
    if (is_gathered(spec)) spec.source_rows = 1;
    for (std::int64_t* const stride :
         {&spec.batch_stride_a, &spec.batch_stride_b, &spec.batch_stride_c, &spec.batch_stride_d})
        *stride = kind_of_stride(*stride);
    if (spec.outer) {
        const OuterBatch& outer = *spec.outer;
        spec.outer = OuterBatch{.inner = 1,
                                .stride_a = kind_of_stride(outer.stride_a),
                                .stride_b = kind_of_stride(outer.stride_b),
                                .stride_c = kind_of_stride(outer.stride_c),
                                .stride_d = kind_of_stride(outer.stride_d)};
    }
    for (const auto& [name, layout] : layouts_of(spec.epilogue))
        spec.epilogue = spec.epilogue.with(name, {.ld = layout.ld,
                                                  .align = layout.align,
                                                  .batch_stride = kind_of_stride(layout.batch_stride),
                                                  .outer_stride = kind_of_stride(layout.outer_stride)});
    return spec;
}

bool are_of_one_kind(const GemmSpec& left, const GemmSpec& right) {
    return has_groups(left) == has_groups(right) && left.ragged == right.ragged &&
           is_gathered(left) == is_gathered(right) && left.pointers == right.pointers;
}

double distance_between(const GemmSpec& left, const GemmSpec& right) {
    const std::array<double, 4> of_left = measures_of(left), of_right = measures_of(right);
    double sum = 0;
    for (std::size_t i = 0; i < of_left.size(); ++i) {
        const double octaves = of_left.at(i) == of_right.at(i) ? 0 : std::log2(of_left.at(i) / of_right.at(i));
        sum += octaves * octaves;
    }
    return std::sqrt(sum);
}

std::string sizes_of(const GemmSpec& spec) {
    std::string text = fmt::format("{}x{}x{}", spec.m, spec.n, spec.k);
    if (has_groups(spec)) return text + fmt::format(" of {} groups", spec.groups);
    return is_batched(spec) ? text + fmt::format(" in a batch of {}", spec.batch) : text;
}

}  // namespace jitgemm::tuning
