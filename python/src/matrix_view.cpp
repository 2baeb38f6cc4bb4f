#include "python/src/matrix_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

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

std::int64_t product_of(std::span<const std::int64_t> sizes) {
    if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) product = product_of(product, size);
    return product;
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

std::optional<Extent> folded(const MatrixView& view) {
    std::vector<Extent> all = view.leading;
    all.push_back(view.rows);
    std::vector<std::int64_t> sizes;
    for (const Extent& extent : all) sizes.push_back(extent.size);
    if (const std::int64_t rows = product_of(sizes); rows == 0 || view.columns.size == 0) return Extent{rows, 0};
    return joined(all);
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

int alignment_of(const Operand& operand, std::int64_t leading, std::vector<std::string>& reasons,
                 std::span<const std::int64_t> batch_strides) {
    const auto size = static_cast<std::uint64_t>(bytes(*operand.type));
    if (operand.data.address % size != 0)
        reasons.push_back(
            fmt::format("{} begins at an address that is no multiple of its elements' {} bytes", operand.name, size));
    return alignment_of(operand.data, *operand.type, leading, batch_strides);
}

int alignment_of(DevicePointer data, DataType type, std::int64_t leading, std::span<const std::int64_t> batch_strides) {
    constexpr std::uint64_t kMost = 16;
    const auto size = static_cast<std::uint64_t>(bytes(type));
    std::uint64_t begins = data.address;  // the bits of all addresses at which matrices begin
    for (const std::int64_t stride : batch_strides) begins |= static_cast<std::uint64_t>(stride) * size;
    if (begins % kMost == 0) return 0;
    const std::uint64_t pitch = static_cast<std::uint64_t>(leading) * size;
    return 1 << std::countr_zero(begins | pitch | kMost);
}

std::string described(const Operand& operand) {
    return fmt::format("{} has shape {}", operand.name, shape_text(operand.extents()));
}

std::string with_strides(const Operand& operand) {
    return fmt::format("{}, strides {} in elements", described(operand), shape_text(operand.steps()));
}

std::string contiguous_copy(const Operand& operand) {
    std::string copy = "give a contiguous copy";
    const std::string type = type_name(operand.object);
    if (operand.name == std::string_view("out")) return "give a contiguous out";
    if (type.starts_with("torch.")) return fmt::format("{}: {}.contiguous()", copy, operand.name);
    for (const auto& [library, module] : {std::pair{"numpy.", "np"}, {"cupy.", "cupy"}})
        if (type.starts_with(library)) return fmt::format("{}: {}.ascontiguousarray({})", copy, module, operand.name);
    return copy;
}

}  // namespace jitgemm::python
