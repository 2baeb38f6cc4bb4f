#include "runtime/verify/epilogue_check.hpp"

#include "generator/base/operand.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/epilogue_value.hpp"
#include "runtime/verify/on_cores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kElementsAtOnce = 1 << 22;  // of D: their sums are held in memory

/// Matrices of the device in host memory.
class HostCopy {
public:
    HostCopy(Device& device, const DeviceMatrix& matrix) : matrix_(matrix) {
        const auto size = static_cast<std::size_t>(matrix.extent_bytes());
        if (size == 0) return;
        bytes_ = std::make_unique<std::byte[]>(size);
        device.copy_to_host(bytes_.get(), matrix.data, size);
    }
    [[nodiscard]] bool is_there() const { return bytes_ != nullptr; }
    [[nodiscard]] double operator()(const ElementPlace& at) const {
        return element_value(
            bytes_.get(), matrix_.type,
            matrix_.begin_of(at.problem) + at.row * matrix_.row_stride + at.column * matrix_.column_stride);
    }

private:
    DeviceMatrix matrix_;
    std::unique_ptr<std::byte[]> bytes_;
};

/// The columns of the product that make a column of D: one, or the two of a pair.
class ColumnsOfD {
public:
    ColumnsOfD(EpiloguePairs pairs, std::int64_t count) : pairs_(pairs), count_(count) {}

    [[nodiscard]] std::array<std::int64_t, 2> of(std::int64_t column) const {
        switch (pairs_) {
            case EpiloguePairs::halves: return {column, column + count_};
            case EpiloguePairs::neighbours: return {2 * column, 2 * column + 1};
            default: return {column, column};
        }
    }
    /// All of them.
    [[nodiscard]] std::int64_t of_product() const { return pairs_ == EpiloguePairs::none ? count_ : 2 * count_; }

private:
    EpiloguePairs pairs_;
    std::int64_t count_;
};

/// The sums of products for `rows` rows of each problem's D from `first` on.
Check band_of(const Check& check, std::int64_t first, std::int64_t rows, std::int64_t columns) {
    const auto moved = [&](DeviceMatrix matrix) {
        if (matrix.data)
            matrix.data.address += static_cast<std::uint64_t>(first * matrix.row_stride * bytes(matrix.type));
        matrix.rows = rows;
        return matrix;
    };
    Check band = check;
    band.a = moved(check.a);
    band.scale_a.first = first;
    band.d = {.rows = rows, .columns = columns, .matrices = check.d.matrices};  // it has no part in a sum
    return band;
}

/// As the reference reads an operand that scales blocks of K: a row for each block of m or n.
BlockScales block_scales(const EpilogueIndex& index, DeviceMatrix elements) {
    const bool k_is_row = index.row->size == 'k';
    if (k_is_row) {
        std::swap(elements.rows, elements.columns);
        std::swap(elements.row_stride, elements.column_stride);
    }
    return {.elements = elements, .over = k_is_row ? index.column->over : index.row->over};
}

/// The check with the text's scales of blocks of K, which are factors of A's and B's elements.
Check with_block_scales(Check check, const EpilogueInputs& inputs) {
    for (std::size_t i = 0; i < inputs.operands.size(); ++i) {
        const EpilogueOperand& operand = inputs.epilogue.parts().operands[i];
        if (!operand.is_block_scale()) continue;
        const bool is_of_a = operand.index.row->size == 'm' || operand.index.column->size == 'm';
        (is_of_a ? check.scale_a : check.scale_b) = block_scales(operand.index, inputs.operands[i]);
    }
    return check;
}

/// Whether D holds the scaled sums, rounded once.
bool is_scaled_sum(const EpilogueParts& parts) {
    return has_block_scales(parts) && parts.outputs.size() == 1 && parts.outputs[0].name == "d" &&
           !parts.outputs[0].reduction && parts.acc_guards.empty() &&
           parts.nodes[static_cast<std::size_t>(parts.outputs[0].value)].operation == EpilogueOperation::acc;
}

/// The judge compares alone, which takes a fraction of the time of intervals on the host.
CheckResult check_scaled_sum(Check check, const Reference& judge) {
    check.c = {};
    check.alpha = 1;
    check.beta = 0;
    CheckResult found = judge.check(check);
    if (found.wrong == 0) return found;
    const CheckResult element = judge.element(check, found.first);
    found.expected = element.expected;
    found.got = element.got;
    return found;
}

double middle(const Interval& interval) { return interval.low / 2 + interval.high / 2; }

/// The error as a part of the error that is allowed. A result above 1 is wrong.
double error_of(const Interval& expected, double got) {
    constexpr double kWrong = std::numeric_limits<double>::infinity();
    if (std::isnan(got)) return expected.may_be_nan ? 0 : kWrong;
    if (expected.is_empty()) return kWrong;
    const double half = (expected.high - expected.low) / 2;
    const bool has_width = half > 0 && std::isfinite(half);
    const double error = has_width ? std::fabs(got - middle(expected)) / half : 0;
    if (expected.contains(got)) return error;
    return has_width ? std::max(1.01, error) : kWrong;
}

/// `number` is the element's among all of its output.
void compare(const Interval& expected, double got, std::uint64_t number, CheckResult& result) {
    const double error = error_of(expected, got);
    result.largest_error = std::max(result.largest_error, error);
    if (error <= 1) return;
    ++result.wrong;
    if (number >= result.first) return;
    result.first = number;
    result.expected = expected.is_empty() ? std::numeric_limits<double>::quiet_NaN() : middle(expected);
    result.got = got;
}

/// The results of a reduction to rows, to columns or to one element, summed up from elements of D. Batches have none.
class ReductionTotals {
public:
    ReductionTotals(const EpilogueReduction& reduction, const DeviceMatrix& results)
        : results_(results),
          totals_(static_cast<std::size_t>(results.rows * results.columns), ReducedValue(reduction)) {}

    void add(std::int64_t row, std::int64_t column, const Interval& value) {
        const std::int64_t of_row = results_.rows == 1 ? 0 : row, of_column = results_.columns == 1 ? 0 : column;
        totals_[static_cast<std::size_t>(of_row * results_.columns + of_column)].add(value);
    }
    void add(const ReductionTotals& others) {
        for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i].add(others.totals_[i]);
    }
    void compare_with(const HostCopy& got, CheckResult& result) const {
        for (std::size_t i = 0; i < totals_.size(); ++i) {
            const auto number = static_cast<std::int64_t>(i);
            compare(rounded_to(totals_[i].result(), results_.type),
                    got({0, number / results_.columns, number % results_.columns}), i, result);
        }
    }

private:
    DeviceMatrix results_;
    std::vector<ReducedValue> totals_;
};

/// The contribution of some rows of D to the results of each output.
struct RowsJudged {
    std::vector<CheckResult> elements;  ///< as parts().outputs; of other reductions, nothing
    std::vector<std::optional<ReductionTotals>>
        reduced;  ///< as parts().outputs; set for these, which are not of blocks

    void add(const RowsJudged& others) {
        for (std::size_t i = 0; i < elements.size(); ++i) {
            merge(elements[i], others.elements[i]);
            if (reduced[i]) reduced[i]->add(*others.reduced[i]);
        }
    }
};

/// Finds the text's results for each element of some rows, and compares.
class ElementJudge {
public:
    ElementJudge(Device& device, const Check& check, const EpilogueInputs& inputs)
        : check_(check), inputs_(inputs), columns_(inputs.epilogue.parts().pairs, check.d.columns) {
        const EpilogueParts& parts = inputs.epilogue.parts();
        for (const DeviceMatrix& operand : inputs.operands) operands_.emplace_back(device, operand);
        for (const EpilogueOperand& operand : parts.operands) differs_.push_back(differs_in_pair(parts, operand));
        for (const DeviceMatrix& output : inputs.outputs) outputs_.emplace_back(device, output);
    }

    [[nodiscard]] const ColumnsOfD& columns() const { return columns_; }

    [[nodiscard]] RowsJudged of_no_rows() const {
        RowsJudged judged{.elements = std::vector<CheckResult>(outputs_.size()), .reduced = {}};
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const EpilogueOutput& output = this->output(i);
            judged.reduced.push_back(output.reduction && !output.index.is_over_blocks()
                                         ? std::optional(ReductionTotals(*output.reduction, inputs_.outputs[i]))
                                         : std::nullopt);
        }
        return judged;
    }
    /// `sums` are those of the product's row.
    void judge_row(std::int64_t problem, std::int64_t row, const ProductSum* sums, RowsJudged& judged) const {
        const std::vector<ResultsOfBlocks> blocks = judge_blocks(problem, row, sums, judged);
        for (std::int64_t column = 0; column < check_.d.columns; ++column)
            judge({problem, row, column}, sums, blocks, judged);
    }
    /// Results of all outputs, when all rows have been judged.
    [[nodiscard]] std::vector<CheckResult> results(RowsJudged judged) const {
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            if (judged.reduced[i]) judged.reduced[i]->compare_with(outputs_[i], judged.elements[i]);
        return std::move(judged.elements);
    }

private:
    using ResultsOfBlocks = std::vector<Interval>;  ///< of a row; of an output that is not for blocks, none

    [[nodiscard]] const EpilogueOutput& output(std::size_t place) const {
        return inputs_.epilogue.parts().outputs[place];
    }
    /// Compares the results of a row's blocks, as parts().outputs. What is made of one that is right is judged by the
    /// result itself.
    [[nodiscard]] std::vector<ResultsOfBlocks> judge_blocks(std::int64_t problem, std::int64_t row,
                                                            const ProductSum* sums, RowsJudged& judged) const {
        std::vector<ResultsOfBlocks> all(outputs_.size());
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            if (!output(i).index.is_over_blocks()) continue;
            std::vector<ReducedValue> totals(static_cast<std::size_t>(inputs_.outputs[i].columns),
                                             ReducedValue(*output(i).reduction));
            for (std::int64_t column = 0; column < check_.d.columns; ++column)
                totals[block_of(i, column)].add(values({problem, row, column}, sums, {})[i]);
            for (std::size_t block = 0; block < totals.size(); ++block) {
                const ElementPlace at{problem, row, static_cast<std::int64_t>(block)};
                const Interval expected = rounded_to(totals[block].result(), inputs_.outputs[i].type);
                const double got = outputs_[i](at);
                compare(expected, got, number_of(inputs_.outputs[i], at), judged.elements[i]);
                all[i].push_back(expected.contains(got) ? exactly(got) : expected);
            }
        }
        return all;
    }
    [[nodiscard]] std::size_t block_of(std::size_t place, std::int64_t column) const {
        return static_cast<std::size_t>(column / output(place).index.column->over);
    }
    void judge(const ElementPlace& at, const ProductSum* sums, const std::vector<ResultsOfBlocks>& blocks,
               RowsJudged& judged) const {
        std::vector<Interval> reduced(outputs_.size());
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            if (!blocks[i].empty()) reduced[i] = blocks[i][block_of(i, at.column)];
        const std::vector<Interval> expected = values(at, sums, reduced);
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            if (!blocks[i].empty()) continue;
            if (judged.reduced[i])
                judged.reduced[i]->add(at.row, at.column, expected[i]);
            else
                compare(rounded_to(expected[i], inputs_.outputs[i].type), outputs_[i](at), number_of(check_.d, at),
                        judged.elements[i]);
        }
    }
    [[nodiscard]] Interval acc(const ProductSum& sum) const {
        return check_.exact ? exactly(sum.sum) : around(sum.sum, check_.bound.sum_unit * sum.magnitude);
    }
    /// `reduced`: results that are read back, as parts().outputs.
    [[nodiscard]] std::vector<Interval> values(const ElementPlace& at, const ProductSum* sums,
                                               const std::vector<Interval>& reduced) const {
        const auto [first, second] = columns_.of(at.column);
        EpilogueElement element;
        element.reduced = reduced;
        element.acc = {acc(sums[first]), acc(sums[second])};
        for (std::size_t i = 0; i < operands_.size(); ++i) {
            const bool is_scalar = inputs_.epilogue.parts().operands[i].is_scalar;
            if (inputs_.epilogue.parts().operands[i].is_block_scale()) {  // no value of an element
                element.operands.emplace_back();
                continue;
            }
            const auto of = [&](std::int64_t column) {
                return exactly(is_scalar                 ? static_cast<double>(inputs_.scalars[i])
                               : operands_[i].is_there() ? operands_[i]({at.problem, at.row, column})
                                                         : 0.0);
            };
            element.operands.push_back({of(differs_[i] ? first : at.column), of(differs_[i] ? second : at.column)});
        }
        return epilogue_values(inputs_.epilogue, element);
    }

    const Check& check_;
    const EpilogueInputs& inputs_;
    ColumnsOfD columns_;
    std::vector<HostCopy> operands_;
    std::vector<bool> differs_;  ///< operands with an element for each column of a pair
    std::vector<HostCopy> outputs_;
};

/// The rows of D, as many at a time as memory should hold the sums of.
std::vector<CheckResult> check_elements(Device& device, const Check& check, const EpilogueInputs& inputs,
                                        const Reference& judge) {
    const std::int64_t rows = check.d.rows;
    const ElementJudge elements(device, check, inputs);
    RowsJudged all = elements.of_no_rows();
    const std::int64_t of_product = elements.columns().of_product();
    const std::int64_t at_once = std::max<std::int64_t>(1, kElementsAtOnce / of_product);
    std::mutex mutex;
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t count = std::min(at_once, rows - first), of_all = check.d.matrices * count;
        const std::vector<ProductSum> sums = judge.sums(band_of(check, first, count, of_product));
        on_cores(of_all, [&](std::int64_t share, std::int64_t shares) {
            RowsJudged part = elements.of_no_rows();
            for (std::int64_t i = share; i < of_all; i += shares)
                elements.judge_row(i / count, first + i % count, &sums[static_cast<std::size_t>(i * of_product)], part);
            const std::scoped_lock lock(mutex);
            all.add(part);
        });
    }
    return elements.results(std::move(all));
}

/// Some problems of a batch.
Check part_of(Check check, std::int64_t first, std::int64_t count) {
    for (DeviceMatrix* const matrix :
         {&check.a, &check.b, &check.c, &check.d, &check.scale_a.elements, &check.scale_b.elements})
        *matrix = matrix->part(first, count);
    return check;
}
EpilogueInputs part_of(EpilogueInputs inputs, std::int64_t first, std::int64_t count) {
    for (DeviceMatrix& matrix : inputs.operands) matrix = matrix.part(first, count);
    for (DeviceMatrix& matrix : inputs.outputs) matrix = matrix.part(first, count);
    return inputs;
}

}  // namespace

std::vector<CheckResult> check_epilogue(Device& device, const Check& unscaled, const EpilogueInputs& inputs,
                                        const Reference& judge) {
    const Check check = with_block_scales(unscaled, inputs);
    std::vector<CheckResult> all(inputs.outputs.size());
    const std::int64_t problems = check.d.matrices, elements = check.d.rows * check.d.columns;
    if (problems == 0 || elements == 0) return all;
    if (is_scaled_sum(inputs.epilogue.parts())) return {check_scaled_sum(check, judge)};
    const std::int64_t at_once = std::max<std::int64_t>(1, kElementsAtOnce / elements);
    for (std::int64_t first = 0; first < problems; first += at_once) {
        const std::int64_t count = std::min(at_once, problems - first);
        std::vector<CheckResult> found =
            check_elements(device, part_of(check, first, count), part_of(inputs, first, count), judge);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (found[i].wrong != 0) found[i].first += number_of(inputs.outputs[i], {.problem = first});
            merge(all[i], found[i]);
        }
    }
    return all;
}

}  // namespace jitgemm
