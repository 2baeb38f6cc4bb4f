#include "generator/base/matrix_storage.hpp"

namespace jitgemm {
namespace {

MatrixStorage storage(DataType type, Order order, ArgumentRole rows, ArgumentRole columns, ArgumentRole pitch,
                      int alignment) {
    const bool by_row = order == Order::row;
    return {type, by_row ? columns : rows, by_row ? rows : columns, pitch, alignment};
}

}  // namespace

MatrixStorage storage_of(ArgumentRole role, const GemmSpec& spec) {
    using Role = ArgumentRole;
    switch (role) {
        case Role::a: return storage(spec.a, order_a(spec.layout), Role::m, Role::k, Role::lda, spec.align_a);
        case Role::b: return storage(spec.b, order_b(spec.layout), Role::k, Role::n, Role::ldb, spec.align_b);
        case Role::c: return storage(spec.c.value_or(spec.d), spec.d_order, Role::m, Role::n, Role::ldc, spec.align_c);
        default: return storage(spec.d, spec.d_order, Role::m, Role::n, Role::ldd, spec.align_d);
    }
}

std::int64_t extent(ArgumentRole role, const GemmSpec& spec) {
    switch (role) {
        case ArgumentRole::m: return spec.m;
        case ArgumentRole::n: return spec.n;
        case ArgumentRole::k: return spec.k;
        case ArgumentRole::lda: return spec.lda;
        case ArgumentRole::ldb: return spec.ldb;
        case ArgumentRole::ldc: return spec.ldc;
        default: return spec.ldd;
    }
}

}  // namespace jitgemm
