#include "generator/base/gemm_spec_fields.hpp"

#include "generator/epilogue/epilogue_text.hpp"
#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

namespace jitgemm {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> kFlags{"no", "yes"};  // each in the order of its enumeration
constexpr std::array<std::string_view, 2> kDeterminisms{"run_to_run", "batch_invariant"};
constexpr std::array<std::string_view, 3> kSums{"usual", "fast", "promoted"};
constexpr std::array<std::string_view, 2> kRagged{"m", "k"};

constexpr int kNever = 1000;
constexpr int kFirstWithBatches = 6;
constexpr int kFirstWithGroups = 7;
constexpr int kFirstWithOuterBatches = 9;
constexpr int kFirstWithGroupsOfK = 8;  // gathered rows, symmetric products, prepared operands, arrays of addresses

// Each with the words that say nothing.
constexpr FormerField kFormerFields[] = {
    {"batch", "1", "1", kFirstWithBatches},
    {"batch-stride-a", "packed", "0", kFirstWithBatches},
    {"batch-stride-b", "packed", "0", kFirstWithBatches},
    {"batch-stride-c", "packed", "0", kFirstWithBatches},
    {"batch-stride-d", "packed", "0", kFirstWithBatches},
    {"bias", "none", "none", kNever},
    {"activation", "none", "none", kNever},
    {"residual", "none", "none", kNever},
    {"scale-a", "none", "none", kNever},
    {"scale-b", "none", "none", kNever},
    {"scale-d", "none", "none", kNever},
};

DataType read_type(std::string_view word) {
    if (const auto type = data_type_of_word(word)) return *type;
    std::vector<std::string_view> known;
    for (const DataTypeInfo& row : data_type_table()) known.push_back(row.name);
    throw WordError(expected_one_of(word, known));
}

template <typename Enumeration>
Enumeration read_name(std::string_view word, Names names) {
    const auto found = std::ranges::find(names, lower_case(word));
    if (found == names.end()) throw WordError(expected_one_of(word, names));
    return static_cast<Enumeration>(found - names.begin());
}

template <typename Integer>
Integer read_integer(std::string_view word) {
    Integer value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) throw WordError("too large");
    if (error != std::errc() || end != word.data() + word.size()) throw WordError("expected a whole number");
    return value;
}

/// "packed" stands for -1, which a text doesn't name otherwise.
std::int64_t read_stride(std::string_view word) {
    const auto stride = read_integer<std::int64_t>(word);
    if (stride < 0) throw WordError("a batch stride is 'packed' or at least 0");
    return stride;
}

std::string type_text(const std::optional<DataType>& type) { return std::string(type ? to_string(*type) : "none"); }

std::optional<DataType> read_optional_type(std::string_view word) {
    return word == "none" ? std::nullopt : std::optional(read_type(word));
}

bool is_known(const std::optional<DataType>& type) { return !type || jitgemm::is_known(*type); }

std::int64_t type_value(const std::optional<DataType>& type) { return type ? static_cast<std::int64_t>(*type) : -1; }

template <typename Enumeration>
constexpr bool is_named(Enumeration value, Names names) {
    return static_cast<std::size_t>(value) < names.size();
}

template <typename Enumeration>
std::string name_text(Enumeration value, Names names) {
    const auto position = static_cast<std::size_t>(value);
    if (!is_named(value, names))
        throw SpecError("invalid problem", {fmt::format("{} is none of {}", position, join_names(names))});
    return std::string(names[position]);
}

/// An empty text would be the default epilogue. Who asks for that leaves the field out.
EpilogueText read_epilogue_word(std::string_view word) {
    if (word.empty()) throw WordError("expected a text, as 'd = relu(acc)'");
    return word;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

template <auto Member>
constexpr GemmSpecField number(std::string_view key, std::string_view help, bool is_of_c = false, int format = 1) {
    using Integer = std::remove_reference_t<decltype(std::declval<GemmSpec&>().*Member)>;
    return {.key = key,
            .option = key,
            .help = help,
            .format = format,
            .print = [](const GemmSpec& spec) { return std::to_string(spec.*Member); },
            .read = [](GemmSpec& spec, std::string_view word) { spec.*Member = read_integer<Integer>(word); },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.*Member); },
            .is_known = nullptr,
            .is_number = true,
            .is_of_c = is_of_c};
}

template <auto Member>
constexpr GemmSpecField type(std::string_view key, std::string_view option, std::string_view help) {
    return {.key = key,
            .option = option,
            .help = help,
            .format = 1,
            .print = [](const GemmSpec& spec) { return std::string(to_string(spec.*Member)); },
            .read = [](GemmSpec& spec, std::string_view word) { spec.*Member = read_type(word); },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.*Member); },
            .is_known = [](const GemmSpec& spec) { return jitgemm::is_known(spec.*Member); },
            .is_number = false,
            .is_of_c = false};
}

template <auto Member>
constexpr GemmSpecField flag(std::string_view key, std::string_view help, bool is_of_c = false, int format = 2) {
    return {.key = key,
            .option = key,
            .help = help,
            .format = format,
            .print = [](const GemmSpec& spec) { return std::string(kFlags[spec.*Member ? 1 : 0]); },
            .read = [](GemmSpec& spec, std::string_view word) { spec.*Member = read_name<int>(word, kFlags) != 0; },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.*Member); },
            .is_known = nullptr,
            .is_number = false,
            .is_of_c = is_of_c};
}

/// A word of a list, which is in the order of the member's enumeration.
template <auto Member, const auto& kNames>
constexpr GemmSpecField name(std::string_view key, std::string_view help, int format) {
    using Enumeration = std::remove_reference_t<decltype(std::declval<GemmSpec&>().*Member)>;
    return {.key = key,
            .option = key,
            .help = help,
            .format = format,
            .print = [](const GemmSpec& spec) { return name_text(spec.*Member, kNames); },
            .read = [](GemmSpec& spec, std::string_view word) { spec.*Member = read_name<Enumeration>(word, kNames); },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.*Member); },
            .is_known = [](const GemmSpec& spec) { return is_named(spec.*Member, kNames); },
            .is_number = false,
            .is_of_c = false};
}

constexpr std::string_view kPackedWord = "packed";

template <auto Member>
constexpr GemmSpecField batch_stride(std::string_view key, std::string_view help, bool is_of_c = false) {
    return {
        .key = key,
        .option = key,
        .help = help,
        .format = kFirstWithBatches,
        .print =
            [](const GemmSpec& spec) {
                return spec.*Member == kPackedBatch ? std::string(kPackedWord) : std::to_string(spec.*Member);
            },
        .read = [](GemmSpec& spec,
                   std::string_view word) { spec.*Member = word == kPackedWord ? kPackedBatch : read_stride(word); },
        .value = [](const GemmSpec& spec) { return spec.*Member; },
        .is_known = nullptr,
        .is_number = true,
        .is_of_c = is_of_c};
}

/// Of the second dimension of a batch, which few problems have.
template <auto Member>
std::int64_t outer_value(const GemmSpec& spec) {
    return spec.outer.value_or({}).*Member;
}
template <auto Member>
void set_outer(GemmSpec& spec, std::int64_t value) {
    OuterBatch outer = spec.outer.value_or({});
    outer.*Member = value;
    spec.outer = outer == OuterBatch() ? Rare<OuterBatch>() : Rare<OuterBatch>(outer);
}

template <auto Member>
constexpr GemmSpecField outer_stride(std::string_view key, std::string_view help, bool is_of_c = false) {
    return {.key = key,
            .option = key,
            .help = help,
            .format = kFirstWithOuterBatches,
            .print =
                [](const GemmSpec& spec) {
                    const std::int64_t stride = outer_value<Member>(spec);
                    return stride == kPackedBatch ? std::string(kPackedWord) : std::to_string(stride);
                },
            .read =
                [](GemmSpec& spec, std::string_view word) {
                    set_outer<Member>(spec, word == kPackedWord ? kPackedBatch : read_stride(word));
                },
            .value = outer_value<Member>,
            .is_known = nullptr,
            .is_number = true,
            .is_of_c = is_of_c};
}

constexpr GemmSpecField kFields[] = {
    number<&GemmSpec::m>("m", "Rows of A, C and D"),
    number<&GemmSpec::n>("n", "Columns of B, C and D"),
    number<&GemmSpec::k>("k", "Columns of A, rows of B"),
    type<&GemmSpec::a>("a", "a-type", "Type of A"),
    type<&GemmSpec::b>("b", "b-type", "Type of B"),
    {.key = "c",
     .option = "c-type",
     .help = "Type of C; naming it reads C (default: D's type when --beta is not 0)",
     .format = 1,
     .print = [](const GemmSpec& spec) { return type_text(spec.c); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.c = read_optional_type(word); },
     .value = [](const GemmSpec& spec) { return type_value(spec.c); },
     .is_known = [](const GemmSpec& spec) { return is_known(spec.c); },
     .is_number = false,
     .is_of_c = true},
    flag<&GemmSpec::broadcast_c>(
        "broadcast-c", "yes: treat C as a bias, one row that is added to every row of D (d-layout n: one column)",
        true),
    type<&GemmSpec::d>("d", "d-type", "Type of D"),
    type<&GemmSpec::accumulator>("acc", "acc-type", "Type of the accumulator"),
    {.key = "layout",
     .option = "layout",
     .help = "tn, nn, nt or tt: order of A and B, t is row-major, n is column-major (default: tn)",
     .format = 1,
     .print = [](const GemmSpec& spec) { return std::string(to_string(spec.layout)); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.layout = read_name<GemmLayout>(word, kLayoutNames); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.layout); },
     .is_known = [](const GemmSpec& spec) { return is_named(spec.layout, kLayoutNames); },
     .is_number = false,
     .is_of_c = false},
    {.key = "d-layout",
     .option = "d-layout",
     .help = "t or n: order of D and C (default: t, row-major)",
     .format = 1,
     .print = [](const GemmSpec& spec) { return std::string(to_string(spec.d_order)); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.d_order = read_name<Order>(word, kOrderNames); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.d_order); },
     .is_known = [](const GemmSpec& spec) { return is_named(spec.d_order, kOrderNames); },
     .is_number = false,
     .is_of_c = false},
    number<&GemmSpec::lda>("lda", "Leading dimension of A in elements (default: packed)"),
    number<&GemmSpec::ldb>("ldb", "Leading dimension of B in elements"),
    number<&GemmSpec::ldc>("ldc", "Leading dimension of C in elements", true),
    number<&GemmSpec::ldd>("ldd", "Leading dimension of D in elements"),
    number<&GemmSpec::align_a>("align-a", "Alignment of A in bytes: 16, 8, 4 or 2 (default: as lda allows)"),
    number<&GemmSpec::align_b>("align-b", "Alignment of B in bytes (default: as ldb allows)"),
    number<&GemmSpec::align_c>("align-c", "Alignment of C in bytes (default: as ldc allows)", true),
    number<&GemmSpec::align_d>("align-d", "Alignment of D in bytes (default: as ldd allows)"),
    flag<&GemmSpec::constant_a>("constant-a",
                                "yes: promise that no kernel still running on this stream writes A. The kernel may "
                                "then load A before the previous one has finished"),
    flag<&GemmSpec::constant_b>("constant-b", "yes: promise the same for B (weights)"),
    name<&GemmSpec::deterministic, kDeterminisms>(
        "deterministic",
        "run_to_run (default), or batch_invariant: the bits of a row of D do not depend on m or on other rows", 2),
    {.key = "epilogue",
     .option = "epilogue",
     .help = "What is stored, as text: 'd = silu(acc + bias[n]) * up[m,n]' (default: 'd = alpha * acc + beta * c')",
     .format = 3,
     .print = [](const GemmSpec& spec) { return std::string(spec.epilogue.text()); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.epilogue = read_epilogue_word(word); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(hash_of(spec.epilogue)); },
     .is_known = nullptr,
     .is_number = false,
     .is_of_c = false},
    name<&GemmSpec::sums, kSums>(
        "sums",
        "fast: tensor cores alone add products. promoted (e4m3 and e5m2; their default): CUDA cores add partial "
        "sums of 128 of K in f32",
        4),
    name<&GemmSpec::math, kMathNames>(
        "math",
        "How f32 operands are multiplied: ieee (default, or JITGEMM_MATH), or on tensor cores: f16x3 (in parts of "
        "16 bits, about as accurate), bf16x6 and tf32x3 (of f32's range, about as accurate, half as fast), bf16x3 "
        "(errors of 1e-5) or tf32 (errors of 1e-3)",
        5),
    number<&GemmSpec::batch>("batch", "Problems of this size in one launch (default: 1)", false, kFirstWithBatches),
    batch_stride<&GemmSpec::batch_stride_a>(
        "batch-stride-a", "Elements from one problem's A to the next one's; 0: all have one A (default: packed)"),
    batch_stride<&GemmSpec::batch_stride_b>("batch-stride-b", "Elements from one problem's B to the next one's"),
    batch_stride<&GemmSpec::batch_stride_c>("batch-stride-c", "Elements from one problem's C to the next one's", true),
    batch_stride<&GemmSpec::batch_stride_d>("batch-stride-d", "Elements from one problem's D to the next one's"),
    number<&GemmSpec::groups>(
        "groups",
        "Groups of rows of A and D, each with its own B; the operand 'offsets' says where they end (default: none)",
        false, kFirstWithGroups),
    number<&GemmSpec::group_rows>(
        "group-rows",
        "Rows that each group has room for; 'offsets' then holds how many rows each group has (default: groups lie one "
        "behind the other)",
        false, kFirstWithGroups),
    number<&GemmSpec::expected_rows>(
        "expected-rows", "Rows of a group, or its K, for which a kernel is chosen (default: m / groups, k / groups)",
        false, kFirstWithGroups),
    name<&GemmSpec::ragged, kRagged>("ragged",
                                     "m (default): --groups cut the rows of A and D. k: they cut K, and each has a D",
                                     kFirstWithGroupsOfK),
    flag<&GemmSpec::symmetric>("symmetric",
                               "yes: D = alpha A A^T at half the work. B is A transposed, n is m, and the layout is tn "
                               "or nt",
                               false, kFirstWithGroupsOfK),
    number<&GemmSpec::source_rows>(
        "source-rows",
        "Rows of A; the operand 'row_index' names one for each of the m rows of D, or -1 for zeros (default: A has m "
        "rows)",
        false, kFirstWithGroupsOfK),
    name<&GemmSpec::prepared, kPreparedNames>(
        "prepared",
        "a, b or ab: operands that are split, transposed or packed once, and not in each launch (default: none)",
        kFirstWithGroupsOfK),
    flag<&GemmSpec::pointers>("pointers", "yes: a launch takes an array of --batch addresses for each of A, B, C and D",
                              false, kFirstWithGroupsOfK),
    {.key = "batch-inner",
     .option = "batch-inner",
     .help = "Problems along the first of a batch's two dimensions; --batch is a multiple of it (default: there is one "
             "dimension)",
     .format = kFirstWithOuterBatches,
     .print = [](const GemmSpec& spec) { return std::to_string(outer_value<&OuterBatch::inner>(spec)); },
     .read = [](GemmSpec& spec,
                std::string_view word) { set_outer<&OuterBatch::inner>(spec, read_integer<std::int64_t>(word)); },
     .value = outer_value<&OuterBatch::inner>,
     .is_known = nullptr,
     .is_number = true,
     .is_of_c = false},
    outer_stride<&OuterBatch::stride_a>(
        "outer-stride-a", "Elements from A to the one --batch-inner problems further on; 0: one A (default: packed)"),
    outer_stride<&OuterBatch::stride_b>("outer-stride-b", "The same of B"),
    outer_stride<&OuterBatch::stride_c>("outer-stride-c", "The same of C", true),
    outer_stride<&OuterBatch::stride_d>("outer-stride-d", "The same of D"),
};

// Of an epilogue's operands.
constexpr std::string_view kPitchKey = "ld-", kAlignmentKey = "align-", kBatchStrideKey = "batch-stride-",
                           kOuterStrideKey = "outer-stride-";
constexpr std::array kLayoutKeys{kPitchKey, kAlignmentKey, kBatchStrideKey, kOuterStrideKey};

constexpr char kQuoteMark = '\'';

/// A word of a text, in quotes if it has blanks.
std::string quoted(const std::string& word) {
    return word.find_first_of(" \t\n") == std::string::npos ? word : kQuoteMark + word + kQuoteMark;
}

std::string layouts_text(const GemmSpec& spec) {
    std::string text;
    for (const auto& [name, layout] : layouts_of(spec.epilogue)) {
        if (layout.ld != 0) text += fmt::format(" ld-{}={}", name, layout.ld);
        if (layout.align != 0) text += fmt::format(" align-{}={}", name, layout.align);
        if (layout.batch_stride != kPackedBatch) text += fmt::format(" batch-stride-{}={}", name, layout.batch_stride);
        if (layout.outer_stride != kPackedBatch) text += fmt::format(" outer-stride-{}={}", name, layout.outer_stride);
    }
    return text;
}

}  // namespace

std::span<const GemmSpecField> gemm_spec_fields() { return kFields; }

void read_field(GemmSpec& spec, const GemmSpecField& field, std::string_view name, std::string_view word) {
    try {
        field.read(spec, word);
    } catch (const WordError& error) {
        throw WordError(fmt::format("{} is '{}': {}", name, word, error.what()));
    }
}

bool is_usual(const GemmSpecField& field, const GemmSpec& spec) {
    static const GemmSpec kUsual;
    return field.value(spec) == field.value(kUsual);
}

std::string later_formats_text(const GemmSpec& spec) {
    std::string text;
    for (const GemmSpecField& field : kFields)
        if (field.format > 1 && !is_usual(field, spec))
            text += fmt::format(" {}={}", field.key, quoted(field.print(spec)));
    return text + layouts_text(spec);
}

int format_of(const GemmSpec& spec) {
    int format = 1;
    for (const GemmSpecField& field : kFields)
        if (!is_usual(field, spec)) format = std::max(format, field.format);
    return format;
}

bool is_layout_key(std::string_view key) {
    return std::ranges::any_of(kLayoutKeys, [&](std::string_view start) { return key.starts_with(start); });
}

void read_layout(GemmSpec& spec, std::string_view key, std::string_view word) {
    const std::string_view start =
        *std::ranges::find_if(kLayoutKeys, [&](std::string_view one) { return key.starts_with(one); });
    const std::string_view name = key.substr(start.size());
    if (name.empty())
        throw WordError(
            fmt::format("{0} is '{1}', but names no operand: expected {0}x={1} of an operand x", key, word));
    if (spec.epilogue.empty())
        throw WordError(fmt::format("{} is '{}', but the spec has no epilogue with an operand {}", key, word, name));
    EpilogueLayout layout = spec.epilogue.layout_of(name);
    try {
        if (start == kPitchKey)
            layout.ld = read_integer<std::int64_t>(word);
        else if (start == kBatchStrideKey)
            layout.batch_stride = word == kPackedWord ? kPackedBatch : read_stride(word);
        else if (start == kOuterStrideKey)
            layout.outer_stride = word == kPackedWord ? kPackedBatch : read_stride(word);
        else
            layout.align = read_integer<int>(word);
    } catch (const WordError& error) {
        throw WordError(fmt::format("{} is '{}': {}", key, word, error.what()));
    }
    spec.epilogue = spec.epilogue.with(name, layout);
}

std::span<const FormerField> former_fields() { return kFormerFields; }

bool read_former_field(std::string_view key, std::string_view word, int format) {
    const auto field = std::ranges::find(kFormerFields, key, &FormerField::key);
    if (field == std::end(kFormerFields) || format >= field->before_format) return false;
    if (word == field->neutral || word == field->other_neutral) return true;
    throw WordError(fmt::format("{} is '{}': no kernel serves this field, leave it out", key, word));
}

}  // namespace jitgemm

// A product for each field, which don't wait for each other; added up and mixed once (the constants are those of
// splitmix64). Over the table's rows one by one, so that each is read in place and not through a pointer: a request for
// a known kernel is little more than this.
std::size_t std::hash<jitgemm::GemmSpec>::operator()(const jitgemm::GemmSpec& spec) const noexcept {
    using jitgemm::kFields;
    const auto sum_of = [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::uint64_t multiplier = 0x9E3779B97F4A7C15;
        std::uint64_t sum = 0;
        ((sum += static_cast<std::uint64_t>(kFields[I].value(spec)) * multiplier,
          multiplier = multiplier * 0xBF58476D1CE4E5B9 + 2),
         ...);
        return sum;
    };
    std::uint64_t sum = sum_of(std::make_index_sequence<std::size(kFields)>());
    sum = (sum ^ (sum >> 32U)) * 0x94D049BB133111EB;
    return static_cast<std::size_t>(sum ^ (sum >> 29U));
}
