#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <array>
#include <cstdint>

/// \file Problems for tests, built from what differs between them.

namespace jitgemm::testing {

inline constexpr std::array kLayouts{GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

/// M, N and K.
using Sizes = std::array<std::int64_t, 3>;

/// Not resolved, without C.
[[nodiscard]] inline GemmSpec spec_of(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k,
                                      DataType type = DataType::bf16) {
    GemmSpec spec = gemm_spec_of_type(type);
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.layout = layout;
    return spec;
}

/// Elements between the end of a packed row and the next row.
struct RowPadding {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;
    std::int64_t d = 0;
};

/// Resolved but for its alignments, which follow from the wider rows.
[[nodiscard]] inline GemmSpec with_row_padding(const GemmSpec& spec, const RowPadding& padding) {
    GemmSpec padded = resolved(spec);
    padded.lda += padding.a;
    padded.ldb += padding.b;
    padded.ldc += padding.c;
    padded.ldd += padding.d;
    padded.align_a = padded.align_b = padded.align_c = padded.align_d = 0;
    return padded;
}

}  // namespace jitgemm::testing
