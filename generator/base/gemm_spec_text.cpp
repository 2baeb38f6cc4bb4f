#include "generator/base/nearest_name.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <span>

namespace jitgemm {
namespace {

constexpr std::string_view kFormatName = "gemm-v1";
constexpr std::array<std::string_view, 4> kLayoutNames{"tn", "nn", "nt", "tt"};  // in the order of the enumeration
constexpr std::array<std::string_view, 2> kOrderNames{"t", "n"};

/// The name of one of an enumeration; a number that was cast to it may be none.
template <typename Names, typename Enumeration>
std::string_view name_in(const Names& names, std::string_view enumeration, Enumeration value) {
    const auto position = static_cast<std::size_t>(value);
    if (position < names.size()) return names[position];
    throw SpecError(fmt::format("unknown {}", enumeration), {fmt::format("{} is no {}", position, enumeration)});
}

/// Says what is wrong with one word; the caller adds the whole text.
class WordError : public Error {
public:
    using Error::Error;
};

std::vector<std::string_view> split_words(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(kBlanks);
        if (begin == std::string_view::npos) return words;
        const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        text.remove_prefix(end);
    }
}

WordError unknown(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
    return WordError(
        fmt::format("unknown {} '{}' (known: {}){}", what, word, join_names(known), nearest_hint(word, known)));
}

DataType read_type(std::string_view word) {
    if (const auto type = parse_data_type(word)) return *type;
    std::vector<std::string_view> known;
    for (const DataTypeInfo& row : data_type_table()) known.push_back(row.name);
    throw unknown("type", word, known);
}

GemmLayout read_layout(std::string_view word) {
    if (const auto layout = parse_gemm_layout(word)) return *layout;
    throw unknown("layout", word, kLayoutNames);
}

Order read_order(std::string_view word) {
    if (const auto order = parse_order(word)) return *order;
    throw unknown("order", word, kOrderNames);
}

template <typename Integer>
Integer read_integer(std::string_view what, std::string_view word) {
    Integer value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) throw WordError(fmt::format("{} is '{}': too large", what, word));
    if (error != std::errc() || end != word.data() + word.size()) {
        throw WordError(fmt::format("{} is '{}': expected a whole number", what, word));
    }
    return value;
}

/// One key of the text form: how its value is printed and read.
struct Field {
    std::string_view key;
    std::function<std::string(const GemmSpec&)> print;
    std::function<void(GemmSpec&, std::string_view)> read;
};

Field type_field(std::string_view key, DataType GemmSpec::*member) {
    return {key, [=](const GemmSpec& spec) { return std::string(to_string(spec.*member)); },
            [=](GemmSpec& spec, std::string_view word) { spec.*member = read_type(word); }};
}

template <typename Integer>
Field integer_field(std::string_view key, Integer GemmSpec::*member) {
    return {key, [=](const GemmSpec& spec) { return std::to_string(spec.*member); },
            [=](GemmSpec& spec, std::string_view word) { spec.*member = read_integer<Integer>(key, word); }};
}

Field c_field() {
    return {"c", [](const GemmSpec& spec) { return std::string(spec.c ? to_string(*spec.c) : "none"); },
            [](GemmSpec& spec, std::string_view word) {
                spec.c = word == "none" ? std::nullopt : std::optional(read_type(word));
            }};
}

Field layout_field() {
    return {"layout", [](const GemmSpec& spec) { return std::string(to_string(spec.layout)); },
            [](GemmSpec& spec, std::string_view word) { spec.layout = read_layout(word); }};
}

Field d_layout_field() {
    return {"d-layout", [](const GemmSpec& spec) { return std::string(to_string(spec.d_order)); },
            [](GemmSpec& spec, std::string_view word) { spec.d_order = read_order(word); }};
}

const std::vector<Field>& fields() {
    static const std::vector<Field> table{
        integer_field("m", &GemmSpec::m),
        integer_field("n", &GemmSpec::n),
        integer_field("k", &GemmSpec::k),
        type_field("a", &GemmSpec::a),
        type_field("b", &GemmSpec::b),
        c_field(),
        type_field("d", &GemmSpec::d),
        type_field("acc", &GemmSpec::accumulator),
        layout_field(),
        d_layout_field(),
        integer_field("lda", &GemmSpec::lda),
        integer_field("ldb", &GemmSpec::ldb),
        integer_field("ldc", &GemmSpec::ldc),
        integer_field("ldd", &GemmSpec::ldd),
        integer_field("align-a", &GemmSpec::align_a),
        integer_field("align-b", &GemmSpec::align_b),
        integer_field("align-c", &GemmSpec::align_c),
        integer_field("align-d", &GemmSpec::align_d),
    };
    return table;
}

const Field& find_field(std::string_view key) {
    std::vector<std::string_view> known;
    for (const Field& field : fields()) {
        if (field.key == key) return field;
        known.push_back(field.key);
    }
    throw unknown("key", key, known);
}

void read_assignment(GemmSpec& spec, std::string_view word, std::vector<std::string_view>& seen) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw WordError(fmt::format("'{}' is not of the form key=value", word));
    const Field& field = find_field(word.substr(0, equals));
    if (std::find(seen.begin(), seen.end(), field.key) != seen.end()) {
        throw WordError(fmt::format("'{}' stands twice", field.key));
    }
    seen.push_back(field.key);
    field.read(spec, word.substr(equals + 1));
}

GemmSpec read_spec(std::string_view text) {
    const std::vector<std::string_view> words = split_words(text);
    if (words.empty() || words.front() != kFormatName) {
        throw WordError(
            fmt::format("starts with '{}': expected the format '{}'", words.empty() ? "" : words.front(), kFormatName));
    }
    GemmSpec spec;
    std::vector<std::string_view> seen;
    for (std::size_t i = 1; i < words.size(); ++i) read_assignment(spec, words[i], seen);
    const auto missing = [&](std::string_view key) { return std::ranges::find(seen, key) == seen.end(); };
    if (missing("b")) spec.b = spec.a;
    if (missing("d")) spec.d = default_output(spec.a);
    if (missing("acc")) spec.accumulator = default_accumulator(spec.a);
    return spec;
}

GemmSpec read_shape_line(std::string_view line) {
    const std::vector<std::string_view> words = split_words(line.substr(0, line.find('#')));
    if (words.size() != 5) {
        throw WordError(
            fmt::format("has {} words: expected type, layout, m, n, k ('bf16 tn 4096 4096 4096')", words.size()));
    }
    // Typed by people: other libraries' words and capitals are understood, what is none is complained about.
    const std::optional<DataType> type = data_type_of_word(words[0]);
    GemmSpec spec = gemm_spec_of_type(type ? *type : read_type(words[0]));
    spec.layout = read_layout(lower_case(words[1]));
    spec.m = read_integer<std::int64_t>("m", words[2]);
    spec.n = read_integer<std::int64_t>("n", words[3]);
    spec.k = read_integer<std::int64_t>("k", words[4]);
    return spec;
}

}  // namespace

std::string_view to_string(GemmLayout layout) { return name_in(kLayoutNames, "GemmLayout", layout); }

std::string_view to_string(Order order) { return name_in(kOrderNames, "Order", order); }

std::optional<GemmLayout> parse_gemm_layout(std::string_view name) {
    const auto found = std::find(kLayoutNames.begin(), kLayoutNames.end(), name);
    if (found == kLayoutNames.end()) return std::nullopt;
    return static_cast<GemmLayout>(found - kLayoutNames.begin());
}

std::optional<Order> parse_order(std::string_view name) {
    const auto found = std::find(kOrderNames.begin(), kOrderNames.end(), name);
    if (found == kOrderNames.end()) return std::nullopt;
    return static_cast<Order>(found - kOrderNames.begin());
}

std::string to_string(const GemmSpec& spec) {
    std::string text(kFormatName);
    for (const Field& field : fields()) text += fmt::format(" {}={}", field.key, field.print(spec));
    return text;
}

GemmSpec parse_gemm_spec(std::string_view text) {
    try {
        return read_spec(text);
    } catch (const WordError& error) {
        throw SpecError(fmt::format("spec '{}'", text), {error.what()});
    }
}

GemmSpec parse_shape_line(std::string_view line) {
    try {
        GemmSpec spec = read_shape_line(line);
        if (auto reasons = problems(spec); !reasons.empty()) throw SpecError(fmt::format("shape '{}'", line), reasons);
        return spec;
    } catch (const WordError& error) {
        throw SpecError(fmt::format("shape '{}'", line), {error.what()});
    }
}

std::string operand_types(const GemmSpec& spec) {
    if (spec.a == spec.b) return std::string(to_string(spec.a));
    return fmt::format("{}*{}", to_string(spec.a), to_string(spec.b));
}

std::string shape_line(const GemmSpec& spec) {
    return fmt::format("{} {} {} {} {}", operand_types(spec), to_string(spec.layout), spec.m, spec.n, spec.k);
}

}  // namespace jitgemm
