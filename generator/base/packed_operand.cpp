#include "generator/base/packed_operand.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kBoundary = 256;  // of the parts of a workspace, bytes

PackedOperand in_parts(std::int64_t lines, const GemmSpec& spec, bool is_transposed) {
    const OperandParts parts = parts_of_math(spec.math);
    const std::int64_t groups = ceil_div<std::int64_t>(std::max<std::int64_t>(spec.k, 1), kGroupOfParts);
    return {lines, groups * parts.group_words(), bytes(DataType::f32), is_transposed, parts};
}

}  // namespace

std::int64_t PackedOperand::workspace_bytes() const {
    return round_up(packed_bytes(), kBoundary) +
           (parts && parts->are_scaled ? round_up(rows * kFactorBytes, kBoundary) : 0);
}

PackedOperand packed_a(const GemmSpec& spec) {
    if (has_parts(spec)) return in_parts(spec.m, spec, transposes_a(spec));
    const bool is_transposed = transposes_a(spec);
    if (order_a(spec.layout) == Order::row || is_transposed) return {spec.m, spec.k, bytes(spec.a), is_transposed};
    return {spec.k, spec.m, bytes(spec.a)};
}

PackedOperand packed_b(const GemmSpec& spec) {
    if (has_parts(spec)) return in_parts(spec.n, spec, transposes_b(spec));
    const bool is_transposed = transposes_b(spec);
    if (order_b(spec.layout) == Order::row && !is_transposed) return {spec.k, spec.n, bytes(spec.b)};
    return {spec.n, spec.k, bytes(spec.b), is_transposed};
}

std::int64_t packed_bytes(const GemmSpec& spec) {
    return (makes_copy_a(spec) ? packed_a(spec).workspace_bytes() : 0) +
           (makes_copy_b(spec) ? packed_b(spec).workspace_bytes() : 0);
}

std::int64_t packed_offset(ArgumentRole role, const GemmSpec& spec) {
    const bool behind_a = role.name == "b" && makes_copy_a(spec);
    return behind_a ? packed_a(spec).workspace_bytes() : 0;
}

}  // namespace jitgemm
