#pragma once

#include "generator/base/round_up.hpp"
#include "generator/epilogue/epilogue_text.hpp"
#include "jitgemm/data_type.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace jitgemm {

/// \file The one list of a problem's operands. It stands in the header because each launch reads it.

/// The size of the problem that is the number of an operand's rows or columns. `one`: a single row or column stands for
/// all. half_n: the pairs of columns that an epilogue makes one of. half_m: the same of the transposed product.
/// blocks_m: blocks of kScaledBlock rows. The last one may have fewer. source_rows: rows of A that an index names.
enum class OperandIndex : std::uint8_t {
    one,
    m,
    n,
    k,
    half_m,
    half_n,
    blocks_m,
    blocks_n,
    blocks_k,
    groups,
    source_rows
};

/// The scalar that must not be 0 if a launch is to read an operand, as in BLAS: alpha, beta, or those that an
/// epilogue's text gives it. Of a factor, k must not be 0 either.
enum class OperandGuard : std::uint8_t { none, alpha, beta, epilogue };

[[nodiscard]] constexpr Order flipped(Order order) { return order == Order::row ? Order::column : Order::row; }

/// A dimension of memory: elements (or lines, or matrices), this many elements apart.
struct MemoryStep {
    std::int64_t count = 1;
    std::int64_t stride = 0;
};
/// The dimensions of matrices beside the elements of a line: lines, and the matrices of the problems along both
/// dimensions of a batch.
using MemorySteps = std::array<MemoryStep, 3>;

/// From the closest elements to those furthest apart. Dimensions of one element come last.
[[nodiscard]] constexpr MemorySteps in_order(MemorySteps steps) {
    const auto is_closer = [](const MemoryStep& x, const MemoryStep& y) {
        if ((x.count > 1) != (y.count > 1)) return x.count > 1;
        return x.count > 1 && x.stride < y.stride;
    };
    std::ranges::sort(steps, is_closer);
    return steps;
}
/// Elements from the first to one past the last, of lines of `run` elements; 0 if there are none.
[[nodiscard]] constexpr std::int64_t reach_of(std::int64_t run, const MemorySteps& steps) {
    std::int64_t reach = run;
    for (const MemoryStep& step : steps) {
        if (run <= 0 || step.count <= 0) return 0;
        reach += (step.count - 1) * step.stride;
    }
    return reach;
}
/// Whether each dimension steps over all elements of those closer together, so that no two elements are one.
[[nodiscard]] constexpr bool are_apart(std::int64_t run, const MemorySteps& steps) {
    std::int64_t reach = run;
    for (const MemoryStep& step : in_order(steps)) {
        if (step.count > 1 && step.stride < reach) return false;
        reach += (step.count - 1) * step.stride;
    }
    return true;
}

/// A matrix in device memory that a launch reads or writes, and its place there.
struct GemmOperand {
    std::string_view name;   ///< "a"; its fields and members are named after it: lda, align_a
    std::string_view title;  ///< in messages: "A"
    OperandIndex row = OperandIndex::one;
    OperandIndex column = OperandIndex::one;
    int row_over = 1;  ///< rows of a block that has one element: an output for blocks of D
    int column_over = 1;
    bool is_written = false;
    bool is_of_group = false;  ///< where rows are in groups, each group has its own: B, and values of a text with b
    OperandGuard guard = OperandGuard::none;
    std::int64_t GemmSpec::*pitch_field = nullptr;           ///< null: packed
    int GemmSpec::*alignment_field = nullptr;                ///< null: the alignment of one element
    std::int64_t GemmSpec::*batch_stride_field = nullptr;    ///< null: one for all problems of a batch
    std::int64_t OuterBatch::*outer_stride_field = nullptr;  ///< along the second dimension of a batch
    DevicePointer GemmArguments::*pointer = nullptr;         ///< null: among the epilogue's operands, by name
    /// Of an epilogue: its scalars of the launch. Where one of those in `guards` is 0, the operand is not read.
    const EpilogueParts* epilogue = nullptr;
    const std::vector<int>* guards = nullptr;

    DataType type = DataType::f32;
    Order order = Order::row;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t pitch = 0;         ///< elements from one line to the next; 0: packed
    int alignment = 0;              ///< of each line, bytes; 0: the alignment that the pitch gives
    bool is_one_line = false;       ///< lines of one element each, side by side: as_lines() makes one line of them
    bool by_addresses = false;      ///< a launch gives an array of the matrices' addresses, which lie anywhere
    std::int64_t batch = 1;         ///< problems
    std::int64_t batch_stride = 0;  ///< elements from a problem's matrix to the next one's; 0: they share it
    std::int64_t inner = 0;         ///< problems that batch_stride steps over; 0: all, the batch has one dimension
    std::int64_t outer_stride = 0;  ///< elements from there to the next `inner` problems; 0: they share matrices

    /// The number of rows if rows are contiguous, else of columns.
    [[nodiscard]] constexpr std::int64_t lines() const { return order == Order::row ? rows : columns; }
    /// The contiguous elements of a line.
    [[nodiscard]] constexpr std::int64_t run() const { return order == Order::row ? columns : rows; }
    [[nodiscard]] constexpr std::int64_t leading_dimension() const {
        return pitch != 0 ? pitch : std::max<std::int64_t>(1, run());
    }
    /// A single line never uses its leading dimension.
    [[nodiscard]] constexpr bool uses_leading_dimension() const { return lines() > 1 && !is_one_line; }
    /// Of one matrix, elements from the first to one past the last.
    [[nodiscard]] constexpr std::int64_t matrix_extent() const {
        return lines() <= 0 || run() <= 0 ? 0 : (lines() - 1) * leading_dimension() + run();
    }
    /// The matrices along the dimension of batch_stride, and along that of outer_stride.
    [[nodiscard]] constexpr std::int64_t inner_matrices() const {
        const std::int64_t problems = inner == 0 ? batch : inner;
        return batch_stride == 0 ? std::min<std::int64_t>(problems, 1) : problems;
    }
    [[nodiscard]] constexpr std::int64_t outer_matrices() const {
        return inner == 0 || outer_stride == 0 ? 1 : batch / inner;
    }
    /// The matrices that the problems of a batch have.
    [[nodiscard]] constexpr std::int64_t matrices() const { return inner_matrices() * outer_matrices(); }
    [[nodiscard]] constexpr MemorySteps steps() const {
        return {MemoryStep{lines(), leading_dimension()}, MemoryStep{inner_matrices(), batch_stride},
                MemoryStep{outer_matrices(), outer_stride}};
    }
    /// Of all matrices, elements from the first to one past the last. Of one, if each has an address.
    [[nodiscard]] constexpr std::int64_t extent() const {
        return by_addresses ? matrix_extent() : reach_of(run(), steps());
    }
    /// Whether A · B multiplies it: its index has k.
    [[nodiscard]] constexpr bool is_factor() const { return row == OperandIndex::k || column == OperandIndex::k; }
    /// Whether it scales blocks of A or B.
    [[nodiscard]] constexpr bool is_block_scale() const {
        return row == OperandIndex::blocks_k || column == OperandIndex::blocks_k;
    }
    /// Whether it has an element for each block of D.
    [[nodiscard]] constexpr bool is_over_blocks() const { return row_over > 1 || column_over > 1; }
    /// Whether it holds numbers of rows: it says where groups end, or names rows of A.
    [[nodiscard]] constexpr bool has_row_numbers() const {
        return pointer == &GemmArguments::offsets || pointer == &GemmArguments::row_index;
    }
    /// Whether it has no element where K is 0.
    [[nodiscard]] constexpr bool needs_k() const { return is_factor() || is_block_scale(); }
    /// Whether its one line stands for all lines of D.
    [[nodiscard]] constexpr bool is_repeated() const { return row == OperandIndex::one || column == OperandIndex::one; }
    /// Whether it has an element for each pair of its rows and columns.
    [[nodiscard]] constexpr bool is_matrix() const { return row != OperandIndex::one && column != OperandIndex::one; }
};

/// Whether a launch of the spec touches no memory: D has no element.
[[nodiscard]] constexpr bool is_empty(const GemmSpec& spec) { return spec.m == 0 || spec.n == 0 || spec.batch == 0; }

/// The address that a launch gives an operand; null if it gives none.
[[nodiscard]] inline DevicePointer address_of(const GemmOperand& operand, const GemmArguments& arguments) {
    if (operand.pointer != nullptr) return arguments.*operand.pointer;
    const OperandArgument* const given = arguments.operands.find(operand.name);
    return given == nullptr ? DevicePointer() : given->pointer;
}
inline void set_address(const GemmOperand& operand, GemmArguments& arguments, DevicePointer address) {
    if (operand.pointer != nullptr)
        arguments.*operand.pointer = address;
    else
        arguments.operands.set({operand.name, address});
}
/// The value that a launch gives a scalar; 0 if it gives none.
[[nodiscard]] inline float scalar_of(std::string_view name, const GemmArguments& arguments) {
    if (name == "alpha") return arguments.alpha;
    if (name == "beta") return arguments.beta;
    const OperandArgument* const given = arguments.operands.find(name);
    return given == nullptr ? 0.0F : given->value;
}

/// The alignment in bytes, at most 16, that a pitch gives to each line. The first line begins at a multiple of 256
/// bytes.
[[nodiscard]] inline int alignment_of_pitch(std::int64_t elements, DataType type) {
    const auto pitch = static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bytes(type));
    return 1 << std::min(std::countr_zero(pitch), 4);
}
[[nodiscard]] inline int natural_alignment(const GemmOperand& operand) {
    constexpr int kMost = 16;
    const bool has_lines = operand.uses_leading_dimension() && operand.run() > 0;
    const int of_lines = has_lines ? alignment_of_pitch(operand.leading_dimension(), operand.type) : kMost;
    const bool has_stride = operand.matrices() > 1 && !operand.by_addresses;
    if (!has_stride) return of_lines;
    return std::min({of_lines, alignment_of_pitch(operand.batch_stride, operand.type),
                     alignment_of_pitch(operand.outer_stride, operand.type)});
}

/// Some operands, in the order in which they are checked, filled and written.
class OperandList {
public:
    void add(const GemmOperand& operand) { operands_.at(size_++) = operand; }
    [[nodiscard]] const GemmOperand* begin() const { return operands_.data(); }
    [[nodiscard]] const GemmOperand* end() const { return operands_.data() + size_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const GemmOperand& operator[](std::size_t place) const { return operands_.at(place); }
    /// Null if no operand has this name.
    [[nodiscard]] const GemmOperand* find(std::string_view name) const {
        const auto* const found =
            std::find_if(begin(), end(), [&](const GemmOperand& one) { return one.name == name; });
        return found == end() ? nullptr : found;
    }

private:
    static constexpr std::size_t kMost = 6 + OperandArguments::kMost;
    std::array<GemmOperand, kMost> operands_{};
    std::size_t size_ = 0;
};

[[nodiscard]] constexpr std::int64_t size_of(OperandIndex index, const GemmSpec& spec) {
    switch (index) {
        case OperandIndex::m: return spec.m;
        case OperandIndex::n: return spec.n;
        case OperandIndex::k: return spec.k;
        case OperandIndex::half_m: return spec.m / 2;
        case OperandIndex::half_n: return spec.n / 2;
        case OperandIndex::blocks_m: return ceil_div<std::int64_t>(spec.m, kScaledBlock);
        case OperandIndex::blocks_n: return ceil_div<std::int64_t>(spec.n, kScaledBlock);
        case OperandIndex::blocks_k: return ceil_div<std::int64_t>(spec.k, kScaledBlock);
        case OperandIndex::groups: return spec.groups;
        case OperandIndex::source_rows: return spec.source_rows;
        default: return spec.m > 0 && spec.n > 0 ? 1 : 0;  // stands for none where there is none
    }
}

/// From one matrix to the next that lies directly behind it.
[[nodiscard]] constexpr std::int64_t behind_one_another(const GemmOperand& operand) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t lines = std::max<std::int64_t>(operand.lines(), 1), pitch = operand.leading_dimension();
    return pitch > kMost / lines ? kMost : lines * pitch;  // wrong leading dimensions have their own message
}

/// The outer stride of matrices that lie directly behind those of the inner problems, however these lie.
[[nodiscard]] constexpr std::int64_t behind_inner(const GemmOperand& operand) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t inner = std::max<std::int64_t>(operand.inner, 1);
    const std::int64_t all = operand.batch_stride > kMost / inner ? kMost : inner * operand.batch_stride;
    return std::max(behind_one_another(operand), all);
}

/// The rows that costs count: m, or as many as all groups are expected to have.
[[nodiscard]] constexpr std::int64_t expected_rows(const GemmSpec& spec) {
    if (!is_grouped(spec) || spec.expected_rows == 0) return spec.m;
    return std::min(spec.m, spec.groups * spec.expected_rows);
}

/// The K that costs count, of all groups likewise.
[[nodiscard]] constexpr std::int64_t expected_k(const GemmSpec& spec) {
    if (!is_grouped_by_k(spec) || spec.expected_rows == 0) return spec.k;
    return std::min(spec.k, spec.groups * spec.expected_rows);
}

/// The problems that may have a matrix each: those of the batch; of grouped rows, the groups. Groups of K are a batch.
[[nodiscard]] constexpr std::int64_t problems_of(bool is_of_group, const GemmSpec& spec) {
    return is_grouped_by_k(spec) || (is_of_group && is_grouped(spec)) ? spec.groups : spec.batch;
}
[[nodiscard]] constexpr bool has_batch_stride(bool is_of_group, const GemmSpec& spec) {
    return is_batched(spec) || is_grouped_by_k(spec) || (is_of_group && is_grouped(spec));
}

/// The operand with the sizes, the pitch and the alignment of the spec. A repeated operand has one line and no pitch.
[[nodiscard]] inline GemmOperand placed(GemmOperand operand, const GemmSpec& spec) {
    operand.rows = ceil_div<std::int64_t>(size_of(operand.row, spec), operand.row_over);
    operand.columns = ceil_div<std::int64_t>(size_of(operand.column, spec), operand.column_over);
    if (operand.pitch_field != nullptr && !operand.is_repeated()) operand.pitch = spec.*operand.pitch_field;
    operand.alignment = operand.alignment_field != nullptr ? spec.*operand.alignment_field : bytes(operand.type);
    // A batch-invariant row has its kernel, whether or not others stand beside it.
    const bool turns = !has_groups(spec) && !spec.symmetric &&
                       (operand.is_factor() || (!spec.c && spec.epilogue.empty()));  // they have D's order
    operand.is_one_line = turns && operand.lines() > 1 && operand.run() == 1 && operand.leading_dimension() == 1 &&
                          spec.deterministic != Determinism::batch_invariant;
    operand.batch = problems_of(operand.is_of_group, spec);
    if (operand.batch_stride_field != nullptr && has_batch_stride(operand.is_of_group, spec)) {
        const std::int64_t stride = spec.*operand.batch_stride_field;
        const bool is_cut = is_grouped_by_k(spec) && operand.is_factor();  // each problem has a part of the one matrix
        const bool is_shared = operand.is_repeated() && !spec.pointers;    // the one row of a broadcast C
        operand.by_addresses = spec.pointers;
        operand.batch_stride = is_cut                   ? 0
                               : stride != kPackedBatch ? stride
                               : is_shared              ? 0
                                                        : behind_one_another(operand);
        if (is_nested(spec)) {
            operand.inner = spec.outer->inner;
            const std::int64_t outer = (*spec.outer).*operand.outer_stride_field;
            operand.outer_stride = outer != kPackedBatch ? outer : is_shared ? 0 : behind_inner(operand);
        }
    }
    return operand;
}

/// The index of D: m and n, but where an epilogue makes one of two columns, half of n.
struct MatrixIndex {
    OperandIndex row = OperandIndex::m;
    OperandIndex column = OperandIndex::n;
};
[[nodiscard]] inline MatrixIndex index_of_d(const EpilogueParts* epilogue) {
    if (epilogue == nullptr || epilogue->pairs == EpiloguePairs::none) return {};
    if (epilogue->is_transposed) return {.row = OperandIndex::half_m};
    return {.column = OperandIndex::half_n};
}

/// The parts of a spec's epilogue; null without a text, and for a text that breaks a rule.
[[nodiscard]] const EpilogueParts* parts_of(const GemmSpec& spec);
/// Rows and columns of D.
struct MatrixSize {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};
[[nodiscard]] MatrixSize size_of_d(const GemmSpec& spec);
/// Of a value of its epilogue.
[[nodiscard]] MatrixSize size_of(const EpilogueIndex& index, const EpilogueParts& parts, const GemmSpec& spec);
/// A launch with the scalars of the spec's epilogue and nothing else. Of a text, beta has its value and all others have
/// that of alpha.
[[nodiscard]] GemmArguments scalar_arguments(const GemmSpec& spec, float alpha, float beta);
/// The leading dimension of a matrix that has `run` elements in a line.
[[nodiscard]] inline std::int64_t pitch_of(const EpilogueLayout& layout, std::int64_t run) {
    return layout.ld != 0 ? layout.ld : std::max<std::int64_t>(1, run);
}
/// One of its operands that lie in memory, with the problem's sizes.
[[nodiscard]] GemmOperand epilogue_operand(const EpilogueOperand& of, const EpilogueParts& parts, const GemmSpec& spec);
/// One of its outputs beside D.
[[nodiscard]] GemmOperand epilogue_output(const EpilogueOutput& of, const EpilogueParts& parts, const GemmSpec& spec);

/// Calls `visit` with each operand of a spec. `broadcasts_c` says that C is one line, by the spec or by the launch.
/// The visitor is inlined, so that gemm_operands() writes each field once: each launch calls it.
template <typename Visit>
void for_each_operand(const GemmSpec& spec, bool broadcasts_c, Visit visit) {
    using enum OperandIndex;
    const auto by_row = spec.d_order == Order::row;
    const EpilogueParts* const epilogue = parts_of(spec);
    const std::vector<int>* const guards = epilogue == nullptr ? nullptr : &epilogue->acc_guards;
    const OperandGuard guard = epilogue == nullptr ? OperandGuard::alpha : OperandGuard::epilogue;
    visit(placed({.name = "a",
                  .title = "A",
                  .row = is_gathered(spec) ? source_rows : m,
                  .column = k,
                  .guard = guard,
                  .pitch_field = &GemmSpec::lda,
                  .alignment_field = &GemmSpec::align_a,
                  .batch_stride_field = &GemmSpec::batch_stride_a,
                  .outer_stride_field = &OuterBatch::stride_a,
                  .pointer = &GemmArguments::a,
                  .epilogue = epilogue,
                  .guards = guards,
                  .type = spec.a,
                  .order = order_a(spec.layout)},
                 spec));
    visit(placed({.name = "b",
                  .title = "B",
                  .row = k,
                  .column = n,
                  .is_of_group = true,
                  .guard = guard,
                  .pitch_field = &GemmSpec::ldb,
                  .alignment_field = &GemmSpec::align_b,
                  .batch_stride_field = &GemmSpec::batch_stride_b,
                  .outer_stride_field = &OuterBatch::stride_b,
                  .pointer = spec.symmetric ? &GemmArguments::a : &GemmArguments::b,
                  .epilogue = epilogue,
                  .guards = guards,
                  .type = spec.b,
                  .order = order_b(spec.layout)},
                 spec));
    if (spec.c)
        visit(placed({.name = "c",
                      .title = "C",
                      .row = broadcasts_c && by_row ? one : m,
                      .column = broadcasts_c && !by_row ? one : n,
                      .guard = OperandGuard::beta,
                      .pitch_field = &GemmSpec::ldc,
                      .alignment_field = &GemmSpec::align_c,
                      .batch_stride_field = &GemmSpec::batch_stride_c,
                      .outer_stride_field = &OuterBatch::stride_c,
                      .pointer = &GemmArguments::c,
                      .type = *spec.c,
                      .order = spec.d_order},
                     spec));
    if (has_groups(spec))
        visit(placed({.name = "offsets",
                      .title = "offsets",
                      .column = groups,
                      .pointer = &GemmArguments::offsets,
                      .type = DataType::s32},
                     spec));
    if (is_gathered(spec))
        visit(placed({.name = "row_index",
                      .title = "row_index",
                      .column = m,
                      .pointer = &GemmArguments::row_index,
                      .type = DataType::s32},
                     spec));
    const MatrixIndex index = index_of_d(epilogue);
    visit(placed({.name = "d",
                  .title = "D",
                  .row = index.row,
                  .column = index.column,
                  .is_written = true,
                  .pitch_field = &GemmSpec::ldd,
                  .alignment_field = &GemmSpec::align_d,
                  .batch_stride_field = &GemmSpec::batch_stride_d,
                  .outer_stride_field = &OuterBatch::stride_d,
                  .pointer = &GemmArguments::d,
                  .type = spec.d,
                  .order = spec.d_order},
                 spec));
    if (epilogue == nullptr) return;
    for (const EpilogueOperand& operand : epilogue->operands)
        if (!operand.is_scalar) visit(epilogue_operand(operand, *epilogue, spec));
    for (const EpilogueOutput& output : epilogue->outputs)
        if (is_beside_d(output)) visit(epilogue_output(output, *epilogue, spec));
}

/// The operands of a spec, as for_each_operand() has them, but each memory once: a symmetric product has no B.
[[nodiscard]] inline OperandList gemm_operands(const GemmSpec& spec, bool broadcasts_c) {
    OperandList list;
    for_each_operand(spec, broadcasts_c, [&](const GemmOperand& operand) {
        if (!spec.symmetric || operand.name != "b") list.add(operand);
    });
    return list;
}
[[nodiscard]] inline OperandList gemm_operands(const GemmSpec& spec) { return gemm_operands(spec, spec.broadcast_c); }
/// The operands that a kernel takes: C in full, whatever a launch brings, and B, which may be A's memory.
[[nodiscard]] inline OperandList kernel_operands(const GemmSpec& spec) {
    OperandList list;
    for_each_operand(spec, false, [&](const GemmOperand& operand) { list.add(operand); });
    return list;
}

/// Whether a scalar of an epilogue that guards something is 0.
[[nodiscard]] inline bool is_guarded_off(const EpilogueParts& epilogue, const std::vector<int>& guards,
                                         const GemmArguments& arguments) {
    const auto is_zero = [&](int place) {
        return scalar_of(epilogue.operands[static_cast<std::size_t>(place)].name, arguments) == 0.0F;
    };
    return std::ranges::any_of(guards, is_zero);
}

/// Whether a launch that has rows and columns reads an operand of a problem without a text.
[[nodiscard]] constexpr bool is_used(OperandGuard guard, bool has_k, float alpha, float beta) {
    if (guard == OperandGuard::alpha) return has_k && alpha != 0.0F;
    return guard != OperandGuard::beta || beta != 0.0F;
}
/// The same of any problem.
[[nodiscard]] inline bool is_used(const GemmOperand& operand, bool has_k, const GemmArguments& arguments) {
    if (operand.needs_k() && !has_k) return false;
    if (operand.guard == OperandGuard::epilogue) return !is_guarded_off(*operand.epilogue, *operand.guards, arguments);
    return is_used(operand.guard, has_k, arguments.alpha, arguments.beta);
}
[[nodiscard]] inline bool is_used(const GemmOperand& operand, const GemmSpec& spec, const GemmArguments& arguments) {
    return is_used(operand, spec.k != 0, arguments);
}

}  // namespace jitgemm
