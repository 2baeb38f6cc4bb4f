#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/spec_text.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace jitgemm {
namespace {

constexpr std::array<std::string_view, 8> kFormats{"gemm-v1", "gemm-v2", "gemm-v3", "gemm-v4",
                                                   "gemm-v5", "gemm-v6", "gemm-v7", "gemm-v8"};
constexpr int kFirstWithLayouts = 3;   // of an epilogue's operands
constexpr int kFirstOfShapeLines = 6;  // whose fields, and later ones, a shape line may have: batches and groups

/// The name of one of an enumeration; a number that was cast to it may be none.
template <typename Names, typename Enumeration>
std::string_view name_in(const Names& names, std::string_view enumeration, Enumeration value) {
    const auto position = static_cast<std::size_t>(value);
    if (position < names.size()) return names[position];
    throw SpecError(fmt::format("unknown {}", enumeration), {fmt::format("{} is no {}", position, enumeration)});
}

template <typename Enumeration, typename Names>
std::optional<Enumeration> value_of(const Names& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enumeration>(found - names.begin());
}

constexpr char kQuote = '\'';

/// A value without the quotes around it.
std::string_view unquoted(std::string_view word) {
    const bool has_quotes = word.size() >= 2 && word.front() == kQuote && word.back() == kQuote;
    return has_quotes ? word.substr(1, word.size() - 2) : word;
}

const GemmSpecField& find_field(std::string_view key, int format) {
    std::vector<std::string_view> known;
    for (const GemmSpecField& field : gemm_spec_fields()) {
        if (field.format > format) continue;
        if (field.key == key) return field;
        known.push_back(field.key);
    }
    throw WordError(fmt::format("unknown key '{}' (known: {}){}", key, join_names(known), nearest_hint(key, known)));
}

struct Assignment {
    std::string_view key, value;
};

Assignment split_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw WordError(fmt::format("'{}' is not of the form key=value", word));
    return {word.substr(0, equals), unquoted(word.substr(equals + 1))};
}

/// False for a layout of an epilogue's operand, which is read once the epilogue is.
bool read_assignment(GemmSpec& spec, const Assignment& word, int format, std::vector<std::string_view>& seen) {
    const auto [key, value] = word;
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) throw WordError(fmt::format("'{}' stands twice", key));
    seen.push_back(key);
    if (read_former_field(key, value, format)) return true;
    const bool is_field = std::ranges::find(gemm_spec_fields(), key, &GemmSpecField::key) != gemm_spec_fields().end();
    if (!is_field && format >= kFirstWithLayouts && is_layout_key(key)) return false;
    read_field(spec, find_field(key, format), key, value);
    return true;
}

/// Words of any order. Layouts are read last.
void read_assignments(GemmSpec& spec, std::span<const std::string_view> words, int format,
                      std::vector<std::string_view>& seen) {
    std::vector<Assignment> layouts;
    for (const std::string_view text : words) {
        const Assignment word = split_assignment(text);
        if (!read_assignment(spec, word, format, seen)) layouts.push_back(word);
    }
    for (const auto& [key, value] : layouts) read_layout(spec, key, value);
}

/// A size left out is no size of 0: the product of nothing is right whatever the kernel does.
void require_sizes(const std::vector<std::string_view>& seen) {
    std::vector<std::string_view> missing;
    for (const std::string_view size : {"m", "n", "k"})
        if (std::ranges::find(seen, size) == seen.end()) missing.push_back(size);
    if (missing.empty()) return;
    throw WordError(fmt::format("{} {} missing: a spec names its three sizes", join_names(missing),
                                missing.size() == 1 ? "is" : "are"));
}

GemmSpec read_spec(std::string_view text) {
    const std::vector<std::string_view> words = split_spec_words(text);
    const auto format = words.empty() ? kFormats.end() : std::ranges::find(kFormats, words.front());
    if (format == kFormats.end()) {
        throw WordError(fmt::format("starts with '{}': expected the format, one of {}",
                                    words.empty() ? "" : words.front(), join_names(kFormats)));
    }
    GemmSpec spec;
    std::vector<std::string_view> seen;
    read_assignments(spec, std::span(words).subspan(1), static_cast<int>(format - kFormats.begin()) + 1, seen);
    require_sizes(seen);
    const auto missing = [&](std::string_view key) { return std::ranges::find(seen, key) == seen.end(); };
    if (missing("b")) spec.b = spec.a;
    if (missing("d")) spec.d = default_output(spec.a);
    if (missing("acc")) spec.accumulator = default_accumulator(spec.a);
    return spec;
}

/// A field as a shape line has it.
void read_word(GemmSpec& spec, std::string_view key, std::string_view word) {
    read_field(spec, find_field(key, 1), key == "a" || key == "b" ? "type" : key, word);
}

bool is_assignment(std::string_view word) { return word.find('=') != std::string_view::npos; }

/// Words behind the sizes of a shape line.
void read_behind_sizes(GemmSpec& spec, std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
        const std::string_view key = split_assignment(word).key;
        const auto field = std::ranges::find(gemm_spec_fields(), key, &GemmSpecField::key);
        const bool is_field = field != gemm_spec_fields().end();
        if (key == "epilogue" || (is_field ? field->format >= kFirstOfShapeLines : is_layout_key(key))) continue;
        throw WordError(fmt::format(
            "'{}' stands behind the sizes: a shape line has only batch=, batch-stride-A=, groups=, "
            "group-rows=, expected-rows=, ragged=, source-rows=, symmetric=, prepared= and pointers= there, "
            "epilogue='…', and ld-NAME=, align-NAME= and batch-stride-NAME= of its operands",
            word));
    }
    std::vector<std::string_view> seen;
    read_assignments(spec, words, static_cast<int>(kFormats.size()), seen);
}

GemmSpec read_shape_line(std::string_view line) {
    constexpr std::size_t kWords = 5;
    const std::vector<std::string_view> words = split_spec_words(spec_words(line));
    const bool has_more =
        words.size() > kWords && std::ranges::all_of(words.begin() + kWords, words.end(), is_assignment);
    if (words.size() != kWords && !has_more) {
        throw WordError(fmt::format("has {} word{}: expected type, layout, m, n, k ('bf16 tn 4096 4096 4096')",
                                    words.size(), words.size() == 1 ? "" : "s"));
    }
    GemmSpec spec;
    const std::size_t star = words[0].find('*');  // between two types: "e4m3*e5m2"
    read_word(spec, "a", words[0].substr(0, star));
    spec = gemm_spec_of_type(spec.a);
    if (star != std::string_view::npos) read_word(spec, "b", words[0].substr(star + 1));
    read_word(spec, "layout", words[1]);
    read_word(spec, "m", words[2]);
    read_word(spec, "n", words[3]);
    read_word(spec, "k", words[4]);
    read_behind_sizes(spec, std::span(words).subspan(kWords));
    return spec;
}

/// What a shape line says of several problems.
std::string problems_text(const GemmSpec& spec) {
    if (!has_groups(spec))
        return fmt::format("{}{}{}", spec.symmetric ? " symmetric=yes" : "",
                           is_batched(spec) ? fmt::format(" batch={}", spec.batch) : "",
                           spec.pointers ? " pointers=yes" : "");
    return fmt::format(" groups={}{}{}{}{}", spec.groups, spec.ragged == Ragged::k ? " ragged=k" : "",
                       spec.group_rows == 0 ? "" : fmt::format(" group-rows={}", spec.group_rows),
                       spec.expected_rows == 0 ? "" : fmt::format(" expected-rows={}", spec.expected_rows),
                       spec.source_rows == 0 ? "" : fmt::format(" source-rows={}", spec.source_rows));
}

}  // namespace

std::string_view to_string(GemmLayout layout) { return name_in(kLayoutNames, "GemmLayout", layout); }

std::string_view to_string(Order order) { return name_in(kOrderNames, "Order", order); }

std::string_view to_string(Math math) { return name_in(kMathNames, "Math", math); }

std::string_view to_string(Prepared prepared) { return name_in(kPreparedNames, "Prepared", prepared); }

std::optional<GemmLayout> parse_gemm_layout(std::string_view name) { return value_of<GemmLayout>(kLayoutNames, name); }

std::optional<Order> parse_order(std::string_view name) { return value_of<Order>(kOrderNames, name); }

std::optional<Math> parse_math(std::string_view name) { return value_of<Math>(kMathNames, name); }

std::string to_string(const GemmSpec& spec) {
    std::string text;
    for (const GemmSpecField& field : gemm_spec_fields())
        if (field.format == 1) text += fmt::format(" {}={}", field.key, field.print(spec));
    return std::string(kFormats.at(static_cast<std::size_t>(format_of(spec)) - 1)) + text + later_formats_text(spec);
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
    return fmt::format("{} {} {} {} {}{}", operand_types(spec), to_string(spec.layout), spec.m, spec.n, spec.k,
                       problems_text(spec));
}

}  // namespace jitgemm
