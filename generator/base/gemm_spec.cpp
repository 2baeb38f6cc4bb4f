#include "jitgemm/gemm_spec.hpp"

#include "generator/base/gemm_spec_fields.hpp"
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

/// An operand as stored: `lines` runs of `run` contiguous elements, `ld` apart.
struct StoredMatrix {
    char name;
    DataType type;
    bool row_major;
    std::int64_t lines;
    std::int64_t run;
    std::int64_t ld;           // 0: packed
    int alignment;             // 0: what ld gives
    bool is_one_line = false;  // as_lines() turns it
};

StoredMatrix stored(char name, DataType type, Order order, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                    int alignment) {
    const bool row_major = order == Order::row;
    return {name, type, row_major, row_major ? rows : columns, row_major ? columns : rows, ld, alignment};
}

std::int64_t leading_dimension(const StoredMatrix& x) { return x.ld != 0 ? x.ld : std::max<std::int64_t>(1, x.run); }

/// Lines of one element each, side by side. A batch-invariant row has its kernel, whether or not others stand beside it.
bool lies_in_one_line(const GemmSpec& s, const StoredMatrix& x) {
    return x.lines > 1 && x.run == 1 && leading_dimension(x) == 1 && s.deterministic != Determinism::batch_invariant;
}

StoredMatrix stored_a(const GemmSpec& s) {
    StoredMatrix a = stored('a', s.a, order_a(s.layout), s.m, s.k, s.lda, s.align_a);
    a.is_one_line = lies_in_one_line(s, a);
    return a;
}
StoredMatrix stored_b(const GemmSpec& s) {
    StoredMatrix b = stored('b', s.b, order_b(s.layout), s.k, s.n, s.ldb, s.align_b);
    b.is_one_line = lies_in_one_line(s, b);
    return b;
}

StoredMatrix stored_c(const GemmSpec& s) {
    StoredMatrix c = stored('c', s.c.value_or(s.d), s.d_order, s.m, s.n, s.ldc, s.align_c);
    if (!s.broadcast_c) return c;
    c.lines = std::min<std::int64_t>(c.lines, 1);
    c.ld = 0;
    return c;
}
StoredMatrix stored_d(const GemmSpec& s) {
    StoredMatrix d = stored('d', s.d, s.d_order, s.m, s.n, s.ldd, s.align_d);
    d.is_one_line = lies_in_one_line(s, d) && !s.c;  // C has D's order, and may be one row
    return d;
}

std::int64_t extent(const StoredMatrix& x) {
    return x.lines == 0 || x.run == 0 ? 0 : (x.lines - 1) * leading_dimension(x) + x.run;
}

/// What so many elements apart and a 256-byte aligned base give.
int alignment_of(std::int64_t elements, DataType type) {
    const auto pitch = static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bytes(type));
    return std::min(kMaxAlignment, 1 << std::min(std::countr_zero(pitch), 8));
}

/// A lone line never uses its leading dimension.
bool uses_leading_dimension(const StoredMatrix& x) { return x.lines > 1 && !x.is_one_line; }

int natural_alignment(const StoredMatrix& x) {
    return uses_leading_dimension(x) ? alignment_of(leading_dimension(x), x.type) : kMaxAlignment;
}

using Reasons = std::vector<std::string>;

void check_extent(char name, std::int64_t value, Reasons& reasons) {
    if (value < 0) reasons.push_back(fmt::format("{} is {}: a size cannot be negative", name, value));
    if (value > kLargestExtent)
        reasons.push_back(fmt::format("{} is {}: the largest size is {}", name, value, kLargestExtent));
}

/// True when the leading dimension can be reckoned with.
bool check_leading_dimension(const StoredMatrix& x, Reasons& reasons) {
    const std::int64_t least = std::max<std::int64_t>(1, x.run);
    if (x.ld == 0 || x.ld >= least) return true;
    reasons.push_back(fmt::format("ld{} is {}: a {} of {} holds {} elements, so ld{} is at least {}", x.name, x.ld,
                                  x.row_major ? "row" : "column", static_cast<char>(x.name - 'a' + 'A'), x.run, x.name,
                                  least));
    return false;
}

bool check_total_size(const StoredMatrix& x, Reasons& reasons) {
    const std::int64_t lines = std::max<std::int64_t>(1, x.lines);
    if (leading_dimension(x) <= kMaxBytes / bytes(x.type) / lines) return true;
    reasons.push_back(
        fmt::format("{} takes {} {} of {} elements of {} bytes: more than the {} bytes an address can reach",
                    static_cast<char>(x.name - 'a' + 'A'), lines, x.row_major ? "rows" : "columns",
                    leading_dimension(x), bytes(x.type), kMaxBytes));
    return false;
}

void check_alignment(const StoredMatrix& x, bool strides_are_sound, Reasons& reasons) {
    if (x.alignment == 0) return;
    const bool power_of_two = x.alignment > 0 && std::has_single_bit(static_cast<unsigned>(x.alignment));
    if (!power_of_two || x.alignment > kMaxAlignment || x.alignment < bytes(x.type)) {
        reasons.push_back(fmt::format("align_{} is {}: it must be a power of two from {} (one {} element) to {} bytes",
                                      x.name, x.alignment, bytes(x.type), to_string(x.type), kMaxAlignment));
        return;
    }
    if (!strides_are_sound || !uses_leading_dimension(x)) return;
    if (const int most = alignment_of(leading_dimension(x), x.type); x.alignment > most)
        reasons.push_back(fmt::format(
            "align_{} is {}: ld{} is {} elements of {} bytes, which gives every {} an alignment of only {} "
            "bytes",
            x.name, x.alignment, x.name, leading_dimension(x), bytes(x.type), x.row_major ? "row" : "column", most));
}

/// A number that was cast to an enumeration and is none of it. Nothing else can be said of such a spec.
void check_enumerations(const GemmSpec& spec, Reasons& reasons) {
    for (const GemmSpecField& field : gemm_spec_fields())
        if (field.is_known != nullptr && !field.is_known(spec))
            reasons.push_back(
                fmt::format("{} is {}: a number that none of its values has", field.key, field.value(spec)));
}

void check_matrix(const StoredMatrix& x, Reasons& reasons) {
    const bool sizes_are_sound = x.lines >= 0 && x.run >= 0 && x.lines <= kLargestExtent && x.run <= kLargestExtent;
    const bool strides_are_sound =
        sizes_are_sound && check_leading_dimension(x, reasons) && check_total_size(x, reasons);
    check_alignment(x, strides_are_sound, reasons);
}

/// Whoever has room between the rows of a C may leave it there, for what it is worth; a number that no C has is a mistake.
void check_broadcast_c(const GemmSpec& spec, Reasons& reasons) {
    if (!spec.broadcast_c) return;
    if (!spec.c) reasons.emplace_back("broadcast_c is yes: it says how C lies, and c is none");
    const std::int64_t run = stored_c(spec).run;
    if (spec.c && spec.ldc != 0 && spec.ldc < run)
        reasons.push_back(
            fmt::format("ldc is {}: of a C that is one {} it counts for nothing, and is 0 or at least its {} elements",
                        spec.ldc, spec.d_order == Order::row ? "row" : "column", run));
}

/// What may be accumulated and stored when A has this type. A type without a row cannot be multiplied.
struct TypeRule {
    DataType input;
    std::vector<DataType> accumulators;
    std::vector<DataType> outputs;  // of C and of D
};

const std::vector<TypeRule>& type_rules() {
    using enum DataType;
    static const std::vector<TypeRule> rules{
        {f16, {f32, f16}, {f16, bf16, f32}},
        {bf16, {f32}, {f16, bf16, f32}},
        {f32, {f32}, {f16, bf16, f32}},
        {tf32, {f32}, {f16, bf16, f32}},
        {e4m3, {f32, f16}, {f16, bf16, f32, e4m3, e5m2}},
        {e5m2, {f32, f16}, {f16, bf16, f32, e4m3, e5m2}},
        {s8, {s32}, {s32, s8}},
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

bool is_8bit_float(DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; }

void check_types(const GemmSpec& spec, Reasons& reasons) {
    if (spec.a != spec.b && !(is_8bit_float(spec.a) && is_8bit_float(spec.b))) {
        reasons.push_back(
            fmt::format("a is {} and b is {}: A and B must have one type", to_string(spec.a), to_string(spec.b)));
    }
    const auto& rules = type_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const TypeRule& r) { return r.input == spec.a; });
    if (rule == rules.end()) {
        reasons.push_back(fmt::format("a is {}: no instruction multiplies that type", to_string(spec.a)));
        return;
    }
    check_one_of("the accumulator", spec.accumulator, spec.a, rule->accumulators, reasons);
    if (spec.c) check_one_of("c", *spec.c, spec.a, rule->outputs, reasons);
    check_one_of("d", spec.d, spec.a, rule->outputs, reasons);
}

Order flipped(Order order) { return order == Order::row ? Order::column : Order::row; }

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
    check_types(spec, reasons);
    check_matrix(stored_a(spec), reasons);
    check_matrix(stored_b(spec), reasons);
    if (spec.c) check_matrix(stored_c(spec), reasons);
    check_broadcast_c(spec, reasons);
    check_matrix(stored_d(spec), reasons);
    return reasons;
}

GemmSpec resolved(const GemmSpec& spec) {
    if (std::vector<std::string> reasons = problems(spec); !reasons.empty()) {
        throw SpecError("invalid problem", std::move(reasons));
    }
    GemmSpec result = spec;
    const auto settle = [](const StoredMatrix& x, std::int64_t& ld, int& alignment) {
        ld = leading_dimension(x);
        if (alignment == 0) alignment = natural_alignment(x);
    };
    settle(stored_a(spec), result.lda, result.align_a);
    settle(stored_b(spec), result.ldb, result.align_b);
    settle(stored_d(spec), result.ldd, result.align_d);
    if (spec.c) {
        settle(stored_c(spec), result.ldc, result.align_c);
        if (spec.broadcast_c) result.ldc = 0;
    } else {
        result.ldc = 0;
        result.align_c = 0;
    }
    return result;
}

GemmSpec as_lines(const GemmSpec& spec) {
    GemmSpec result = spec;
    Order a = order_a(spec.layout), b = order_b(spec.layout);
    const auto turn = [](const StoredMatrix& x, Order& order, std::int64_t& ld) {
        if (!x.is_one_line) return;
        order = flipped(order);
        ld = x.lines;
    };
    turn(stored_a(spec), a, result.lda);
    turn(stored_b(spec), b, result.ldb);
    result.layout = layout_of(a, b);
    turn(stored_d(spec), result.d_order, result.ldd);
    return result;
}

GemmSpec with_row_major_d(const GemmSpec& spec) {
    GemmSpec result = as_lines(spec);
    if (result.d_order == Order::row) return result;
    std::swap(result.m, result.n);
    std::swap(result.a, result.b);
    std::swap(result.lda, result.ldb);
    std::swap(result.align_a, result.align_b);
    std::swap(result.constant_a, result.constant_b);
    // The new A is B transposed: the same memory, so what were rows are now columns.
    result.layout = layout_of(flipped(order_b(result.layout)), flipped(order_a(result.layout)));
    result.d_order = Order::row;
    return result;
}

OperandExtents operand_extents(const GemmSpec& resolved_spec) {
    const std::int64_t c = resolved_spec.c ? extent(stored_c(resolved_spec)) : 0;
    return {extent(stored_a(resolved_spec)), extent(stored_b(resolved_spec)), c, extent(stored_d(resolved_spec))};
}

GemmSpec gemm_spec_of_type(DataType type) { return {.a = type}; }

double flops(const GemmSpec& spec) {
    return 2.0 * static_cast<double>(spec.m) * static_cast<double>(spec.n) * static_cast<double>(spec.k);
}

}  // namespace jitgemm
