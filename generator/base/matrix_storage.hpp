#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/packed_operand.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// \file In the header, as each launch asks it of each matrix.

/// A matrix of a problem as it lies in memory: `runs` rows (or columns) of `run` contiguous elements, `pitch` elements apart. Each is
/// the argument that has the number.
struct MatrixStorage {
    DataType type;
    ArgumentRole run;
    ArgumentRole runs;
    ArgumentRole pitch;
    int alignment;  ///< of each run, bytes
};

/// Of role a, b, c, d, packed_a or packed_b of a resolved spec; c of a spec that has one.
[[nodiscard]] inline MatrixStorage storage_of(ArgumentRole role, const GemmSpec& spec) {
    using Role = ArgumentRole;
    const auto storage = [](DataType type, Order order, Role rows, Role columns, Role pitch, int alignment) {
        const bool by_row = order == Order::row;
        return MatrixStorage{type, by_row ? columns : rows, by_row ? rows : columns, pitch, alignment};
    };
    switch (role) {
        case Role::a: return storage(spec.a, order_a(spec.layout), Role::m, Role::k, Role::lda, spec.align_a);
        case Role::b: return storage(spec.b, order_b(spec.layout), Role::k, Role::n, Role::ldb, spec.align_b);
        case Role::packed_a:
            return storage(spec.a, order_a(spec.layout), Role::m, Role::k, Role::packed_lda, kTmaAlignment);
        case Role::packed_b:
            return storage(spec.b, order_b(spec.layout), Role::k, Role::n, Role::packed_ldb, kTmaAlignment);
        case Role::c: return storage(spec.c.value_or(spec.d), spec.d_order, Role::m, Role::n, Role::ldc, spec.align_c);
        default: return storage(spec.d, spec.d_order, Role::m, Role::n, Role::ldd, spec.align_d);
    }
}

/// m, n, k or a leading dimension of a resolved spec.
[[nodiscard]] inline std::int64_t extent(ArgumentRole role, const GemmSpec& spec) {
    switch (role) {
        case ArgumentRole::m: return spec.m;
        case ArgumentRole::n: return spec.n;
        case ArgumentRole::k: return spec.k;
        case ArgumentRole::lda: return spec.lda;
        case ArgumentRole::ldb: return spec.ldb;
        case ArgumentRole::ldc: return spec.ldc;
        case ArgumentRole::packed_lda: return packed_a(spec).pitch();
        case ArgumentRole::packed_ldb: return packed_b(spec).pitch();
        default: return spec.ldd;
    }
}

}  // namespace jitgemm
