#pragma once

#include "tests/support/tensor_map_copy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// Matrices of a kind that a tensor map can address: rows of a multiple of 16 bytes, filled to the last byte.
struct CopiedMatrix {
    CopiedMatrix(std::int64_t m, std::int64_t n)
        : rows(m), columns(n), lda((n + 7) / 8 * 8 + 8), ldd((n + 7) / 8 * 8 + 16) {}

    std::int64_t rows;
    std::int64_t columns;
    std::int64_t lda;
    std::int64_t ldd;
    [[nodiscard]] std::size_t bytes_a() const { return static_cast<std::size_t>(rows * lda) * 2; }
    [[nodiscard]] std::size_t bytes_d() const { return static_cast<std::size_t>(rows * ldd) * 2; }
};

/// A's bits: no two neighbours alike, other ones for each seed.
[[nodiscard]] std::vector<std::uint16_t> copied_input(const CopiedMatrix& matrix, std::uint64_t seed);

/// Describes a wrong element of D: it must hold A's elements, and around them its earlier pattern. "" if all is right.
[[nodiscard]] std::string wrong_copy(const CopiedMatrix& matrix, const std::vector<std::uint16_t>& a,
                                     const std::vector<std::uint16_t>& d);
inline constexpr std::uint8_t kUncopied = 0xa5;

/// Copies one matrix on the context's device and says what went wrong, or what was thrown.
[[nodiscard]] std::string copy_problem(ContextState& context, const TensorMapCopy& copy, const CopiedMatrix& matrix);

}  // namespace jitgemm::testing
