#include "python/src/matrix_view.hpp"

#include <algorithm>
#include <limits>

namespace jitgemm::python {
namespace {

/// The last `matrix_rank` dimensions are the matrix's; `row`: a single one is a row's.
MatrixView view(std::span<const Extent> dimensions, std::size_t matrix_rank, bool row) {
    MatrixView view;
    const std::span<const Extent> matrix = dimensions.last(matrix_rank);
    const std::span<const Extent> leading = dimensions.first(dimensions.size() - matrix_rank);
    view.leading.assign(leading.begin(), leading.end());
    if (matrix_rank == 2) {
        view.rows = matrix[0];
        view.columns = matrix[1];
    } else if (matrix_rank == 1) {
        (row ? view.columns : view.rows) = matrix[0];
    }
    return view;
}

/// Runs of `run` contiguous elements, `pitch.stride` apart; the leading dimension, or nothing.
std::optional<std::int64_t> leading_dimension(Extent run, Extent pitch) {
    if (run.size > 1 && run.stride != 1) return std::nullopt;
    const std::int64_t least = std::max<std::int64_t>(run.size, 1);
    if (pitch.size <= 1) return least;
    if (pitch.stride < least) return std::nullopt;
    return pitch.stride;
}

}  // namespace

std::vector<Extent> dimensions(const Operand& operand) {
    std::vector<Extent> dimensions;
    for (std::size_t i = 0; i < operand.extents().size(); ++i)
        dimensions.push_back({operand.shape.at(i), operand.strides.at(i)});
    return dimensions;
}

MatrixView matrix_view(const Operand& operand, bool row) {
    return view(dimensions(operand), std::min<std::size_t>(operand.extents().size(), 2), row);
}

MatrixView result_view(std::span<const Extent> dimensions, bool has_rows, bool has_columns) {
    return view(dimensions, static_cast<std::size_t>(has_rows) + static_cast<std::size_t>(has_columns), has_columns);
}

std::int64_t product_of(std::int64_t left, std::int64_t right) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(left, right, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::optional<Extent> joined(std::span<const Extent> dimensions) {
    std::optional<Extent> all;
    for (auto inner = dimensions.rbegin(); inner != dimensions.rend(); ++inner) {
        if (inner->size == 1) continue;
        if (!all) {
            all = *inner;
            continue;
        }
        if (inner->stride != product_of(all->size, all->stride)) return std::nullopt;
        all->size = product_of(all->size, inner->size);
    }
    return all.value_or(Extent{});
}

std::optional<Lie> lie_of(Extent rows, Extent columns, std::optional<Order> preferred) {
    if (rows.size == 0 || columns.size == 0) {  // nothing of it is read or written
        const Order order = preferred.value_or(Order::row);
        return Lie{order, std::max<std::int64_t>(order == Order::row ? columns.size : rows.size, 1)};
    }
    const auto by_row = leading_dimension(columns, rows);
    const auto by_column = leading_dimension(rows, columns);
    if (by_row && by_column) {
        const Order order = preferred.value_or(rows.size > columns.size ? Order::column : Order::row);
        return Lie{order, order == Order::row ? *by_row : *by_column};
    }
    if (by_row) return Lie{Order::row, *by_row};
    if (by_column) return Lie{Order::column, *by_column};
    return std::nullopt;
}

}  // namespace jitgemm::python
