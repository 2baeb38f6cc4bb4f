#include "generator/base/prepared_form.hpp"

#include "generator/base/operand.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// Kernels read a copy of the operand, or may do so. FP32 cores read f32 as it lies.
bool is_copied(bool copies, const GemmSpec& spec) {
    return copies && (bytes(spec.a) != bytes(DataType::f32) || spec.math != Math::ieee);
}

}  // namespace

std::string to_string(const PreparedForm& form) {
    const std::string lines = fmt::format("{} lines of k={}", form.lines, form.k);
    if (form.parts != Math::ieee)
        return fmt::format("{} in parts of {}, {}", to_string(form.type), to_string(form.parts), lines);
    return fmt::format("{}, {}, {}, pitch {}", to_string(form.type), lines,
                       form.is_k_major ? "K contiguous" : "side by side", form.pitch);
}

Preparation preparation_of(Prepared operand, const GemmSpec& spec) {
    const bool is_a = operand == Prepared::a;
    const PackedOperand copy = is_a ? packed_a(spec) : packed_b(spec);
    const bool is_k_major = is_a ? order_a(spec.layout) == Order::row : order_b(spec.layout) == Order::column;
    const bool transposes = is_a ? transposes_a(spec) : transposes_b(spec);
    Preparation made{.form = {.type = is_a ? spec.a : spec.b,
                              .is_k_major = is_k_major,
                              .lines = is_a ? spec.m : spec.n,
                              .k = spec.k,
                              .pitch = is_a ? spec.lda : spec.ldb},
                     .copies = is_copied(is_a ? copies_a(spec) : copies_b(spec), spec),
                     .copy = copy};
    if (!made.copies) return made;
    made.form.is_k_major = is_k_major || transposes || has_parts(spec);
    made.form.pitch = copy.pitch();
    if (has_parts(spec)) made.form.parts = spec.math;
    return made;
}

GemmSpec as_prepared(const GemmSpec& resolved) {
    if (has_parts(resolved)) return resolved;
    GemmSpec result = resolved;
    result.prepared = Prepared::none;
    Order a = order_a(resolved.layout), b = order_b(resolved.layout);
    const auto take = [&](Prepared operand, Order& order, Order k_major, std::int64_t& pitch, int& alignment) {
        const Preparation made = preparation_of(operand, resolved);
        if (!made.copies) return;
        order = made.form.is_k_major ? k_major : flipped(k_major);
        pitch = made.form.pitch;
        alignment = kTmaAlignment;
    };
    if (is_prepared_a(resolved)) take(Prepared::a, a, Order::row, result.lda, result.align_a);
    if (is_prepared_b(resolved)) take(Prepared::b, b, Order::column, result.ldb, result.align_b);
    result.layout = layout_of(a, b);
    return result;
}

}  // namespace jitgemm
