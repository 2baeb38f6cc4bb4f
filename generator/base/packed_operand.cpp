#include "generator/base/packed_operand.hpp"

namespace jitgemm {
namespace {

constexpr std::int64_t kBoundary = 256;  // of the parts of a workspace, bytes

}  // namespace

std::int64_t PackedOperand::workspace_bytes() const { return round_up(packed_bytes(), kBoundary); }

PackedOperand packed_a(const GemmSpec& spec) {
    const bool is_transposed = transposes_a(spec);
    if (order_a(spec.layout) == Order::row || is_transposed) return {spec.m, spec.k, bytes(spec.a), is_transposed};
    return {spec.k, spec.m, bytes(spec.a)};
}

PackedOperand packed_b(const GemmSpec& spec) {
    const bool is_transposed = transposes_b(spec);
    if (order_b(spec.layout) == Order::row && !is_transposed) return {spec.k, spec.n, bytes(spec.b)};
    return {spec.n, spec.k, bytes(spec.b), is_transposed};
}

std::int64_t packed_offset(ArgumentRole role, const GemmSpec& spec) {
    const bool behind_a = role.name == "b" && copies_a(spec);
    return behind_a ? packed_a(spec).workspace_bytes() : 0;
}

}  // namespace jitgemm
