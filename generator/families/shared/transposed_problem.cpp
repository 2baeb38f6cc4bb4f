#include "generator/families/shared/transposed_problem.hpp"

#include <utility>

namespace jitgemm {

GemmSpec transposed_problem(const GemmSpec& row_major) {
    GemmSpec turned = row_major;
    turned.d_order = Order::column;  // as if D were, so that the operands change places
    return with_row_major_d(turned);
}

GemmSignature transposed_problem(const GemmSignature& signature) {
    GemmSignature turned = signature;
    std::swap(turned.a, turned.b);
    std::swap(turned.align_a, turned.align_b);
    turned.layout = with_row_major_d({.layout = signature.layout, .d_order = Order::column}).layout;
    return turned;
}

}  // namespace jitgemm
