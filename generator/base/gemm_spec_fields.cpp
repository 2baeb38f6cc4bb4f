#include "generator/base/gemm_spec_fields.hpp"

#include "generator/base/nearest_name.hpp"
#include "generator/base/served_types.hpp"

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

constexpr std::array<std::string_view, 4> kLayouts{"tn", "nn", "nt", "tt"};  // each in the order of its enumeration
constexpr std::array<std::string_view, 2> kOrders{"t", "n"};
constexpr std::array<std::string_view, 4> kActivations{"none", "relu", "gelu", "silu"};
constexpr std::array<std::string_view, 4> kScales{"none", "tensor", "vector", "block"};
constexpr std::array<std::string_view, 2> kFlags{"no", "yes"};
constexpr std::array<std::string_view, 2> kDeterminisms{"run_to_run", "batch_invariant"};
constexpr std::array<std::string_view, 3> kBiases{"none", "row", "col"};

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

// ---- rows ------------------------------------------------------------------------------------------------------------

template <auto Member>
constexpr GemmSpecField number(std::string_view key, std::string_view help, bool is_of_c = false) {
    using Integer = std::remove_reference_t<decltype(std::declval<GemmSpec&>().*Member)>;
    return {.key = key,
            .option = key,
            .help = help,
            .format = 1,
            .print = [](const GemmSpec& spec) { return std::to_string(spec.*Member); },
            .read = [](GemmSpec& spec, std::string_view word) { spec.*Member = read_integer<Integer>(word); },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.*Member); },
            .is_known = nullptr,
            .is_number = true,
            .is_of_c = is_of_c,
            .token = {},
            .unserved = {}};
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
            .is_of_c = false,
            .token = {},
            .unserved = {}};
}

template <auto Member>
constexpr GemmSpecField stride(std::string_view key, std::string_view help, bool is_of_c = false) {
    return {.key = key,
            .option = key,
            .help = help,
            .format = 2,
            .print = [](const GemmSpec& spec) { return spec.*Member ? std::to_string(*(spec.*Member)) : "packed"; },
            .read =
                [](GemmSpec& spec, std::string_view word) {
                    spec.*Member = word == "packed" ? std::nullopt : std::optional(read_integer<std::int64_t>(word));
                },
            .value = [](const GemmSpec& spec) { return (spec.*Member).value_or(-1); },
            .is_known = nullptr,
            .is_number = false,
            .is_of_c = is_of_c,
            .token = {},
            .unserved = {}};
}

template <auto Member>
constexpr GemmSpecField scale(std::string_view key, std::string_view token, std::string_view help) {
    return {.key = key,
            .option = key,
            .help = help,
            .format = 2,
            .print = [](const GemmSpec& spec) { return name_text(spec.epilogue.*Member, kScales); },
            .read = [](GemmSpec& spec,
                       std::string_view word) { spec.epilogue.*Member = read_name<ScaleFactors>(word, kScales); },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.epilogue.*Member); },
            .is_known = [](const GemmSpec& spec) { return is_named(spec.epilogue.*Member, kScales); },
            .is_number = false,
            .is_of_c = false,
            .token = token,
            .unserved = "takes scale factors"};
}

template <auto Member>
constexpr GemmSpecField flag(std::string_view key, std::string_view help, bool is_of_c = false) {
    return {.key = key,
            .option = key,
            .help = help,
            .format = 2,
            .print = [](const GemmSpec& spec) { return std::string(kFlags[spec.*Member ? 1 : 0]); },
            .read = [](GemmSpec& spec, std::string_view word) { spec.*Member = read_name<int>(word, kFlags) != 0; },
            .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.*Member); },
            .is_known = nullptr,
            .is_number = false,
            .is_of_c = is_of_c,
            .token = {},
            .unserved = {}};
}

std::string bias_text(const GemmSpec& spec) {
    const GemmEpilogue& epilogue = spec.epilogue;
    if (epilogue.bias == Bias::none) return "none";
    return fmt::format("{}-{}", name_text(epilogue.bias, kBiases), to_string(epilogue.bias_type));
}

/// "row-f32", "col-bf16", "none"; "row" alone is of f32.
void read_bias(GemmSpec& spec, std::string_view word) {
    const std::size_t dash = word.find('-');
    spec.epilogue.bias = read_name<Bias>(word.substr(0, dash), kBiases);
    spec.epilogue.bias_type = dash == std::string_view::npos ? DataType::f32 : read_type(word.substr(dash + 1));
}

std::int64_t bias_value(const GemmSpec& spec) {
    const GemmEpilogue& epilogue = spec.epilogue;
    return epilogue.bias == Bias::none
               ? 0
               : static_cast<std::int64_t>(epilogue.bias) * 256 + static_cast<std::int64_t>(epilogue.bias_type);
}

constexpr GemmSpecField kFields[] = {
    number<&GemmSpec::m>("m", "Rows of A, C and D"),
    number<&GemmSpec::n>("n", "Columns of B, C and D"),
    number<&GemmSpec::k>("k", "Columns of A, rows of B"),
    type<&GemmSpec::a>("a", "a-type", "Type of A"),
    type<&GemmSpec::b>("b", "b-type", "Type of B"),
    {.key = "c",
     .option = "c-type",
     .help = "Type of C, which is then read (default D's when --beta is not 0)",
     .format = 1,
     .print = [](const GemmSpec& spec) { return type_text(spec.c); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.c = read_optional_type(word); },
     .value = [](const GemmSpec& spec) { return type_value(spec.c); },
     .is_known = [](const GemmSpec& spec) { return is_known(spec.c); },
     .is_number = false,
     .is_of_c = true,
     .token = {},
     .unserved = {}},
    flag<&GemmSpec::broadcast_c>(
        "broadcast-c", "yes: C is one row (d-layout n: one column) that is added to each of D's, as a bias is", true),
    type<&GemmSpec::d>("d", "d-type", "Type of D"),
    type<&GemmSpec::accumulator>("acc", "acc-type", "Type of the accumulator"),
    {.key = "layout",
     .option = "layout",
     .help = "tn, nn, nt or tt: BLAS letters of A and B, t row-major, n column-major (default tn)",
     .format = 1,
     .print = [](const GemmSpec& spec) { return std::string(to_string(spec.layout)); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.layout = read_name<GemmLayout>(word, kLayouts); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.layout); },
     .is_known = [](const GemmSpec& spec) { return is_named(spec.layout, kLayouts); },
     .is_number = false,
     .is_of_c = false,
     .token = {},
     .unserved = {}},
    {.key = "d-layout",
     .option = "d-layout",
     .help = "t or n: order of D and C (default t, row-major)",
     .format = 1,
     .print = [](const GemmSpec& spec) { return std::string(to_string(spec.d_order)); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.d_order = read_name<Order>(word, kOrders); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.d_order); },
     .is_known = [](const GemmSpec& spec) { return is_named(spec.d_order, kOrders); },
     .is_number = false,
     .is_of_c = false,
     .token = {},
     .unserved = {}},
    number<&GemmSpec::lda>("lda", "Leading dimension of A in elements (default packed)"),
    number<&GemmSpec::ldb>("ldb", "Leading dimension of B"),
    number<&GemmSpec::ldc>("ldc", "Leading dimension of C", true),
    number<&GemmSpec::ldd>("ldd", "Leading dimension of D"),
    number<&GemmSpec::align_a>("align-a", "Alignment of A in bytes: 16, 8, 4 or 2 (default what lda gives)"),
    number<&GemmSpec::align_b>("align-b", "Alignment of B in bytes"),
    number<&GemmSpec::align_c>("align-c", "Alignment of C in bytes", true),
    number<&GemmSpec::align_d>("align-d", "Alignment of D in bytes"),
    {.key = "batch",
     .option = "batch",
     .help = "Problems of these sizes at once (default 1; no kernel family takes more yet)",
     .format = 2,
     .print = [](const GemmSpec& spec) { return std::to_string(spec.batch); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.batch = read_integer<std::int64_t>(word); },
     .value = [](const GemmSpec& spec) { return spec.batch; },
     .is_known = nullptr,
     .is_number = true,
     .is_of_c = false,
     .token = {},
     .unserved = "multiplies batches"},
    stride<&GemmSpec::batch_stride_a>("batch-stride-a", "Elements from one A of a batch to the next (default packed)"),
    stride<&GemmSpec::batch_stride_b>("batch-stride-b", "Elements from one B to the next"),
    stride<&GemmSpec::batch_stride_c>("batch-stride-c", "Elements from one C to the next", true),
    stride<&GemmSpec::batch_stride_d>("batch-stride-d", "Elements from one D to the next"),
    {.key = "bias",
     .option = "bias",
     .help =
         "none, row or col, and its type: row-f32 adds a value to every element of a row (no kernel family does yet)",
     .format = 2,
     .print = bias_text,
     .read = read_bias,
     .value = bias_value,
     .is_known =
         [](const GemmSpec& spec) {
             return is_named(spec.epilogue.bias, kBiases) && jitgemm::is_known(spec.epilogue.bias_type);
         },
     .is_number = false,
     .is_of_c = false,
     .token = "bias-",
     .unserved = "adds a bias"},
    {.key = "activation",
     .option = "activation",
     .help = "none, relu, gelu or silu (no kernel family has one yet)",
     .format = 2,
     .print = [](const GemmSpec& spec) { return name_text(spec.epilogue.activation, kActivations); },
     .read = [](GemmSpec& spec,
                std::string_view word) { spec.epilogue.activation = read_name<Activation>(word, kActivations); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.epilogue.activation); },
     .is_known = [](const GemmSpec& spec) { return is_named(spec.epilogue.activation, kActivations); },
     .is_number = false,
     .is_of_c = false,
     .token = "act-",
     .unserved = "has an activation"},
    {.key = "residual",
     .option = "residual",
     .help = "Type of a matrix that is added behind the activation (no kernel family does yet)",
     .format = 2,
     .print = [](const GemmSpec& spec) { return type_text(spec.epilogue.residual); },
     .read = [](GemmSpec& spec, std::string_view word) { spec.epilogue.residual = read_optional_type(word); },
     .value = [](const GemmSpec& spec) { return type_value(spec.epilogue.residual); },
     .is_known = [](const GemmSpec& spec) { return is_known(spec.epilogue.residual); },
     .is_number = false,
     .is_of_c = false,
     .token = "res-",
     .unserved = "adds a residual"},
    scale<&GemmEpilogue::scale_a>(
        "scale-a", "scalea-", "Scale factors of A: none, tensor, vector or block (no kernel family takes them yet)"),
    scale<&GemmEpilogue::scale_b>("scale-b", "scaleb-", "Scale factors of B"),
    scale<&GemmEpilogue::scale_d>("scale-d", "scaled-", "Scale factor of D: none or tensor"),
    flag<&GemmSpec::constant_a>("constant-a",
                                "yes: no launch that may still run writes A; its first tiles may be fetched early"),
    flag<&GemmSpec::constant_b>("constant-b", "yes: the same of B (weights)"),
    {.key = "deterministic",
     .option = "deterministic",
     .help = "run_to_run (default), or batch_invariant: a row of D has the same bits whatever m and the other rows are",
     .format = 2,
     .print = [](const GemmSpec& spec) { return name_text(spec.deterministic, kDeterminisms); },
     .read = [](GemmSpec& spec,
                std::string_view word) { spec.deterministic = read_name<Determinism>(word, kDeterminisms); },
     .value = [](const GemmSpec& spec) { return static_cast<std::int64_t>(spec.deterministic); },
     .is_known = [](const GemmSpec& spec) { return is_named(spec.deterministic, kDeterminisms); },
     .is_number = false,
     .is_of_c = false,
     .token = {},
     .unserved = {}},
};

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

std::string second_format_text(const GemmSpec& spec) {
    std::string text;
    for (const GemmSpecField& field : kFields)
        if (field.format == 2 && !is_usual(field, spec)) text += fmt::format(" {}={}", field.key, field.print(spec));
    return text;
}

std::string epilogue_tokens(const GemmEpilogue& epilogue) {
    const GemmSpec spec{.epilogue = epilogue};
    std::string text;
    for (const GemmSpecField& field : kFields)
        if (!field.token.empty() && !is_usual(field, spec))
            text += fmt::format("_{}{}", field.token, field.print(spec));
    return text;
}

bool read_epilogue_token(std::string_view token, GemmEpilogue& epilogue) {
    for (const GemmSpecField& field : kFields) {
        if (field.token.empty() || !token.starts_with(field.token)) continue;
        GemmSpec spec{.epilogue = epilogue};
        field.read(spec, token.substr(field.token.size()));
        epilogue = spec.epilogue;
        return true;
    }
    return false;
}

namespace {

std::string unserved_type(DataType type) {
    std::vector<std::string_view> served;
    for (const DataType one : served_types()) served.push_back(to_string(one));
    return fmt::format("no kernel family multiplies {} yet: A and B are one of {}", to_string(type),
                       join_names(served));
}

}  // namespace

std::span<const DataType> served_types() {
    static constexpr std::array kServed{DataType::f16, DataType::bf16, DataType::f32};
    return kServed;
}

std::vector<std::string> unserved_fields(const GemmSpec& spec) {
    std::vector<std::string> reasons;
    for (const DataType type : {spec.a, spec.b}) {
        if (std::ranges::find(served_types(), type) != served_types().end()) continue;
        reasons.push_back(unserved_type(type));
        break;
    }
    for (const GemmSpecField& field : kFields)
        if (!field.unserved.empty() && !is_usual(field, spec))
            reasons.push_back(
                fmt::format("{}={}: no kernel family {} yet", field.key, field.print(spec), field.unserved));
    return reasons;
}

}  // namespace jitgemm

// A product for each field, which don't wait for each other; added up and mixed once (the constants are those of splitmix64). Over the
// table's rows one by one, so that each is read in place and not through a pointer: a request for a known kernel is little more than this.
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
