#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "python/src/operand.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitgemm::python {

/// A dimension of an array: how many, and how many elements apart.
struct Extent {
    std::int64_t size = 1;
    std::int64_t stride = 0;
};

/// An operand as matrices: the last two dimensions, and the leading ones.
struct MatrixView {
    std::vector<Extent> leading;
    Extent rows, columns;
};

[[nodiscard]] std::vector<Extent> dimensions(const Operand& operand);

/// `row`: one dimension is a row (else a column).
[[nodiscard]] MatrixView matrix_view(const Operand& operand, bool row);
/// Of the result, which has no row (column) where A (B) has one dimension.
[[nodiscard]] MatrixView result_view(std::span<const Extent> dimensions, bool has_rows, bool has_columns);

/// Of sizes and strides from 0: more than 63 bits become the largest number, which no problem takes.
[[nodiscard]] std::int64_t product_of(std::int64_t left, std::int64_t right);

/// Dimensions that lie at one stride, as one; nothing where they don't.
[[nodiscard]] std::optional<Extent> joined(std::span<const Extent> dimensions);

/// How a matrix lies: rows (or columns) of contiguous elements, `leading` elements apart.
struct Lie {
    Order order;
    std::int64_t leading;
};
/// Nothing where neither rows nor columns are contiguous and apart from each other. Where both are, `preferred` if
/// given, else the longer run.
[[nodiscard]] std::optional<Lie> lie_of(Extent rows, Extent columns, std::optional<Order> preferred = std::nullopt);

}  // namespace jitgemm::python
