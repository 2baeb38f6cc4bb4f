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
[[nodiscard]] std::int64_t product_of(std::span<const std::int64_t> sizes);

/// Dimensions that lie at one stride, as one; nothing where they don't.
[[nodiscard]] std::optional<Extent> joined(std::span<const Extent> dimensions);

/// Leading dimensions and rows as rows of one matrix, if they lie so. Where there is no element, none lies apart from
/// the others.
[[nodiscard]] std::optional<Extent> folded(const MatrixView& view);

/// How a matrix lies: rows (or columns) of contiguous elements, `leading` elements apart.
struct Lie {
    Order order;
    std::int64_t leading;
};
/// Nothing where neither rows nor columns are contiguous and apart from each other. Where both are, `preferred` if
/// given, else the longer run.
[[nodiscard]] std::optional<Lie> lie_of(Extent rows, Extent columns, std::optional<Order> preferred = std::nullopt);

/// Of an array whose lines are `leading` elements apart, and its matrices of a batch `batch_strides`: bytes, at most
/// 16; 0, the usual, where the address and the strides allow any. Adds a reason where it is less than one element.
[[nodiscard]] int alignment_of(const Operand& operand, std::int64_t leading, std::vector<std::string>& reasons,
                               std::span<const std::int64_t> batch_strides = {});
/// The same of whole elements.
[[nodiscard]] int alignment_of(DevicePointer data, DataType type, std::int64_t leading,
                               std::span<const std::int64_t> batch_strides);

/// "a has shape (6, 5)"
[[nodiscard]] std::string described(const Operand& operand);
/// "a has shape (6, 5), strides (10, 2) in elements"
[[nodiscard]] std::string with_strides(const Operand& operand);
/// The way out, with the call that makes a copy which kernels read.
[[nodiscard]] std::string contiguous_copy(const Operand& operand);

}  // namespace jitgemm::python
