#include "generator/base/packed_operand.hpp"

namespace jitgemm {
namespace {

constexpr std::int64_t kBoundary = 256;  // of the parts of a workspace, bytes

}  // namespace

std::int64_t PackedOperand::workspace_bytes() const { return round_up(packed_bytes(), kBoundary); }

PackedOperand packed_a(const GemmSpec& row_major) {
    if (order_a(row_major.layout) == Order::row) return {row_major.m, row_major.k, bytes(row_major.a)};
    return {row_major.k, row_major.m, bytes(row_major.a)};
}

PackedOperand packed_b(const GemmSpec& row_major) {
    if (order_b(row_major.layout) == Order::row) return {row_major.k, row_major.n, bytes(row_major.b)};
    return {row_major.n, row_major.k, bytes(row_major.b)};
}

std::int64_t packed_offset(ArgumentRole role, const GemmSpec& row_major) {
    const bool behind_a = role.name == "b" && needs_packing(row_major.align_a);
    return behind_a ? packed_a(row_major).workspace_bytes() : 0;
}

}  // namespace jitgemm
