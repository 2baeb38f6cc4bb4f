#include "python/src/problem.hpp"

#include "generator/base/operand.hpp"
#include "python/src/epilogue_problem.hpp"
#include "python/src/errors.hpp"
#include "python/src/matrix_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace jitgemm::python {
namespace {

using Reasons = std::vector<std::string>;
using Shape = std::vector<std::int64_t>;

[[noreturn]] void refuse(Reasons reasons) { throw OperandError("no product of these arrays", std::move(reasons)); }

/// A size of 1 goes with any other; missing leading dimensions are of size 1.
Shape broadcast(const Arrays& arrays, const MatrixView& a, const MatrixView& b, Reasons& reasons) {
    Shape shape(std::max(a.leading.size(), b.leading.size()), 1);
    const auto take = [&](const std::vector<Extent>& leading) {
        const std::size_t first = shape.size() - leading.size();
        for (std::size_t i = 0; i < leading.size(); ++i) {
            std::int64_t& size = shape[first + i];
            if (size == 1)
                size = leading[i].size;
            else if (leading[i].size != 1 && leading[i].size != size)
                return false;
        }
        return true;
    };
    if (!take(a.leading) || !take(b.leading))
        reasons.push_back(fmt::format("{} and {}: their leading dimensions don't go together", described(arrays.a),
                                      described(arrays.b)));
    return shape;
}

/// Dimensions as they are broadcast: a size of 1 is repeated, at stride 0.
std::vector<Extent> repeated(const std::vector<Extent>& dimensions, const Shape& to) {
    std::vector<Extent> extents(to.size());
    const std::size_t missing = to.size() - dimensions.size();
    for (std::size_t i = 0; i < to.size(); ++i) {
        extents[i] = {to[i], 0};
        if (i >= missing && dimensions[i - missing].size != 1) extents[i].stride = dimensions[i - missing].stride;
    }
    return extents;
}

MatrixView transposed(MatrixView view) {
    std::swap(view.rows, view.columns);
    return view;
}

/// Whether numpy would repeat an array of that shape to the other one.
bool can_be_repeated(std::span<const std::int64_t> shape, const Shape& to) {
    const auto goes_with = [](std::int64_t size, std::int64_t other) { return size == other || size == 1; };
    return shape.size() <= to.size() &&
           std::equal(shape.begin(), shape.end(), to.end() - static_cast<std::ptrdiff_t>(shape.size()), goes_with);
}

/// Where one contiguous row stands for all of two or more, or a column does: which of them.
std::optional<Order> repeated_run(const MatrixView& view) {
    const auto repeats = [](Extent runs, Extent run) {
        return runs.size > 1 && runs.stride == 0 && (run.size == 1 || run.stride == 1);
    };
    if (repeats(view.rows, view.columns)) return Order::row;
    if (repeats(view.columns, view.rows)) return Order::column;
    return std::nullopt;
}

bool is_misaligned(const Operand& operand) {
    return operand.data.address % static_cast<std::uint64_t>(bytes(*operand.type)) != 0;
}

class ProblemBuilder {
public:
    ProblemBuilder(const Arrays& arrays, const GemmSpec* like) : arrays_(arrays), like_(like) {}

    Problem build() {
        read_shapes();
        read_types();
        if (arrays_.offsets.given())
            lay_out_groups();
        else
            fold_rows();
        if (problem_.batch > 1) lay_out_batch();
        if (cuts_k_ && !problem_.launches.empty())
            reasons_.push_back(with_strides(arrays_.out.given() ? arrays_.out : arrays_.c) +
                               ": its matrices lie backwards");
        if (!problem_.launches.empty()) check_results_are_apart();
        read_matrices();
        if (arrays_.epilogue) read_epilogue();
        if (!reasons_.empty()) refuse(std::move(reasons_));
        return std::move(problem_);
    }

private:
    void read_shapes() {
        for (const Operand* operand : {&arrays_.a, &arrays_.b})
            if (operand->rank == 0 && (operand == &arrays_.a || !arrays_.is_symmetric))
                reasons_.push_back(
                    fmt::format("{} is 0-D: a product's arrays have one dimension or more", operand->name));
        if (arrays_.is_symmetric && arrays_.a.rank == 1)
            reasons_.push_back(described(arrays_.a) + ": a symmetric product is of a matrix (..., m, k)");
        if (!reasons_.empty()) refuse(std::move(reasons_));
        a_ = matrix_view(arrays_.a, true);
        b_ = arrays_.is_symmetric ? transposed(a_) : matrix_view(arrays_.b, false);
        if (a_.columns.size != b_.rows.size)
            reasons_.push_back(fmt::format("{} and {}: A's columns, {}, are not B's rows, {}", described(arrays_.a),
                                           described(arrays_.b), a_.columns.size, b_.rows.size));
        if (arrays_.offsets.given()) take_groups();
        if (!reasons_.empty()) refuse(std::move(reasons_));
        leading_ = cuts_k_ ? Shape{groups_.size} : broadcast(arrays_, a_, b_, reasons_);
        if (!reasons_.empty()) refuse(std::move(reasons_));

        problem_.shape = leading_;
        has_rows_ = arrays_.a.rank > 1;
        has_columns_ = arrays_.is_symmetric || arrays_.b.rank > 1;
        const std::int64_t rows = arrays_.rows.given() ? arrays_.rows.extents().front() : a_.rows.size;
        if (has_rows_) problem_.shape.push_back(rows);
        columns_of_d_ = b_.columns.size / (has_pairs() ? 2 : 1);
        if (has_pairs() && b_.columns.size % 2 != 0)
            reasons_.push_back(fmt::format("{} has {} columns, but the epilogue makes pairs of them",
                                           described(arrays_.b), b_.columns.size));
        if (has_columns_) problem_.shape.push_back(columns_of_d_);
        problem_.spec.m = rows;
        if (arrays_.rows.given()) problem_.spec.source_rows = a_.rows.size;
        problem_.spec.n = b_.columns.size;
        problem_.spec.k = a_.columns.size;
        problem_.batch = product_of(leading_);
        read_result(arrays_.out, std::ranges::equal(arrays_.out.extents(), problem_.shape), d_);
        read_result(arrays_.c, can_be_repeated(arrays_.c.extents(), problem_.shape), c_);
        if (arrays_.accumulates) c_ = d_;
        if (!reasons_.empty()) refuse(std::move(reasons_));
    }

    /// Each group of A's rows has one of B's matrices. Where B is one matrix, groups cut K, and each has a result.
    void take_groups() {
        const Operand &a = arrays_.a, &b = arrays_.b;
        cuts_k_ = a.rank == 2 && b.rank == 2;
        if (arrays_.rows.given()) check_rows();
        if (cuts_k_) return take_groups_of_k();
        const bool has_rows = a.rank == 2 || a.rank == 3;
        if (!has_rows)
            reasons_.push_back(described(a) + ": groups are rows of one matrix (m, k), or (groups, rows, k)");
        if (b.rank != 3)
            reasons_.push_back(described(b) + ": each group has a matrix, (groups, k, n), or a part of one, (k, n)");
        if (!has_rows || b.rank != 3) return;
        groups_ = b_.leading.front();
        b_.leading.clear();
        if (a.rank == 3 && a.extents().front() != groups_.size)
            reasons_.push_back(
                fmt::format("{} and {}: they have different numbers of groups", described(a), described(b)));
        if (groups_.size == 0) reasons_.push_back(described(b) + ": there must be a group");
        if (groups_.size > 1 && groups_.stride < 0)
            reasons_.push_back(with_strides(b) + ": its matrices lie backwards");
        check_offsets();
    }

    /// Rows of one matrix, in any order.
    void check_rows() {
        const Operand &rows = arrays_.rows, &a = arrays_.a;
        if (cuts_k_)
            reasons_.push_back(described(arrays_.b) +
                               ": rows of a are gathered where each group has a matrix, "
                               "(groups, k, n)");
        if (a.rank != 2) reasons_.push_back(described(a) + ": rows are those of one matrix, (source rows, k)");
        if (rows.rank != 1)
            reasons_.push_back(described(rows) + ": the result has a row for each element of one dimension");
        else if (rows.type != DataType::s32)
            reasons_.push_back(fmt::format("{} is of type {}: rows are int32", rows.name, to_string(*rows.type)));
        else if (rows.extents().front() > 1 && rows.strides.front() != 1)
            reasons_.push_back(with_strides(rows) + ": rows must lie one behind the other");
        else if (a.rank == 2 && a_.rows.size == 0 && rows.extents().front() != 0)
            reasons_.push_back(described(a) + ": it has no row");
    }

    /// As many as there are ends.
    void take_groups_of_k() {
        const Operand& offsets = arrays_.offsets;
        groups_.size = offsets.rank == 0 ? 0 : offsets.extents().front();
        if (groups_.size == 0) return reasons_.push_back(described(offsets) + ": there must be a group");
        check_offsets();
    }

    void check_offsets() {
        const Operand& offsets = arrays_.offsets;
        if (offsets.rank != 1 || offsets.extents().front() != groups_.size)
            reasons_.push_back(fmt::format("{}: {} groups have as many ends", described(offsets), groups_.size));
        else if (offsets.type != DataType::s32)
            reasons_.push_back(
                fmt::format("{} is of type {}: ends of groups are int32", offsets.name, to_string(*offsets.type)));
        else if (groups_.size > 1 && offsets.strides.front() != 1)
            reasons_.push_back(with_strides(offsets) + ": ends of groups must lie one behind the other");
    }

    void lay_out_groups() {
        problem_.spec.groups = groups_.size;
        problem_.spec.expected_rows = arrays_.expected_rows;
        if (cuts_k_) {
            problem_.spec.ragged = Ragged::k;
            return;
        }
        if (arrays_.a.rank == 3) {
            problem_.spec.group_rows = problem_.spec.m;
            fold();
            problem_.batch = 1;
            if (!is_folded_ && groups_.size > 1)
                reasons_.push_back(fmt::format("{} and {}: all rows must lie at one stride", with_strides(arrays_.a),
                                               arrays_.out.given() ? with_strides(arrays_.out) : "the result"));
        }
        problem_.spec.batch_stride_b = groups_.stride;
        if (groups_.size > 1) strides_.push_back({0, groups_.stride, 0, 0});
    }

    /// Whether the epilogue has values for each product of a batch.
    [[nodiscard]] bool names_problem() const {
        if (!arrays_.epilogue) return false;
        const Formula& formula = *arrays_.epilogue->formula;
        const auto of_problem = [](const auto& one) { return one.index.of_problem; };
        return std::ranges::any_of(formula.operands, of_problem) || std::ranges::any_of(formula.outputs, of_problem);
    }

    [[nodiscard]] bool has_pairs() const { return arrays_.epilogue && arrays_.epilogue->formula->has_pairs; }

    void read_result(const Operand& operand, bool has_its_shape, MatrixView& view) {
        if (!operand.given()) {
            view = packed_result();
        } else if (!has_its_shape) {
            reasons_.push_back(fmt::format("{}; the product has {}", described(operand), shape_text(problem_.shape)));
        } else {
            view = result_view(repeated(dimensions(operand), problem_.shape), has_rows_, has_columns_);
        }
    }

    [[nodiscard]] MatrixView packed_result() const {
        MatrixView view;
        view.rows = {problem_.spec.m, columns_of_d_};
        view.columns = {columns_of_d_, 1};
        std::int64_t stride = product_of(problem_.spec.m, columns_of_d_);
        view.leading.resize(leading_.size());
        for (std::size_t i = leading_.size(); i-- > 0; stride = product_of(stride, leading_[i]))
            view.leading[i] = {leading_[i], stride};
        return view;
    }

    void read_types() {
        GemmSpec& spec = problem_.spec;
        spec.deterministic = like_ != nullptr ? like_->deterministic : arrays_.deterministic;
        spec.sums = like_ != nullptr ? like_->sums : arrays_.sums;
        spec.math = like_ != nullptr ? like_->math : arrays_.math;
        spec.symmetric = arrays_.is_symmetric;
        spec.a = *arrays_.a.type;
        spec.b = spec.symmetric ? spec.a : *arrays_.b.type;
        spec.accumulator = like_ != nullptr ? like_->accumulator : default_accumulator(spec.a);
        const DataType usual = like_ != nullptr ? like_->d : default_output(spec.a);
        spec.d = arrays_.out.given() ? *arrays_.out.type : arrays_.out_type.value_or(usual);
        problem_.type = spec.d;
        if (arrays_.accumulates)
            spec.c = spec.d;
        else if (arrays_.c.given())
            spec.c = arrays_.c.type;
    }

    /// x @ w with x of (batch, sequence, k) is one product of batch · sequence rows.
    void fold_rows() {
        const bool b_is_one =
            std::ranges::all_of(b_.leading, [](Extent extent) { return extent.size == 1 || extent.stride == 0; });
        if (arrays_.is_symmetric) return;  // rows of all would make columns of all
        if (problem_.batch == 1 || !b_is_one || names_problem() || (like_ != nullptr && is_batched(*like_))) return;
        fold();
    }

    /// Takes leading dimensions as rows, where they lie so.
    void fold() {
        const auto a = folded(a_), d = folded(d_), c = folded(c_);
        if (!a || !d || a->size != d->size) return;  // one A for many results has no rows for all of them
        if (!lie_of(*a, a_.columns) || !lie_of(*d, d_.columns)) return;  // reversed, or one row that is repeated
        a_.rows = *a;
        d_.rows = *d;
        c_.rows = c.value_or(Extent{d->size, 0});
        c_has_rows_ = c.has_value();
        is_folded_ = true;
        problem_.spec.m = a->size;
        problem_.batch = 1;
    }

    /// Whether kernels of a batch with two dimensions serve the epilogue.
    [[nodiscard]] bool may_have_two_dimensions() const {
        if (!arrays_.epilogue) return true;
        return !has_pairs() &&
               std::ranges::none_of(arrays_.epilogue->formula->operands, &EpilogueOperand::is_block_scale);
    }

    /// Takes the longest dimension that no array has reversed out of the list; nothing where there is none.
    static std::optional<LaunchDimension> take_longest(std::vector<LaunchDimension>& dimensions) {
        const auto size_of_batch = [](const LaunchDimension& dimension) {
            const bool is_reversed = std::ranges::any_of(dimension.strides, [](std::int64_t x) { return x < 0; });
            return is_reversed ? 1 : dimension.size;
        };
        const auto longest = std::ranges::max_element(dimensions, {}, size_of_batch);
        if (longest == dimensions.end() || size_of_batch(*longest) == 1) return std::nullopt;
        const LaunchDimension taken = *longest;
        dimensions.erase(longest);
        return taken;
    }

    /// Neighbouring dimensions at one stride in all arrays are one. The two longest are the batch of a launch.
    void lay_out_batch() {
        const std::array<std::vector<Extent>, 4> leading{repeated(a_.leading, leading_), repeated(b_.leading, leading_),
                                                         repeated(c_.leading, leading_), d_.leading};
        std::vector<LaunchDimension>& dimensions = problem_.launches;
        for (std::size_t i = 0; i < leading_.size(); ++i) {
            if (leading_[i] == 1) continue;
            LaunchDimension next{.size = leading_[i], .behind = i + 1};
            for (std::size_t of = 0; of < leading.size(); ++of) next.strides.at(of) = leading.at(of)[i].stride;
            if (!dimensions.empty() && continues(dimensions.back(), next)) {
                next.size = product_of(next.size, dimensions.back().size);
                next.behind = i + 1;
                dimensions.back() = next;
            } else {
                dimensions.push_back(next);
            }
        }
        for (const LaunchDimension& dimension : dimensions) strides_.push_back(dimension.strides);
        const std::optional<LaunchDimension> longest = take_longest(dimensions);
        if (!longest) return;
        const auto next = may_have_two_dimensions() ? take_longest(dimensions) : std::nullopt;
        const bool is_inner = next && next->behind > longest->behind;  // as the result's dimensions are
        const LaunchDimension inner = is_inner ? *next : *longest;
        GemmSpec& spec = problem_.spec;
        spec.batch = next ? product_of(longest->size, next->size) : longest->size;
        spec.batch_stride_a = inner.strides[0];
        spec.batch_stride_b = inner.strides[1];
        spec.batch_stride_c = inner.strides[2];
        spec.batch_stride_d = inner.strides[3];
        if (!next) return;
        const LaunchDimension outer = is_inner ? *longest : *next;
        spec.outer = OuterBatch{.inner = inner.size,
                                .stride_a = outer.strides[0],
                                .stride_b = outer.strides[1],
                                .stride_c = outer.strides[2],
                                .stride_d = outer.strides[3]};
        outer_rank_ = outer.behind;
    }

    /// A launch checks its own matrices alone.
    void check_results_are_apart() {
        if (problem_.is_empty()) return;
        std::vector<Extent> all = d_.leading;
        all.insert(all.end(), {d_.rows, d_.columns});
        std::ranges::sort(all, {}, [](Extent extent) { return std::abs(extent.stride); });
        std::int64_t reach = 0;
        for (const auto& [size, stride] : all) {
            if (size <= 1) continue;
            if (std::abs(stride) <= reach)
                return reasons_.push_back(with_strides(arrays_.out) + ": its elements overlap");
            reach += product_of(size - 1, std::abs(stride));
        }
    }

    /// Whether the outer dimension goes on where the inner one ends.
    static bool continues(const LaunchDimension& outer, const LaunchDimension& inner) {
        for (std::size_t of = 0; of < inner.strides.size(); ++of)
            if (outer.strides.at(of) != product_of(inner.size, inner.strides.at(of))) return false;
        return true;
    }

    /// Of the matrices of a batch, beside those of lines.
    [[nodiscard]] std::vector<std::int64_t> batch_strides(std::size_t of) const {
        std::vector<std::int64_t> list;
        for (const std::array<std::int64_t, 4>& strides : strides_) list.push_back(strides.at(of));
        return list;
    }

    void read_matrices() {
        const bool has_groups = arrays_.offsets.given() && !cuts_k_;  // A and D have their rows one after the other
        const auto preferred = [&](Order order) { return like_ != nullptr ? std::optional(order) : std::nullopt; };
        const GemmSpec usual = like_ != nullptr ? *like_ : GemmSpec();
        GemmSpec& spec = problem_.spec;
        const std::optional<Order> usual_a = cuts_k_      ? Order::column
                                             : has_groups ? Order::row
                                                          : preferred(order_a(usual.layout));
        const Lie a = read(arrays_.a, a_, usual_a, 0, spec.lda, spec.align_a);
        const std::optional<Order> usual_b = cuts_k_ ? Order::row : preferred(order_b(usual.layout));
        const Lie b = arrays_.is_symmetric ? Lie{flipped(a.order), a.leading}
                                           : read(arrays_.b, b_, usual_b, 1, spec.ldb, spec.align_b);
        const std::optional<Order> repeats = c_has_rows_ ? repeated_run(c_) : std::nullopt;
        const Lie d = read(arrays_.out, d_,
                           has_groups ? Order::row
                           : repeats  ? repeats
                                      : preferred_order_of_d(),
                           3, spec.ldd, spec.align_d);
        spec.layout = layout_of(a.order, b.order);
        spec.d_order = d.order;
        if (arrays_.c.given()) read_c(repeats, d.order);
        if (!arrays_.accumulates) return;
        spec.ldc = spec.ldd;
        spec.align_c = spec.align_d;
    }

    [[nodiscard]] std::optional<Order> preferred_order_of_d() const {
        if (like_ != nullptr) return like_->d_order;
        if (!arrays_.epilogue) return std::nullopt;
        if (const auto order = order_of_matrices(*arrays_.epilogue, place_of_d())) return order;
        const bool makes_outputs = !arrays_.out.given() && arrays_.epilogue->outputs.size() > 1;
        return makes_outputs ? std::optional(Order::row) : std::nullopt;  // one column lies both ways
    }

    [[nodiscard]] ResultPlace place_of_d() const {
        const GemmSpec& spec = problem_.spec;
        return {.shape = problem_.shape,
                .has_rows = has_rows_,
                .has_columns = has_columns_,
                .is_folded = is_folded_,
                .batch_rank = is_folded_ ? 0 : leading_.size(),
                .batch = problem_.batch,
                .outer_rank = outer_rank_,
                .is_one_launch = problem_.launches.empty(),
                .groups = cuts_k_ ? 0 : spec.groups,
                .m = spec.m,
                .n = spec.n,
                .k = spec.k,
                .columns = columns_of_d_,
                .type = spec.d,
                .order = spec.d_order};
    }

    void read_epilogue() { problem_.spec.epilogue = epilogue_text(*arrays_.epilogue, place_of_d(), reasons_); }

    /// As D lies: one row (column) of it for all, or each of them.
    void read_c(std::optional<Order> repeats, Order of_d) {
        GemmSpec& spec = problem_.spec;
        const std::optional<Lie> lie = lie_of(c_.rows, c_.columns, of_d);
        const bool is_each = lie && lie->order == of_d;
        if (is_misaligned(arrays_.c) || !c_has_rows_ || (repeats != of_d && !is_each)) return copy_c(of_d);
        spec.broadcast_c = repeats == of_d;
        if (!spec.broadcast_c) spec.ldc = lie->leading;
        spec.align_c = alignment_of(arrays_.c, spec.broadcast_c ? 0 : lie->leading, reasons_, batch_strides(2));
    }

    /// No more of it than what differs: one row (column), if that stands for all.
    void copy_c(Order of_d) {
        GemmSpec& spec = problem_.spec;
        const bool is_matrix = has_rows_ && has_columns_;
        CopyOfC copy{.shape = problem_.shape, .by_column = is_matrix && of_d == Order::column};
        const Extent runs = of_d == Order::row ? c_.rows : c_.columns;
        if (is_matrix && problem_.batch == 1 && c_has_rows_ && runs.stride == 0) {
            spec.broadcast_c = runs.size > 1;
            if (of_d == Order::row)
                std::fill(copy.shape.begin(), copy.shape.end() - 1, 1);
            else
                copy.shape.back() = 1;
        }
        c_ = packed_result();
        problem_.copy_of_c = std::move(copy);
    }

    /// `of`: the place of its strides among those of a batch.
    Lie read(const Operand& operand, const MatrixView& view, std::optional<Order> preferred, std::size_t of,
             std::int64_t& leading, int& alignment) {
        const std::optional<Lie> lie = lie_of(view.rows, view.columns, preferred);
        if (!lie) {
            reasons_.push_back(unordered(operand));
            return {Order::row, 0};
        }
        leading = lie->leading;
        if (operand.given())
            alignment = alignment_of(operand, lie->leading, reasons_, batch_strides(of));
        else if (!problem_.launches.empty())
            alignment = alignment_of(DevicePointer(), problem_.spec.d, lie->leading, batch_strides(of));
        return *lie;
    }

    static std::string unordered(const Operand& operand) {
        return fmt::format("{}: neither its rows nor its columns are contiguous and apart from each other; {}",
                           with_strides(operand), contiguous_copy(operand));
    }

    const Arrays& arrays_;
    const GemmSpec* like_;
    Problem problem_;
    Reasons reasons_;
    MatrixView a_, b_, c_, d_;
    Shape leading_;
    Extent groups_{};
    bool cuts_k_ = false;  ///< groups are parts of K
    bool has_rows_ = true, has_columns_ = true;
    std::int64_t columns_of_d_ = 0;
    bool is_folded_ = false;                            ///< leading dimensions are rows
    std::size_t outer_rank_ = 0;                        ///< leading dimensions that are the outer one of a batch
    std::vector<std::array<std::int64_t, 4>> strides_;  ///< of a batch's dimensions, as LaunchDimension has them
    bool c_has_rows_ = true;  ///< C's leading dimensions and rows lie as rows of one matrix, where those of A and D do
};

}  // namespace

Problem problem_of(const Arrays& arrays, const GemmSpec* like) { return ProblemBuilder(arrays, like).build(); }

namespace {

template <typename Push>
void describe_operand(const Operand& operand, Push push) {
    if (!operand.given()) return push(-1);
    constexpr std::uint64_t kAddressBits = 15;  // all that an alignment of 16 depends on
    push(static_cast<std::int64_t>(operand.data.address & kAddressBits) |
         static_cast<std::int64_t>(*operand.type) << 8 | static_cast<std::int64_t>(operand.rank) << 16);
    for (int i = 0; i < operand.rank; ++i) push(operand.shape[static_cast<std::size_t>(i)]);
    for (int i = 0; i < operand.rank; ++i) push(operand.strides[static_cast<std::size_t>(i)]);
}

}  // namespace

ProblemKey::ProblemKey(const Arrays& arrays) {
    const std::int64_t out_type = arrays.out_type ? 1 + static_cast<std::int64_t>(*arrays.out_type) : 0;
    words_[count_++] = static_cast<std::int64_t>(arrays.accumulates) |
                       static_cast<std::int64_t>(arrays.deterministic) << 1 |
                       static_cast<std::int64_t>(arrays.sums) << 2 | static_cast<std::int64_t>(arrays.math) << 4 |
                       static_cast<std::int64_t>(arrays.is_symmetric) << 7 | out_type << 8;
    const auto push = [this](std::int64_t word) { words_[count_++] = word; };
    describe_operand(arrays.a, push);
    describe_operand(arrays.b, push);
    describe_operand(arrays.c, push);
    describe_operand(arrays.out, push);
    if (arrays.epilogue) add(*arrays.epilogue);
    if (arrays.offsets.given())
        describe_operand(arrays.offsets, [this](std::int64_t word) { of_epilogue_.push_back(word); });
    if (arrays.rows.given()) describe_operand(arrays.rows, [this](std::int64_t word) { of_epilogue_.push_back(word); });
    if (arrays.expected_rows != 0) of_epilogue_.push_back(arrays.expected_rows);
}

void ProblemKey::add(const EpilogueArrays& epilogue) {
    const auto push = [this](std::int64_t word) { of_epilogue_.push_back(word); };
    push(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(epilogue.formula)));
    for (const EpilogueArray& operand : epilogue.operands) describe_operand(operand.array, push);
    for (const EpilogueArray& output : epilogue.outputs) describe_operand(output.array, push);
}

}  // namespace jitgemm::python
