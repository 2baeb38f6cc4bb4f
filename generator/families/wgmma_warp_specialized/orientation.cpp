#include "generator/families/wgmma_warp_specialized/orientation.hpp"

#include <utility>

namespace jitgemm {

GemmSpec as_multiplied(const GemmSpec& row_major, const WgmmaWarpSpecializedConfig& config) {
    if (!config.swap_ab) return row_major;
    GemmSpec turned = row_major;
    turned.d_order = Order::column;  // as if D were, so that the operands change places
    return with_row_major_d(turned);
}

GemmSignature as_multiplied(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config) {
    if (!config.swap_ab) return signature;
    GemmSignature turned = signature;
    std::swap(turned.a, turned.b);
    std::swap(turned.align_a, turned.align_b);
    turned.layout = with_row_major_d({.layout = signature.layout, .d_order = Order::column}).layout;
    return turned;
}

}  // namespace jitgemm
