#include "generator/families/shared/orientation.hpp"

#include <utility>

namespace jitgemm {

GemmSpec as_multiplied(const GemmSpec& row_major, bool swap_ab) {
    GemmSpec turned = row_major;
    if (!swap_ab) return turned;
    turned.d_order = Order::column;  // as if D were, so that the operands change places
    return with_row_major_d(turned);
}

GemmSignature as_multiplied(const GemmSignature& signature, bool swap_ab) {
    GemmSignature turned = signature;
    if (!swap_ab) return turned;
    std::swap(turned.a, turned.b);
    std::swap(turned.align_a, turned.align_b);
    turned.layout = with_row_major_d({.layout = signature.layout, .d_order = Order::column}).layout;
    return turned;
}

void turn_tiles(KernelAnatomy& anatomy) {
    for (TileShape* tile : {&anatomy.block, &anatomy.warp, &anatomy.mma}) std::swap(tile->m, tile->n);
}

}  // namespace jitgemm
