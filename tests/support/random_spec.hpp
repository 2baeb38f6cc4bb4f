#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <random>

namespace jitgemm {

inline GemmSpec sized(std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    return spec;
}

template <typename T>
T pick(std::mt19937& random, std::initializer_list<T> values) {
    return values.begin()[random() % values.size()];
}

/// Any values at all, sound or not: text and hash don't care.
inline GemmSpec random_spec(std::mt19937& random) {
    const auto type = [&] { return data_type_table()[random() % data_type_table().size()].type; };
    const auto number = [&] {
        return static_cast<std::int64_t>(random()) - pick<std::int64_t>(random, {0, 1LL << 31});
    };
    GemmSpec spec = sized(number(), number(), number());
    spec.a = type();
    spec.b = type();
    if (random() % 2 == 0) spec.c = type();
    spec.d = type();
    spec.accumulator = type();
    spec.layout = pick(random, {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt});
    spec.d_order = pick(random, {Order::row, Order::column});
    for (auto* ld : {&spec.lda, &spec.ldb, &spec.ldc, &spec.ldd}) *ld = number();
    for (auto* align : {&spec.align_a, &spec.align_b, &spec.align_c, &spec.align_d}) {
        *align = pick(random, {0, 1, 2, 4, 8, 16, -3});
    }
    spec.broadcast_c = random() % 2 == 0;
    spec.sums = pick(random, {Summation::usual, Summation::fast, Summation::promoted});
    return spec;
}

}  // namespace jitgemm
