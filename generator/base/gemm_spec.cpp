#include "jitgemm/gemm_spec.hpp"

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

/// One matrix as stored: `lines` runs of `run` contiguous elements, `ld` apart.
struct StoredMatrix {
    char name;
    DataType type;
    bool row_major;
    std::int64_t lines;
    std::int64_t run;
    std::int64_t ld;  // 0: packed
    int alignment;    // 0: what ld gives
};

StoredMatrix stored(char name, DataType type, Order order, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                    int alignment) {
    const bool row_major = order == Order::row;
    return {name, type, row_major, row_major ? rows : columns, row_major ? columns : rows, ld, alignment};
}

StoredMatrix stored_a(const GemmSpec& s) { return stored('a', s.a, order_a(s.layout), s.m, s.k, s.lda, s.align_a); }
StoredMatrix stored_b(const GemmSpec& s) { return stored('b', s.b, order_b(s.layout), s.k, s.n, s.ldb, s.align_b); }
StoredMatrix stored_d(const GemmSpec& s) { return stored('d', s.d, s.d_order, s.m, s.n, s.ldd, s.align_d); }
StoredMatrix stored_c(const GemmSpec& s) {
    return stored('c', s.c.value_or(s.d), s.d_order, s.m, s.n, s.ldc, s.align_c);
}

std::int64_t leading_dimension(const StoredMatrix& x) { return x.ld != 0 ? x.ld : std::max<std::int64_t>(1, x.run); }

/// What the leading dimension and a 256-byte aligned base give. A lone line never uses its leading dimension.
int natural_alignment(const StoredMatrix& x) {
    if (x.lines <= 1) return kMaxAlignment;
    const auto pitch = static_cast<std::uint64_t>(leading_dimension(x)) * static_cast<std::uint64_t>(bytes(x.type));
    return std::min(kMaxAlignment, 1 << std::min(std::countr_zero(pitch), 8));
}

std::int64_t extent(const StoredMatrix& x) {
    return x.lines == 0 || x.run == 0 ? 0 : (x.lines - 1) * leading_dimension(x) + x.run;
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

void check_total_size(const StoredMatrix& x, Reasons& reasons) {
    const std::int64_t lines = std::max<std::int64_t>(1, x.lines);
    if (leading_dimension(x) <= kMaxBytes / bytes(x.type) / lines) return;
    reasons.push_back(
        fmt::format("{} takes {} {} of {} elements of {} bytes: more than the {} bytes an address can reach",
                    static_cast<char>(x.name - 'a' + 'A'), lines, x.row_major ? "rows" : "columns",
                    leading_dimension(x), bytes(x.type), kMaxBytes));
}

void check_alignment(const StoredMatrix& x, bool ld_is_sound, Reasons& reasons) {
    if (x.alignment == 0) return;
    const bool power_of_two = x.alignment > 0 && std::has_single_bit(static_cast<unsigned>(x.alignment));
    if (!power_of_two || x.alignment > kMaxAlignment || x.alignment < bytes(x.type)) {
        reasons.push_back(fmt::format("align_{} is {}: it must be a power of two from {} (one {} element) to {} bytes",
                                      x.name, x.alignment, bytes(x.type), to_string(x.type), kMaxAlignment));
        return;
    }
    if (!ld_is_sound || x.alignment <= natural_alignment(x)) return;
    reasons.push_back(
        fmt::format("align_{} is {}: ld{} is {} elements of {} bytes, which gives every {} an alignment of "
                    "only {} bytes",
                    x.name, x.alignment, x.name, leading_dimension(x), bytes(x.type), x.row_major ? "row" : "column",
                    natural_alignment(x)));
}

/// A number that was cast to an enumeration and is none of it. Nothing else can be said of such a spec.
void check_enumerations(const GemmSpec& spec, Reasons& reasons) {
    const auto type = [&](std::string_view name, DataType value) {
        if (!is_known(value)) reasons.push_back(fmt::format("{} is {}: no DataType", name, static_cast<int>(value)));
    };
    type("a", spec.a);
    type("b", spec.b);
    if (spec.c) type("c", *spec.c);
    type("d", spec.d);
    type("the accumulator", spec.accumulator);
    if (spec.layout > GemmLayout::tt)
        reasons.push_back(fmt::format("the layout is {}: no GemmLayout", static_cast<int>(spec.layout)));
    if (spec.d_order > Order::column)
        reasons.push_back(fmt::format("the order of D is {}: no Order", static_cast<int>(spec.d_order)));
}

void check_matrix(const StoredMatrix& x, Reasons& reasons) {
    const bool sizes_are_sound = x.lines >= 0 && x.run >= 0 && x.lines <= kLargestExtent && x.run <= kLargestExtent;
    const bool ld_is_sound = sizes_are_sound && check_leading_dimension(x, reasons);
    if (ld_is_sound) check_total_size(x, reasons);
    check_alignment(x, ld_is_sound, reasons);
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
        reasons.push_back(fmt::format("a is {} and b is {}: A and B must have one type (only e4m3 and e5m2 mix)",
                                      to_string(spec.a), to_string(spec.b)));
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

// One odd multiplier a word: products that don't wait for each other, added up and mixed once.
constexpr std::array<std::uint64_t, 10> kHashMultipliers{
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9,
    0x94D049BB133111EB, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB};

std::uint64_t mixed(std::uint64_t sum) {
    sum = (sum ^ (sum >> 32U)) * kHashMultipliers[0];
    return sum ^ (sum >> 29U);
}

/// The enumerations in a few bits each; c unset is a type of its own.
std::uint64_t packed_types(const GemmSpec& s) {
    const auto bits = [](auto value, unsigned shift) { return static_cast<std::uint64_t>(value) << shift; };
    const std::uint64_t c = s.c ? bits(*s.c, 16) : bits(0xFF, 16);
    return bits(s.a, 0) | bits(s.b, 8) | c | bits(s.d, 24) | bits(s.accumulator, 32) | bits(s.layout, 40) |
           bits(s.d_order, 48);
}

std::uint64_t packed(int low, int high) {
    return static_cast<std::uint32_t>(low) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32U;
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
    check_types(spec, reasons);
    check_matrix(stored_a(spec), reasons);
    check_matrix(stored_b(spec), reasons);
    if (spec.c) check_matrix(stored_c(spec), reasons);
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
    } else {
        result.ldc = 0;
        result.align_c = 0;
    }
    return result;
}

GemmSpec with_row_major_d(const GemmSpec& spec) {
    if (spec.d_order == Order::row) return spec;
    GemmSpec result = spec;
    std::swap(result.m, result.n);
    std::swap(result.a, result.b);
    std::swap(result.lda, result.ldb);
    std::swap(result.align_a, result.align_b);
    // The new A is B transposed: the same memory, so what were rows are now columns.
    result.layout = layout_of(flipped(order_b(spec.layout)), flipped(order_a(spec.layout)));
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

std::size_t std::hash<jitgemm::GemmSpec>::operator()(const jitgemm::GemmSpec& spec) const noexcept {
    using namespace jitgemm;
    const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const std::array<std::uint64_t, kHashMultipliers.size()> words{word(spec.m),
                                                                   word(spec.n),
                                                                   word(spec.k),
                                                                   word(spec.lda),
                                                                   word(spec.ldb),
                                                                   word(spec.ldc),
                                                                   word(spec.ldd),
                                                                   packed(spec.align_a, spec.align_b),
                                                                   packed(spec.align_c, spec.align_d),
                                                                   packed_types(spec)};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < words.size(); ++i) sum += words[i] * kHashMultipliers[i];
    return static_cast<std::size_t>(mixed(sum));
}
