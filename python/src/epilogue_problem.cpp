#include "python/src/epilogue_problem.hpp"

#include "generator/base/operand.hpp"
#include "generator/epilogue/epilogue.hpp"
#include "python/src/errors.hpp"
#include "python/src/matrix_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace jitgemm::python {
namespace {

using Reasons = std::vector<std::string>;

/// An array of a text.
struct Named {
    const std::string& name;
    DataType type;
    const EpilogueIndex& index;
    bool is_output;

    /// "the epilogue reads bias[n]"
    [[nodiscard]] std::string use() const {
        return fmt::format("the epilogue {} {}", is_output ? "stores" : "reads", with_index(name, index));
    }
};

std::string wrong_shape(const Named& named, const Operand& array, const std::string& wanted) {
    return fmt::format("{}: {}, whose shape must be {}", described(array), named.use(), wanted);
}

/// One element, or a vector: contiguous, of any alignment that its elements have.
void check_run(const Named& named, const Operand& array, Reasons& reasons) {
    if (const std::optional<Extent> run = joined(dimensions(array)); !run || (run->size > 1 && run->stride != 1))
        reasons.push_back(fmt::format("{}: {}, which must be contiguous; {}", with_strides(array), named.use(),
                                      contiguous_copy(array)));
    static_cast<void>(alignment_of(array, 0, reasons));
}

void check_vector(const Named& named, const Operand& array, std::int64_t size, std::span<const std::int64_t> shape,
                  Reasons& reasons) {
    const bool is_vector = array.rank == 1 && array.shape[0] == size;
    if (is_vector || std::ranges::equal(array.extents(), shape)) return check_run(named, array, reasons);
    reasons.push_back(wrong_shape(named, array, fmt::format("({},)", size)));
}

void check_element(const Named& named, const Operand& array, Reasons& reasons) {
    if (product_of(array.extents()) == 1) return check_run(named, array, reasons);
    reasons.push_back(wrong_shape(named, array, "(1,) or ()"));
}

/// The way out for a matrix in another order than D's.
std::string copy_in_order(const Operand& array, Order order) {
    if (order == Order::row) return contiguous_copy(array);
    if (type_name(array.object).starts_with("numpy."))
        return fmt::format("give a copy with contiguous columns: np.asfortranarray({})", array.name);
    return "give a copy with contiguous columns";
}

std::optional<Lie> lie_of_matrix(const Operand& array, const ResultPlace& d, Order preferred) {
    const MatrixView view = result_view(dimensions(array), d.has_rows, d.has_columns);
    const std::optional<Extent> rows = d.is_folded ? folded(view) : view.rows;
    return rows ? lie_of(*rows, view.columns, preferred) : std::nullopt;
}

/// Where a matrix lies; the usual where it does not fit.
EpilogueLayout matrix_layout(const Named& named, const Operand& array, const ResultPlace& d, Reasons& reasons) {
    if (!std::ranges::equal(array.extents(), d.shape)) {
        reasons.push_back(wrong_shape(named, array, "the product's, " + shape_text(d.shape)));
        return {};
    }
    const std::optional<Lie> lie = lie_of_matrix(array, d, d.order);
    if (!lie || lie->order != d.order) {
        const bool by_row = d.order == Order::row;
        reasons.push_back(
            fmt::format("{}: {} in the order of the result, so its {} must be contiguous and at one stride; {}",
                        with_strides(array), named.use(), by_row ? "rows" : "columns", copy_in_order(array, d.order)));
        return {};
    }
    const std::int64_t packed = std::max<std::int64_t>(1, d.order == Order::row ? d.columns : d.m);
    return {.ld = lie->leading == packed ? 0 : lie->leading, .align = alignment_of(array, lie->leading, reasons)};
}

/// Where values for blocks lie: as their index is written. Rows of A may have several dimensions, as A has them.
EpilogueLayout scale_layout(const Named& named, const Operand& array, const ResultPlace& d, Reasons& reasons) {
    const auto size = [&](const EpiloguePlace& place) {
        const std::int64_t all = place.size == 'm'   ? d.m
                                 : place.size == 'n' ? d.n
                                 : place.size == 'h' ? d.columns
                                                     : d.k;
        return (all + place.over - 1) / place.over;
    };
    const std::array places{*named.index.row, *named.index.column};
    const std::array shape{size(places[0]), size(places[1])};
    const auto rows = d.shape.first(d.shape.size() - (d.has_columns ? 1 : 0));
    std::vector<std::int64_t> as_a;
    std::array<std::size_t, 2> ranks{1, 1};
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool is_row = places.at(i) == EpiloguePlace{'m'};
        const auto sizes = is_row ? rows : std::span(shape).subspan(i, 1);
        as_a.insert(as_a.end(), sizes.begin(), sizes.end());
        ranks.at(i) = sizes.size();
    }
    const bool is_as_a = std::ranges::equal(array.extents(), as_a);
    if (!is_as_a && !std::ranges::equal(array.extents(), shape)) {
        reasons.push_back(wrong_shape(named, array, shape_text(shape)));
        return {};
    }
    const std::vector<Extent> all = dimensions(array);
    const std::size_t of_rows = is_as_a ? ranks[0] : 1;
    const std::optional<Extent> first = joined(std::span(all).first(of_rows));
    const std::optional<Extent> second = joined(std::span(all).subspan(of_rows));
    const std::optional<Lie> lie = first && second ? lie_of(*first, *second, Order::row) : std::nullopt;
    if (!lie || lie->order != Order::row) {
        reasons.push_back(fmt::format("{}: {}, whose rows must be contiguous; {}, or exchange the places of the index",
                                      with_strides(array), named.use(), contiguous_copy(array)));
        return {};
    }
    const std::int64_t packed = std::max<std::int64_t>(1, shape[1]);
    return {.ld = lie->leading == packed ? 0 : lie->leading, .align = alignment_of(array, lie->leading, reasons)};
}

/// The whole product's place: that of a matrix with an element for each column of a pair.
ResultPlace product_place(const ResultPlace& d, std::vector<std::int64_t>& shape) {
    shape.assign(d.shape.begin(), d.shape.end());
    if (d.has_columns) shape.back() = d.n;
    ResultPlace product = d;
    product.shape = shape;
    product.columns = d.n;
    return product;
}

/// Where an array of one product fits, the layout of a matrix; else a reason is added.
EpilogueLayout layout_in_product(const Named& named, const Operand& array, const ResultPlace& d, Reasons& reasons) {
    if (named.type != *array.type)
        reasons.push_back(
            fmt::format("{0} is of type {1}, but the epilogue {4} it as {2}: give an array of {2}, or declare "
                        "'{0}: {1}[{3}]' in the text",
                        named.name, to_string(*array.type), to_string(named.type), to_string(named.index),
                        named.is_output ? "stores" : "reads"));
    const EpilogueIndex& index = named.index;
    const auto rows_shape = d.shape.first(d.shape.size() - (d.has_columns ? 1 : 0));
    if (index.has_k() || index.is_over_blocks()) return scale_layout(named, array, d, reasons);
    const bool is_of_product = index.column && index.column->size == 'n';
    std::vector<std::int64_t> shape;
    if (index.is_matrix()) return matrix_layout(named, array, is_of_product ? product_place(d, shape) : d, reasons);
    const std::int64_t columns = is_of_product ? d.n : d.columns;
    if (index.row)
        check_vector(named, array, d.m, rows_shape, reasons);
    else if (index.column)
        check_vector(named, array, columns, std::array{columns}, reasons);
    else
        check_element(named, array, reasons);
    return {};
}

/// The first matrix of an array.
Operand without_leading(const Operand& array, std::size_t dimensions) {
    Operand one;
    one.name = array.name;
    one.object = array.object;
    one.data = array.data;
    one.type = array.type;
    one.made_by = array.made_by;
    one.rank = array.rank - static_cast<int>(dimensions);
    std::copy(array.shape.begin() + dimensions, array.shape.end(), one.shape.begin());
    std::copy(array.strides.begin() + dimensions, array.strides.end(), one.strides.begin());
    return one;
}

std::string of_several_launches(const Named& named) {
    return fmt::format("{}, but the batches of a, b and out take several launches: give contiguous copies",
                       named.use());
}

/// A vector, or scales of blocks, for each group.
EpilogueLayout layout_in_groups(const Named& named, const Operand& array, const ResultPlace& d, Reasons& reasons) {
    if (!named.index.of_problem) return layout_in_product(named, array, d, reasons);
    if (array.rank == 0 || array.extents().front() != d.groups) {
        reasons.push_back(wrong_shape(named, array, fmt::format("{} for the groups, and then its own", d.groups)));
        return {};
    }
    const Operand first = without_leading(array, 1);
    EpilogueLayout layout = layout_in_product(named, first, d, reasons);
    const std::int64_t stride = array.strides.front();
    if (stride < 0)
        reasons.push_back(
            fmt::format("{}: its vectors lie backwards; {}", with_strides(array), contiguous_copy(array)));
    if (d.groups <= 1 || stride < 0) return layout;
    if (layout.align != 0) layout.align = std::min(layout.align, alignment_of_pitch(stride, *array.type));
    const std::int64_t packed =
        layout.ld == 0 ? product_of(first.extents()) : product_of(first.extents().front(), layout.ld);
    if (stride != packed) layout.batch_stride = stride;
    return layout;
}

/// Where an array of a batch fits. With the index b, it has the batch's dimensions; without, all products read it.
EpilogueLayout layout_of_array(const Named& named, const Operand& array, const ResultPlace& d, Reasons& reasons) {
    if (d.groups != 0) return layout_in_groups(named, array, d, reasons);
    if (d.batch_rank == 0) return layout_in_product(named, array, d, reasons);
    if (d.batch == 1) {  // its dimensions may be left out
        Reasons as_one;
        const EpilogueLayout layout = layout_in_product(named, array, d, as_one);
        if (as_one.empty()) return layout;
    }
    ResultPlace product = d;
    product.shape = d.shape.subspan(d.batch_rank);
    if (!named.index.of_problem) return layout_in_product(named, array, product, reasons);
    const std::size_t rank = array.extents().size();
    const auto batch = d.shape.first(d.batch_rank);
    if (rank < d.batch_rank || !std::ranges::equal(array.extents().first(d.batch_rank), batch)) {
        reasons.push_back(wrong_shape(named, array, "that of the batch, " + shape_text(batch) + ", and then its own"));
        return {};
    }
    const Operand first = without_leading(array, d.batch_rank);
    if (d.batch <= 1) return layout_in_product(named, first, product, reasons);
    const std::vector<Extent> all = dimensions(array);
    const std::optional<Extent> outer = joined(std::span(all).first(d.outer_rank));
    const std::optional<Extent> matrices = joined(std::span(all).subspan(d.outer_rank, d.batch_rank - d.outer_rank));
    if (!d.is_one_launch) {
        reasons.push_back(of_several_launches(named));
        return {};
    }
    if (!matrices || !outer || matrices->stride < 0 || outer->stride < 0) {
        reasons.push_back(fmt::format("{}: {}, whose batch must lie at {}; {}", with_strides(array), named.use(),
                                      d.outer_rank == 0 ? "one stride" : "a stride in each of two dimensions",
                                      contiguous_copy(array)));
        return {};
    }
    EpilogueLayout layout = layout_in_product(named, first, product, reasons);
    for (const std::int64_t stride : {matrices->stride, outer->stride})
        if (layout.align != 0) layout.align = std::min(layout.align, alignment_of_pitch(stride, *array.type));
    if (d.outer_rank != 0) layout.outer_stride = outer->stride;
    const std::int64_t lines = d.order == Order::row ? d.m : first.extents().back();
    const std::int64_t packed = layout.ld == 0 ? product_of(first.extents()) : product_of(lines, layout.ld);
    if (matrices->stride != packed) layout.batch_stride = matrices->stride;
    return layout;
}

/// With the types of the arrays.
Epilogue typed_meaning(const EpilogueArrays& arrays, DataType d) {
    EpilogueTypes types{.d = d, .given = {}};
    for (const EpilogueOperand& operand : arrays.formula->operands)
        if (const Operand& array = arrays.find(operand.name)->array; array.given())
            types.given.emplace(operand.name, *array.type);
    for (std::size_t i = 0; i < arrays.outputs.size(); ++i)
        if (const Operand& array = arrays.outputs[i].array; array.given())
            types.given.emplace(arrays.formula->outputs[i].name, *array.type);
    return read_epilogue(arrays.formula->text, types);
}

}  // namespace

std::optional<Order> order_of_matrices(const EpilogueArrays& arrays, const ResultPlace& d) {
    const auto order_of = [&](const EpilogueIndex& index, const Operand& array) -> std::optional<Order> {
        if (!index.is_matrix() || !array.given() || !std::ranges::equal(array.extents(), d.shape)) return std::nullopt;
        const std::optional<Lie> lie = lie_of_matrix(array, d, Order::row);
        if (lie && lie->order == Order::column) return Order::column;
        if (lie && lie_of_matrix(array, d, Order::column)->order == Order::row) return Order::row;
        return std::nullopt;
    };
    const Formula& formula = *arrays.formula;
    for (std::size_t i = 0; i < arrays.operands.size(); ++i)
        if (const auto order = order_of(formula.operands[i].index, arrays.operands[i].array)) return order;
    for (std::size_t i = 0; i < arrays.outputs.size(); ++i)
        if (const auto order = order_of(formula.outputs[i].index, arrays.outputs[i].array)) return order;
    return std::nullopt;
}

EpilogueText epilogue_text(const EpilogueArrays& arrays, const ResultPlace& d, Reasons& reasons) {
    const Epilogue meaning = typed_meaning(arrays, d.type);
    EpilogueText text = meaning.text();
    const auto place = [&](const Named& named, const Operand& array) {
        const EpilogueLayout layout = layout_of_array(named, array, d, reasons);
        if (layout != EpilogueLayout()) text = text.with(named.name, layout);
    };
    for (const EpilogueOperand& operand : meaning.parts().operands)
        if (!operand.is_scalar)
            place({operand.name, operand.type, operand.index, false}, arrays.find(operand.name)->array);
    for (std::size_t i = 0; i < arrays.outputs.size(); ++i) {
        const EpilogueOutput& output = meaning.parts().outputs[i];
        if (!is_beside_d(output)) continue;
        if (arrays.outputs[i].array.given())
            place({output.name, *output.type, output.index, true}, arrays.outputs[i].array);
        else if (!d.is_one_launch)
            reasons.push_back(of_several_launches({output.name, *output.type, output.index, true}));
        else if (d.order == Order::column && output.index.is_matrix())
            reasons.push_back(
                fmt::format("{0} is missing: out's columns are contiguous, and a new {0} would have "
                            "contiguous rows: pass a {0} that lies as out does",
                            output.name));
    }
    return text;
}

}  // namespace jitgemm::python
