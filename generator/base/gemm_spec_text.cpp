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

constexpr std::array<std::string_view, 9> kFormats{"gemm-v1", "gemm-v2", "gemm-v3", "gemm-v4", "gemm-v5",
                                                   "gemm-v6", "gemm-v7", "gemm-v8", "gemm-v9"};
constexpr int kFirstWithLayouts = 3;  // of an epilogue's operands

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

const GemmSpecField& find_field(std::string_view key, int format) {
    std::vector<std::string_view> known;
    for (const GemmSpecField& field : gemm_spec_fields()) {
        if (field.format > format) continue;
        if (field.key == key) return field;
        known.push_back(field.key);
    }
    throw WordError(fmt::format("unknown key '{}' (known: {}){}", key, join_names(known), nearest_hint(key, known)));
}

/// A text says each field once.
void refuse_repeated(const SaidField& said, std::span<const SaidField> earlier) {
    const auto same = std::ranges::find(earlier, said.key, &SaidField::key);
    if (same == earlier.end()) return;
    if (same->place.empty()) throw WordError(fmt::format("'{}' stands twice: a text has each key once", said.key));
    throw WordError(fmt::format("'{0}={1}' repeats what the first words of a shape line say: leave {0}= out", said.key,
                                said.value));
}

/// False for a layout of an epilogue's operand, which is read once the epilogue is.
bool read_said(GemmSpec& spec, const SaidField& said, int format) {
    if (read_former_field(said.key, said.value, format)) return true;
    const bool is_field =
        std::ranges::find(gemm_spec_fields(), said.key, &GemmSpecField::key) != gemm_spec_fields().end();
    if (!is_field && format >= kFirstWithLayouts && is_layout_key(said.key)) return false;
    read_field(spec, find_field(said.key, format), said.place.empty() ? said.key : said.place, said.value);
    return true;
}

bool says(std::span<const SaidField> fields, std::string_view key) {
    return std::ranges::find(fields, key, &SaidField::key) != fields.end();
}

/// A size left out is no size of 0: the product of nothing is right whatever the kernel does.
void require_sizes(std::span<const SaidField> fields) {
    std::vector<std::string_view> missing;
    for (const std::string_view size : {"m", "n", "k"})
        if (!says(fields, size)) missing.push_back(size);
    if (missing.empty()) return;
    throw WordError(fmt::format("{} {} missing: a spec names its three sizes", join_names(missing),
                                missing.size() == 1 ? "is" : "are"));
}

/// The spec of a text in either form. Layouts are read last. Types that the text doesn't say follow from A's.
GemmSpec read_spec(std::span<const SaidField> fields, int format) {
    GemmSpec spec;
    std::vector<SaidField> layouts;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        refuse_repeated(fields[i], fields.first(i));
        if (!read_said(spec, fields[i], format)) layouts.push_back(fields[i]);
    }
    for (const SaidField& layout : layouts) read_layout(spec, layout.key, layout.value);
    require_sizes(fields);
    if (!says(fields, "b")) spec.b = spec.a;
    if (!says(fields, "d")) spec.d = default_output(spec.a);
    if (!says(fields, "acc")) spec.accumulator = default_accumulator(spec.a);
    return spec;
}

/// The format that a text begins with, from 1 on.
int read_format(std::string_view text) {
    const std::vector<std::string_view> words = split_spec_words(text);
    const auto format = words.empty() ? kFormats.end() : std::ranges::find(kFormats, words.front());
    if (format != kFormats.end()) return static_cast<int>(format - kFormats.begin()) + 1;
    throw WordError(fmt::format("starts with '{}': expected the format, one of {}", words.empty() ? "" : words.front(),
                                join_names(kFormats)));
}

/// Returns the part of a shape line that describes batches and groups.
std::string problems_text(const GemmSpec& spec) {
    if (!has_groups(spec))
        return fmt::format("{}{}{}{}", spec.symmetric ? " symmetric=yes" : "",
                           is_batched(spec) ? fmt::format(" batch={}", spec.batch) : "",
                           is_nested(spec) ? fmt::format(" batch-inner={}", spec.outer->inner) : "",
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
        const int format = read_format(text);
        return read_spec(said_fields(text), format);
    } catch (const WordError& error) {
        throw SpecError(fmt::format("spec '{}'", text), {error.what()});
    }
}

GemmSpec parse_shape_line(std::string_view line) {
    try {
        if (names_format(line)) throw WordError("starts with a format: a shape line starts with a type");
        GemmSpec spec = read_spec(said_fields(spec_words(line)), static_cast<int>(kFormats.size()));
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
