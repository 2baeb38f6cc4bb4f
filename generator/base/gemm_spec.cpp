#include "jitgemm/gemm_spec.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/operand_parts.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/epilogue/epilogue_text.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
constexpr int kMaxAlignment = 16;

using Reasons = std::vector<std::string>;

std::string_view line_name(const GemmOperand& x) { return x.order == Order::row ? "row" : "column"; }

/// A field of the spec, or a key of its text: "lda", "ld-x" of an epilogue's operand.
std::string pitch_name(const GemmOperand& x) {
    return fmt::format("{}{}", x.pitch_field != nullptr ? "ld" : "ld-", x.name);
}
std::string alignment_name(const GemmOperand& x) {
    return fmt::format("{}{}", x.alignment_field != nullptr ? "align_" : "align-", x.name);
}

void check_extent(char name, std::int64_t value, Reasons& reasons) {
    if (value < 0) reasons.push_back(fmt::format("{} is {}: a size cannot be negative", name, value));
    if (value > kLargestExtent)
        reasons.push_back(fmt::format("{} is {}: the largest size is {}", name, value, kLargestExtent));
}

/// True when the leading dimension can be reckoned with.
bool check_leading_dimension(const GemmOperand& x, Reasons& reasons) {
    const std::int64_t least = std::max<std::int64_t>(1, x.run());
    if (x.pitch == 0 || x.pitch >= least) return true;
    reasons.push_back(fmt::format("{0} is {1}: a {2} of {3} holds {4} elements, so {0} is at least {5}", pitch_name(x),
                                  x.pitch, line_name(x), x.title, x.run(), least));
    return false;
}

bool check_total_size(const GemmOperand& x, Reasons& reasons) {
    const std::int64_t lines = std::max<std::int64_t>(1, x.lines());
    if (x.leading_dimension() <= kMaxBytes / bytes(x.type) / lines) return true;
    reasons.push_back(
        fmt::format("{} takes {} {}s of {} elements of {} bytes: more than the {} bytes an address can reach", x.title,
                    lines, line_name(x), x.leading_dimension(), bytes(x.type), kMaxBytes));
    return false;
}

std::string stride_name(const GemmOperand& x) { return fmt::format("batch_stride_{}", x.name); }
std::string outer_stride_name(const GemmOperand& x) { return fmt::format("outer_stride_{}", x.name); }

void check_batch_stride(std::string_view name, std::int64_t stride, Reasons& reasons) {
    if (stride >= kPackedBatch) return;
    reasons.push_back(fmt::format("{} is {}: it is at least 0, or {} for packed matrices", name, stride, kPackedBatch));
}

/// The end of the last matrix is counted in bytes, of 64 bits.
bool check_batch_size(const GemmOperand& x, Reasons& reasons) {
    if (x.by_addresses) return true;
    std::int64_t room = kMaxBytes / bytes(x.type) - x.matrix_extent();
    const auto takes = [&](std::string_view name, std::int64_t stride, std::int64_t count) {
        const std::int64_t steps = std::max<std::int64_t>(1, count - 1);
        if (stride > room / steps) {
            reasons.push_back(
                fmt::format("{} is {}: {} matrices of {} bytes an element end beyond the {} bytes an address can "
                            "reach",
                            name, stride, x.batch, bytes(x.type), kMaxBytes));
            return false;
        }
        room -= stride * steps;
        return true;
    };
    if (!takes(stride_name(x), x.batch_stride, x.inner == 0 ? x.batch : x.inner)) return false;
    return x.inner == 0 || takes(outer_stride_name(x), x.outer_stride, x.batch / x.inner);
}

/// "pre[b,m,n]"
std::string with_own_index(const GemmOperand& x) {
    const std::string_view column = x.column == OperandIndex::half_n ? ",h" : ",n";
    return fmt::format("{}[b{}{}]", x.name, x.row == OperandIndex::one ? "" : ",m",
                       x.column == OperandIndex::one ? "" : column);
}

/// Heads may lie side by side in each line, and sequences one behind the other.
void check_apart_in_two_dimensions(const GemmOperand& x, Reasons& reasons) {
    if (x.outer_stride != 0 && x.batch_stride != 0 && are_apart(x.run(), x.steps())) return;
    reasons.push_back(
        fmt::format("{} is {} and {} is {}: the matrices of {} would overlap. Each of {} ({}), {} and {} must be at "
                    "least as long as all elements that the smaller ones step through, with the gaps between them",
                    stride_name(x), x.batch_stride, outer_stride_name(x), x.outer_stride, x.title, pitch_name(x),
                    x.leading_dimension(), stride_name(x), outer_stride_name(x)));
}

/// The matrices of an output lie one behind the other, or side by side in each line.
void check_apart(const GemmOperand& x, Reasons& reasons) {
    if (!x.is_written || x.batch <= 1 || x.by_addresses || x.matrix_extent() == 0) return;
    if (x.pointer == nullptr && x.batch_stride == 0)
        return reasons.push_back(
            fmt::format("all problems of the batch would store one {}: its index must begin with b, as {}", x.name,
                        with_own_index(x)));
    if (x.inner != 0) return check_apart_in_two_dimensions(x, reasons);
    if (x.batch_stride != 0 && are_apart(x.run(), x.steps())) return;
    reasons.push_back(fmt::format(
        "{} is {}: the matrices of {} would overlap. It must be at least {}, or side by side in each {} of {} elements",
        stride_name(x), x.batch_stride, x.title, x.matrix_extent(), line_name(x), x.leading_dimension()));
}

/// The second dimension of a batch.
void check_outer_batch(const GemmSpec& spec, Reasons& reasons) {
    if (!spec.outer) return;
    const OuterBatch& outer = *spec.outer;
    for (const auto& [name, stride] : {std::pair{'a', outer.stride_a}, std::pair{'b', outer.stride_b},
                                       std::pair{'c', outer.stride_c}, std::pair{'d', outer.stride_d}}) {
        check_batch_stride(fmt::format("outer_stride_{}", name), stride, reasons);
        if (outer.inner == 0 && stride != kPackedBatch)
            reasons.push_back(
                fmt::format("outer_stride_{} is {}, but batch_inner is 0: the batch has one dimension", name, stride));
    }
    if (outer.inner < 0)
        reasons.push_back(fmt::format("batch_inner is {}: it cannot be negative", outer.inner));
    else if (outer.inner > 0 && spec.batch % outer.inner != 0)
        reasons.push_back(fmt::format("batch_inner is {} and batch is {}: batch must be a multiple of batch_inner",
                                      outer.inner, spec.batch));
    if (outer.inner > 0 && spec.pointers)
        reasons.push_back(fmt::format(
            "batch_inner is {}, but pointers is yes: each matrix has its own address, so leave batch_inner out",
            outer.inner));
    if (outer.inner > 0 && has_groups(spec))
        reasons.push_back(fmt::format("batch_inner is {}, but groups is {}: groups lie along one dimension",
                                      outer.inner, spec.groups));
}

/// True when the batch can be reckoned with.
bool check_batch(const GemmSpec& spec, Reasons& reasons) {
    const std::size_t before = reasons.size();
    if (spec.batch < 0) reasons.push_back(fmt::format("batch is {}: it cannot be negative", spec.batch));
    if (spec.batch > kLargestExtent)
        reasons.push_back(fmt::format("batch is {}: the largest is {}", spec.batch, kLargestExtent));
    for (const auto& [name, stride] : {std::pair{'a', spec.batch_stride_a}, std::pair{'b', spec.batch_stride_b},
                                       std::pair{'c', spec.batch_stride_c}, std::pair{'d', spec.batch_stride_d}})
        check_batch_stride(fmt::format("batch_stride_{}", name), stride, reasons);
    check_outer_batch(spec, reasons);
    return reasons.size() == before;
}

/// Each matrix of each problem has an address of its own.
void check_pointers(const GemmSpec& spec, Reasons& reasons) {
    if (!spec.pointers) return;
    for (const auto& [name, stride] : {std::pair{'a', spec.batch_stride_a}, std::pair{'b', spec.batch_stride_b},
                                       std::pair{'c', spec.batch_stride_c}, std::pair{'d', spec.batch_stride_d}})
        if (stride != kPackedBatch)
            reasons.push_back(fmt::format(
                "batch_stride_{} is {}, but pointers is yes: each matrix has its own address, so leave the stride out",
                name, stride));
    if (has_groups(spec))
        reasons.push_back(
            fmt::format("pointers is yes, but groups is {}: groups are parts of one A or one D, so leave pointers out",
                        spec.groups));
    if (spec.prepared != Prepared::none)
        reasons.push_back(fmt::format(
            "pointers is yes, but prepared is {}: problems share a prepared operand, but each has its own address",
            to_string(spec.prepared)));
}

/// Groups of K lie one behind the other, in one A and one B.
void check_groups_of_k(const GemmSpec& spec, Reasons& reasons) {
    if (is_gathered(spec))
        reasons.push_back(
            fmt::format("source_rows is {}, but ragged is k: only groups of rows have a row_index", spec.source_rows));
    if (spec.group_rows != 0)
        reasons.push_back(
            fmt::format("group_rows is {}, but ragged is k: groups of K lie one behind the other", spec.group_rows));
    for (const auto& [name, stride] : {std::pair{'a', spec.batch_stride_a}, std::pair{'b', spec.batch_stride_b}})
        if (stride != kPackedBatch && stride != 0)
            reasons.push_back(fmt::format("batch_stride_{} is {}, but ragged is k: groups are parts of one A and one B",
                                          name, stride));
}

/// The rules of groups that hold for every kernel.
void check_groups(const GemmSpec& spec, Reasons& reasons) {
    if (!has_groups(spec)) {
        if (spec.ragged == Ragged::k) reasons.emplace_back("ragged is k, but there are no groups: name their number");
        for (const auto& [name, rows] :
             {std::pair{"group_rows", spec.group_rows}, std::pair{"expected_rows", spec.expected_rows},
              std::pair{"source_rows", spec.source_rows}})
            if (rows != 0)
                reasons.push_back(fmt::format("{} is {}, but there are no groups: name their number", name, rows));
        return;
    }
    if (spec.expected_rows < 0 || spec.expected_rows > kLargestExtent)
        reasons.push_back(
            fmt::format("expected_rows is {}: it must be from 0 to {}", spec.expected_rows, kLargestExtent));
    if (spec.source_rows < 0 || spec.source_rows > kLargestExtent)
        reasons.push_back(fmt::format("source_rows is {}: it must be from 1 to {}, or 0 for an A of m rows",
                                      spec.source_rows, kLargestExtent));
    if (spec.groups < 0 || spec.groups > kMostGroups)
        reasons.push_back(
            fmt::format("groups is {}: it must be from 1 to {}, or 0 for none", spec.groups, kMostGroups));
    const bool is_batch_of_groups = is_grouped_by_k(spec) && spec.batch == spec.groups;
    if (is_batched(spec) && !is_batch_of_groups)
        reasons.push_back(
            fmt::format("groups is {} and batch is {}: one of them must be left out", spec.groups, spec.batch));
    if (is_grouped_by_k(spec)) return check_groups_of_k(spec, reasons);
    const bool is_full = spec.group_rows == 0 || (spec.group_rows > 0 && spec.m % spec.group_rows == 0 &&
                                                  spec.m / spec.group_rows == spec.groups);
    if (!is_full)
        reasons.push_back(fmt::format("group_rows is {} and m is {}: m must be group_rows times the {} groups",
                                      spec.group_rows, spec.m, spec.groups));
    if (spec.d_order == Order::column)
        reasons.emplace_back("D is column-major, but groups are rows that lie one after the other: leave d_layout out");
    for (const auto& [name, stride] : {std::pair{'a', spec.batch_stride_a}, std::pair{'c', spec.batch_stride_c},
                                       std::pair{'d', spec.batch_stride_d}})
        if (stride != kPackedBatch)
            reasons.push_back(
                fmt::format("batch_stride_{} is {}: with groups, only B has a batch stride", name, stride));
    const EpilogueParts* const text = parts_of(spec);
    if (text == nullptr) return;
    const auto check = [&](const std::string& name, const EpilogueIndex& index) {
        const std::optional<EpiloguePlace> rows = index.place_of('m');
        if (index.of_problem && rows)
            reasons.push_back(
                fmt::format("{} has the index [{}]: m counts the rows of all groups, so that b, the group, "
                            "stands beside n alone",
                            name, to_string(index)));
        if (index.has_k() && rows && rows->over != 1)
            reasons.push_back(
                fmt::format("{} has the index [{}]: a group may begin at any row, so that a scale of A "
                            "is for one row",
                            name, to_string(index)));
        if (is_gathered(spec) && index.has_k() && rows)
            reasons.push_back(
                fmt::format("{} has the index [{}], but source_rows is {}: m counts rows of D, and no kernel gathers "
                            "the scales of A's rows",
                            name, to_string(index), spec.source_rows));
    };
    for (const EpilogueOperand& operand : text->operands) check(operand.name, operand.index);
    for (const EpilogueOutput& output : text->outputs) check(output.name, output.index);
}

/// The text of a symmetric product makes an element of D of its own sum alone: the element across has the same one.
void check_symmetric_epilogue(const GemmSpec& spec, Reasons& reasons) {
    const EpilogueParts* const text = parts_of(spec);
    if (text == nullptr) return;
    for (const EpilogueOperand& operand : text->operands)
        if (!operand.is_scalar)
            reasons.push_back(
                fmt::format("symmetric is yes, but the epilogue reads {}: it may read scalars of the launch only",
                            with_index(operand.name, operand.index)));
    for (const EpilogueOutput& output : text->outputs)
        if (is_beside_d(output))
            reasons.push_back(fmt::format("symmetric is yes, but the epilogue stores {}: it may store d only",
                                          with_index(output.name, output.index)));
    if (text->pairs != EpiloguePairs::none)
        reasons.emplace_back("symmetric is yes, but the epilogue stores pairs of columns, which have no transpose");
}

/// B is A transposed, so fields of B must have A's values.
void check_symmetric(const GemmSpec& spec, Reasons& reasons) {
    if (!spec.symmetric) return;
    if (spec.m != spec.n)
        reasons.push_back(fmt::format("symmetric is yes, but m is {} and n is {}: they must be equal", spec.m, spec.n));
    if (spec.b != spec.a)
        reasons.push_back(fmt::format("symmetric is yes, but a is {} and b is {}: B is A transposed", to_string(spec.a),
                                      to_string(spec.b)));
    const Order of_a = order_a(spec.layout);
    if (order_b(spec.layout) == of_a)
        reasons.push_back(fmt::format("symmetric is yes, but the layout is {}: B is A transposed, which is {}",
                                      to_string(spec.layout), to_string(layout_of(of_a, flipped(of_a)))));
    const auto check = [&](std::string_view name, std::int64_t of_b, std::int64_t given, std::int64_t usual) {
        if (of_b != given && of_b != usual)
            reasons.push_back(
                fmt::format("symmetric is yes, but {0}b is {1} and {0}a is {2}: B is A transposed, so leave {0}b out",
                            name, of_b, given));
    };
    check("ld", spec.ldb, spec.lda, 0);
    check("align_", spec.align_b, spec.align_a, 0);
    check("batch_stride_", spec.batch_stride_b, spec.batch_stride_a, kPackedBatch);
    if (is_nested(spec)) check("outer_stride_", spec.outer->stride_b, spec.outer->stride_a, kPackedBatch);
    if (spec.c)
        reasons.push_back(
            fmt::format("symmetric is yes, but c is {}: no kernel adds C to a symmetric product", to_string(*spec.c)));
    if (has_groups(spec))
        reasons.push_back(fmt::format("symmetric is yes, but groups is {}: groups have a B", spec.groups));
    if (has_parts(spec))
        reasons.push_back(
            fmt::format("symmetric is yes, but math is {}: products of parts are added in another order across the "
                        "diagonal. It must be ieee or tf32",
                        to_string(spec.math)));
    check_symmetric_epilogue(spec, reasons);
}

void check_alignment(const GemmOperand& x, bool strides_are_sound, Reasons& reasons) {
    if (x.alignment == 0) return;
    const bool power_of_two = x.alignment > 0 && std::has_single_bit(static_cast<unsigned>(x.alignment));
    if (!power_of_two || x.alignment > kMaxAlignment || x.alignment < bytes(x.type)) {
        reasons.push_back(fmt::format("{} is {}: it must be a power of two from {} (one {} element) to {} bytes",
                                      alignment_name(x), x.alignment, bytes(x.type), to_string(x.type), kMaxAlignment));
        return;
    }
    if (!strides_are_sound || x.alignment <= natural_alignment(x)) return;
    const auto refuse = [&](std::string_view name, std::int64_t elements, std::string_view of) {
        reasons.push_back(
            fmt::format("{} is {}: {} is {} elements of {} bytes, which gives every {} an alignment of only {} bytes",
                        alignment_name(x), x.alignment, name, elements, bytes(x.type), of, natural_alignment(x)));
    };
    const bool has_strides = x.matrices() > 1 && !x.by_addresses;
    const auto is_less_aligned = [&](std::int64_t stride) { return alignment_of_pitch(stride, x.type) < x.alignment; };
    if (has_strides && is_less_aligned(x.batch_stride)) return refuse(stride_name(x), x.batch_stride, "matrix");
    if (has_strides && is_less_aligned(x.outer_stride)) return refuse(outer_stride_name(x), x.outer_stride, "matrix");
    refuse(pitch_name(x), x.leading_dimension(), line_name(x));
}

/// A number that was cast to an enumeration and is none of it. Nothing else can be said of such a spec.
void check_enumerations(const GemmSpec& spec, Reasons& reasons) {
    for (const GemmSpecField& field : gemm_spec_fields())
        if (field.is_known != nullptr && !field.is_known(spec))
            reasons.push_back(
                fmt::format("{} is {}: no value of this field has that number", field.key, field.value(spec)));
}

void check_operand(const GemmOperand& x, Reasons& reasons) {
    const bool sizes_are_sound =
        x.lines() >= 0 && x.run() >= 0 && x.lines() <= kLargestExtent && x.run() <= kLargestExtent;
    const bool strides_are_sound = sizes_are_sound && check_leading_dimension(x, reasons) &&
                                   check_total_size(x, reasons) && check_batch_size(x, reasons);
    check_alignment(x, strides_are_sound, reasons);
    if (strides_are_sound) check_apart(x, reasons);
}

/// Whoever has room between the rows of a C may leave it there, for what it is worth; a number that no C has is a
/// mistake.
void check_broadcast_c(const GemmSpec& spec, Reasons& reasons) {
    if (!spec.broadcast_c) return;
    if (!spec.c) reasons.emplace_back("broadcast_c is yes, but c is none: leave broadcast_c out, or name C's type");
    const std::int64_t run = spec.d_order == Order::row ? spec.n : spec.m;
    if (spec.c && spec.ldc != 0 && spec.ldc < run)
        reasons.push_back(fmt::format("ldc is {}: C is one {}, so ldc must be 0 or at least its {} elements", spec.ldc,
                                      spec.d_order == Order::row ? "row" : "column", run));
}

/// The index of a value that the text reads or stores; null if it has none of that name.
const EpilogueIndex* index_of(std::string_view name, const EpilogueParts& parts) {
    const auto operand = std::ranges::find(parts.operands, name, &EpilogueOperand::name);
    if (operand != parts.operands.end()) return &operand->index;
    const auto output = std::ranges::find(parts.outputs, name, &EpilogueOutput::name);
    return output != parts.outputs.end() && is_beside_d(*output) ? &output->index : nullptr;
}

/// Layouts are of matrices that the text reads, or stores beside d.
void check_layouts(const GemmSpec& spec, const EpilogueParts& parts, Reasons& reasons) {
    for (const auto& [name, layout] : layouts_of(spec.epilogue)) {
        const EpilogueIndex* const index = index_of(name, parts);
        const bool has_lines = index != nullptr && index->row && index->column;
        if (index != nullptr && !index->of_problem && layout.batch_stride != kPackedBatch)
            reasons.push_back(
                fmt::format("batch-stride-{0} is {1}, but the index of {0} has no b: only {0}[b,...] has one "
                            "for each problem",
                            name, layout.batch_stride));
        if (index != nullptr && !(index->of_problem && is_nested(spec)) && layout.outer_stride != kPackedBatch)
            reasons.push_back(fmt::format("outer-stride-{0} is {1}, but {2}", name, layout.outer_stride,
                                          index->of_problem ? "the batch has one dimension: batch-inner is 0"
                                                            : fmt::format("the index of {} has no b", name)));
        check_batch_stride(fmt::format("batch-stride-{}", name), layout.batch_stride, reasons);
        check_batch_stride(fmt::format("outer-stride-{}", name), layout.outer_stride, reasons);
        if (has_lines || (index != nullptr && layout.ld == 0 && layout.align == 0)) continue;
        const std::string given = layout.ld != 0      ? fmt::format("ld-{} is {}", name, layout.ld)
                                  : layout.align != 0 ? fmt::format("align-{} is {}", name, layout.align)
                                                      : fmt::format("batch-stride-{} is {}", name, layout.batch_stride);
        reasons.push_back(
            index == nullptr
                ? fmt::format("{}, but the epilogue reads no '{}'", given, name)
                : fmt::format("{}, but {} is no matrix: only one of two places, as [m,n], has a layout", given, name));
    }
}

/// D's element is made of two columns of the product.
void check_pairs(const GemmSpec& spec, const EpilogueParts& parts, Reasons& reasons) {
    if (parts.pairs == EpiloguePairs::none) return;
    const std::int64_t paired = parts.is_transposed ? spec.m : spec.n;
    if (paired % 2 != 0)
        reasons.push_back(fmt::format("n is {}, but the epilogue makes pairs of columns: n must be even", paired));
    if (spec.d_order == Order::column)
        reasons.emplace_back("D is column-major, but an epilogue with pairs of columns stores it row-major");
}

void check_epilogue(const GemmSpec& spec, Reasons& reasons) {
    if (spec.epilogue.empty()) return;
    const EpilogueReading reading = reading_of(spec.epilogue, spec.d);
    for (const EpilogueProblem& problem : reading.problems)
        reasons.push_back(fmt::format("epilogue '{}', {}", spec.epilogue.text(), to_string(problem)));
    if (spec.c)
        reasons.push_back(fmt::format("c is {} beside an epilogue: leave c out, and name it in the text as c[m,n]",
                                      to_string(*spec.c)));
    if (!reading.epilogue) return;
    for (const EpilogueOutput& output : reading.epilogue->parts().outputs)
        if (output.name == "d" && output.type.value_or(spec.d) != spec.d)
            reasons.push_back(fmt::format("the epilogue declares d as {}, but the problem's D is {}",
                                          to_string(*output.type), to_string(spec.d)));
    check_layouts(spec, reading.epilogue->parts(), reasons);
    check_pairs(spec, reading.epilogue->parts(), reasons);
}

/// Types of the accumulator, of C and of D that A's type allows. A type without a row cannot be multiplied.
struct TypeRule {
    DataType input;
    std::vector<DataType> accumulators;
    std::vector<DataType> added;    // of C
    std::vector<DataType> outputs;  // of D
};

const std::vector<TypeRule>& type_rules() {
    using enum DataType;
    static const std::vector<TypeRule> rules{
        {f16, {f32, f16}, {f16, bf16, f32}, {f16, bf16, f32, e4m3, e5m2}},
        {bf16, {f32}, {f16, bf16, f32}, {f16, bf16, f32, e4m3, e5m2}},
        {f32, {f32}, {f16, bf16, f32}, {f16, bf16, f32}},
        {tf32, {f32}, {f16, bf16, f32}, {f16, bf16, f32}},
        {e4m3, {f32, f16}, {f16, bf16, f32, e4m3, e5m2}, {f16, bf16, f32, e4m3, e5m2}},
        {e5m2, {f32, f16}, {f16, bf16, f32, e4m3, e5m2}, {f16, bf16, f32, e4m3, e5m2}},
        {s8, {s32}, {f16, bf16, f32}, {s32, f16, bf16, f32, s8}},
    };
    return rules;
}

std::string names(const std::vector<DataType>& types) {
    std::vector<std::string_view> texts;
    for (const DataType type : types) texts.push_back(to_string(type));
    return fmt::format("{}", fmt::join(texts, " or "));
}

void check_one_of(std::string_view what, DataType type, DataType input, const std::vector<DataType>& allowed,
                  Reasons& reasons) {
    if (std::find(allowed.begin(), allowed.end(), type) != allowed.end()) return;
    reasons.push_back(
        fmt::format("{} is {}: with {} inputs it must be {}", what, to_string(type), to_string(input), names(allowed)));
}

void check_types(const GemmSpec& spec, Reasons& reasons) {
    if (spec.a != spec.b && !(is_float8(spec.a) && is_float8(spec.b))) {
        reasons.push_back(
            fmt::format("a is {} and b is {}: A and B must have one type", to_string(spec.a), to_string(spec.b)));
    }
    const auto& rules = type_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const TypeRule& r) { return r.input == spec.a; });
    if (rule == rules.end()) {
        std::vector<std::string_view> multiplied;
        for (const TypeRule& one : rules) multiplied.push_back(to_string(one.input));
        reasons.push_back(fmt::format("a is {}: no instruction multiplies that type; A and B are one of {}",
                                      to_string(spec.a), fmt::join(multiplied, ", ")));
        return;
    }
    check_one_of("the accumulator", spec.accumulator, spec.a, rule->accumulators, reasons);
    if (spec.c) check_one_of("c", *spec.c, spec.a, rule->added, reasons);
    check_one_of("d", spec.d, spec.a, rule->outputs, reasons);
}

/// The sums of the longest rows of integers fit in their accumulators.
void check_integer_sums(const GemmSpec& spec, Reasons& reasons) {
    constexpr std::int64_t kLongestK = 131071;  // times 128 * 128, less than 2^31
    if (spec.a != DataType::s8) return;
    if (spec.k > kLongestK)
        reasons.push_back(fmt::format("k is {}, but sums of s8 fit in s32 only up to a k of {}", spec.k, kLongestK));
    if (spec.c && spec.d == DataType::s32)
        reasons.push_back(
            fmt::format("c is {} and d is s32: the sums of s8 stay as they are in an s32 D, so leave C "
                        "out, or write an epilogue that reads it",
                        to_string(*spec.c)));
}

/// A D of integers holds the sums without any text.
bool stores_sums_alone(const GemmSpec& spec) {
    if (spec.d != DataType::s32 || spec.epilogue.empty()) return false;
    const EpilogueParts* const parts = parts_of(spec);
    if (parts == nullptr || parts->outputs.size() != 1 || parts->pairs != EpiloguePairs::none) return false;
    return parts->nodes[static_cast<std::size_t>(parts->outputs[0].value)].operation == EpilogueOperation::acc;
}

/// Promoted sums of other types would be more exact, too, but no kernel has them.
void check_sums(const GemmSpec& spec, Reasons& reasons) {
    if (spec.sums != Summation::promoted) return;
    if (!is_float8(spec.a))
        reasons.push_back(fmt::format("sums is promoted: with {} inputs it must be fast", to_string(spec.a)));
    else if (spec.accumulator != DataType::f32)
        reasons.push_back(
            fmt::format("sums is promoted: with {} accumulators it must be fast", to_string(spec.accumulator)));
}

void check_math(const GemmSpec& spec, Reasons& reasons) {
    if (spec.math != Math::ieee && spec.a != DataType::f32)
        reasons.push_back(
            fmt::format("math is {}: with {} inputs it must be ieee", to_string(spec.math), to_string(spec.a)));
}

/// One preparation serves all problems of a launch.
void check_prepared(const GemmSpec& spec, Reasons& reasons) {
    if (spec.prepared == Prepared::none) return;
    const std::string_view prepared = to_string(spec.prepared);
    if (spec.symmetric)
        reasons.push_back(
            fmt::format("prepared is {} and symmetric is yes: A is both factors, and is copied once in a "
                        "launch",
                        prepared));
    if (has_groups(spec))
        reasons.push_back(fmt::format("prepared is {} and groups is {}: no kernel of groups takes prepared operands",
                                      prepared, spec.groups));
    if (!is_batched(spec) || spec.pointers) return;
    if (has_parts(spec))
        reasons.push_back(
            fmt::format("prepared is {} and batch is {}: no kernel of a batch with math={} takes prepared "
                        "operands",
                        prepared, spec.batch, to_string(spec.math)));
    const auto check = [&](bool is_prepared, char name, std::int64_t stride) {
        if (!is_prepared || stride == 0) return;
        const char title = static_cast<char>(name - 'a' + 'A');
        const std::string given = stride == kPackedBatch ? "packed" : std::to_string(stride);
        reasons.push_back(
            fmt::format("prepared is {} and batch_stride_{} is {}: the problems of a batch must share a "
                        "prepared {}, so its batch stride must be 0",
                        prepared, name, given, title));
    };
    check(is_prepared_a(spec), 'a', spec.batch_stride_a);
    check(is_prepared_b(spec), 'b', spec.batch_stride_b);
    if (!is_nested(spec)) return;
    const auto check_outer = [&](bool is_prepared, char name, std::int64_t stride) {
        if (is_prepared && stride != 0)
            reasons.push_back(
                fmt::format("prepared is {} and outer_stride_{} is not 0: the problems of a batch must share a "
                            "prepared operand",
                            prepared, name));
    };
    check_outer(is_prepared_a(spec), 'a', spec.outer->stride_a);
    check_outer(is_prepared_b(spec), 'b', spec.outer->stride_b);
}

/// The meaning of Summation::usual. f16 accumulators are those of tensor cores alone.
Summation usual_sums(const GemmSpec& spec) {
    return is_float8(spec.a) && spec.accumulator == DataType::f32 ? Summation::promoted : Summation::fast;
}

}  // namespace

Order order_a(GemmLayout layout) {
    return layout == GemmLayout::tn || layout == GemmLayout::tt ? Order::row : Order::column;
}

Order order_b(GemmLayout layout) {
    return layout == GemmLayout::nt || layout == GemmLayout::tt ? Order::row : Order::column;
}

GemmLayout layout_of(Order a, Order b) {
    if (a == Order::row) return b == Order::row ? GemmLayout::tt : GemmLayout::tn;
    return b == Order::row ? GemmLayout::nt : GemmLayout::nn;
}

std::vector<std::string> problems(const GemmSpec& spec) {
    Reasons reasons;
    check_enumerations(spec, reasons);
    if (!reasons.empty()) return reasons;
    check_extent('m', spec.m, reasons);
    check_extent('n', spec.n, reasons);
    check_extent('k', spec.k, reasons);
    if (!check_batch(spec, reasons)) return reasons;
    check_pointers(spec, reasons);
    check_groups(spec, reasons);
    check_symmetric(spec, reasons);
    check_types(spec, reasons);
    check_sums(spec, reasons);
    check_math(spec, reasons);
    check_prepared(spec, reasons);
    check_integer_sums(spec, reasons);
    const OperandList operands = gemm_operands(spec);
    for (const GemmOperand& operand : operands) check_operand(operand, reasons);
    check_broadcast_c(spec, reasons);
    check_epilogue(spec, reasons);
    return reasons;
}

namespace {

/// Whether the outer stride of each operand leads just behind its inner problems.
bool continues_inner(const OperandList& operands) {
    return std::ranges::all_of(operands, [](const GemmOperand& operand) {
        return operand.inner == 0 || operand.outer_stride == operand.inner * operand.batch_stride;
    });
}

/// The batch with one dimension, where it has no more: the outer one has one place, or continues the inner one, or the
/// inner one has one problem.
GemmSpec with_one_dimension(const GemmSpec& resolved_spec) {
    const OuterBatch& outer = *resolved_spec.outer;
    const bool has_outer_alone = outer.inner == 1;
    if (!has_outer_alone && outer.inner < resolved_spec.batch && !continues_inner(gemm_operands(resolved_spec)))
        return resolved_spec;
    GemmSpec result = resolved_spec;
    result.outer = {};
    for (const GemmOperand& operand : kernel_operands(resolved_spec)) {  // B, too, of a symmetric product
        if (operand.inner == 0) continue;
        const std::int64_t stride = has_outer_alone ? operand.outer_stride : operand.batch_stride;
        if (operand.batch_stride_field != nullptr) {
            result.*operand.batch_stride_field = stride;
            continue;
        }
        EpilogueLayout layout = resolved_spec.epilogue.layout_of(operand.name);
        if (has_outer_alone) layout.batch_stride = stride;
        layout.outer_stride = kPackedBatch;
        result.epilogue = result.epilogue.with(operand.name, layout);
    }
    return result;
}

}  // namespace

GemmSpec resolved(const GemmSpec& spec) {
    if (std::vector<std::string> reasons = problems(spec); !reasons.empty()) {
        throw SpecError("invalid problem", std::move(reasons));
    }
    GemmSpec result = spec;
    OuterBatch outer = spec.outer.value_or({});
    result.outer = {};
    if (is_grouped_by_k(spec)) result.batch = spec.groups;
    if (!spec.c) result.ldc = 0, result.align_c = 0;
    for (const GemmOperand& operand : gemm_operands(spec)) {
        if (operand.pitch_field != nullptr)
            result.*operand.pitch_field = operand.is_repeated() ? 0 : operand.leading_dimension();
        if (operand.alignment_field != nullptr && operand.alignment == 0)
            result.*operand.alignment_field = natural_alignment(operand);
        if (operand.batch_stride_field != nullptr)
            result.*operand.batch_stride_field =
                has_batch_stride(operand.is_of_group, spec) && !spec.pointers ? operand.batch_stride : kPackedBatch;
        if (operand.outer_stride_field != nullptr) outer.*operand.outer_stride_field = operand.outer_stride;
    }
    if (!spec.c) result.batch_stride_c = outer.stride_c = kPackedBatch;
    if (spec.symmetric) {
        result.ldb = result.lda;
        result.align_b = result.align_a;
        result.batch_stride_b = result.batch_stride_a;
        outer.stride_b = outer.stride_a;
        result.constant_b = result.constant_a;
    }
    result.epilogue = stores_sums_alone(spec) ? EpilogueText() : canonical(spec.epilogue, spec.d);
    for (const auto& [name, layout] : layouts_of(result.epilogue))
        if (!is_batched(spec) && !has_groups(spec))
            result.epilogue = result.epilogue.with(name, {.ld = layout.ld, .align = layout.align});
    if (result.sums == usual_sums(spec)) result.sums = Summation::usual;
    if (outer.inner == 0) return result;
    result.outer = outer;
    return with_one_dimension(result);
}

GemmSpec as_lines(const GemmSpec& spec) {
    GemmSpec result = spec;
    const bool may_have_lines = spec.m == 1 || spec.n == 1 || spec.k == 1;
    if (!may_have_lines || has_groups(spec) || spec.symmetric)
        return result;  // costs ask this of thousands of candidates
    std::array<Order, 2> factors{order_a(spec.layout), order_b(spec.layout)};
    std::size_t place = 0;
    for (const GemmOperand& operand : gemm_operands(spec)) {
        Order& order = operand.is_factor() ? factors.at(place++) : result.d_order;  // of a text's, never one line
        if (!operand.is_one_line) continue;
        order = flipped(order);
        result.*operand.pitch_field = operand.lines();
    }
    result.layout = layout_of(factors[0], factors[1]);
    return result;
}

GemmSpec with_row_major_d(const GemmSpec& spec) {
    GemmSpec result = as_lines(spec);
    if (result.d_order == Order::row) return result;
    std::swap(result.m, result.n);
    std::swap(result.a, result.b);
    std::swap(result.lda, result.ldb);
    std::swap(result.align_a, result.align_b);
    std::swap(result.batch_stride_a, result.batch_stride_b);
    if (result.outer) {
        OuterBatch outer = *result.outer;
        std::swap(outer.stride_a, outer.stride_b);
        result.outer = outer;
    }
    std::swap(result.constant_a, result.constant_b);
    if (result.prepared == Prepared::a || result.prepared == Prepared::b)
        result.prepared = result.prepared == Prepared::a ? Prepared::b : Prepared::a;
    // The new A is B transposed: the same memory, so what were rows are now columns.
    result.layout = layout_of(flipped(order_b(result.layout)), flipped(order_a(result.layout)));
    result.d_order = Order::row;
    result.epilogue = transposed(result.epilogue, result.d);
    return result;
}

OperandExtents operand_extents(const GemmSpec& resolved_spec) {
    const OperandList list = gemm_operands(resolved_spec);
    const auto extent = [&](std::string_view name) {
        const GemmOperand* const operand = list.find(name);
        return operand == nullptr ? 0 : operand->extent();
    };
    return {extent("a"), extent("b"), extent("c"), extent("d")};
}

bool has_promoted_sums(const GemmSpec& spec) {
    return (spec.sums == Summation::usual ? usual_sums(spec) : spec.sums) == Summation::promoted;
}

GemmSpec gemm_spec_of_type(DataType type) { return {.a = type}; }

double flops(const GemmSpec& spec) {
    if (spec.symmetric)
        return static_cast<double>(spec.m) * static_cast<double>(spec.m + 1) * static_cast<double>(spec.k) *
               static_cast<double>(spec.batch);
    const std::int64_t problems = is_grouped_by_k(spec) ? 1 : spec.batch;  // which have all of K together
    return 2.0 * static_cast<double>(expected_rows(spec)) * static_cast<double>(spec.n) *
           static_cast<double>(expected_k(spec)) * static_cast<double>(problems);
}

}  // namespace jitgemm
