#include "generator/base/spec_text.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr char kQuote = '\'';

/// Where the word ends that begins at the front. Blanks between quotes belong to it.
std::size_t end_of_word(std::string_view text) {
    bool is_quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == kQuote) is_quoted = !is_quoted;
        if (!is_quoted && kBlanks.find(text[i]) != std::string_view::npos) return i;
    }
    if (is_quoted) throw WordError(fmt::format("{} has a quote that does not end", text));
    return text.size();
}

/// A value without the quotes around it.
std::string_view unquoted(std::string_view word) {
    const bool has_quotes = word.size() >= 2 && word.front() == kQuote && word.back() == kQuote;
    return has_quotes ? word.substr(1, word.size() - 2) : word;
}

SaidField split_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw WordError(fmt::format("'{}' is not of the form key=value", word));
    return {word.substr(0, equals), unquoted(word.substr(equals + 1)), {}};
}

constexpr std::array<std::string_view, 4> kBehindType{"layout", "m", "n", "k"};
constexpr std::size_t kPlaces = 1 + kBehindType.size();  // of a shape line

/// The first words of a shape line.
std::vector<SaidField> fields_with_places(std::span<const std::string_view> words) {
    if (words.size() < kPlaces)
        throw WordError(fmt::format("has {} word{}: expected type, layout, m, n, k ('bf16 tn 4096 4096 4096')",
                                    words.size(), words.size() == 1 ? "" : "s"));
    const std::size_t star = words[0].find('*');  // between two types: "e4m3*e5m2"
    std::vector<SaidField> fields{{"a", words[0].substr(0, star), "type"}};
    if (star != std::string_view::npos) fields.push_back({"b", words[0].substr(star + 1), "type"});
    for (std::size_t i = 0; i < kBehindType.size(); ++i)
        fields.push_back({kBehindType[i], words[1 + i], kBehindType[i]});
    return fields;
}

}  // namespace

std::string_view spec_words(std::string_view text) {
    bool is_quoted = false;  // an epilogue
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == kQuote) is_quoted = !is_quoted;
        if (text[i] != '#' || is_quoted) continue;
        text = text.substr(0, i);
    }
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text;
}

std::vector<std::string_view> split_spec_words(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(kBlanks);
        if (begin == std::string_view::npos) return words;
        text.remove_prefix(begin);
        const std::size_t end = end_of_word(text);
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

bool names_format(std::string_view text) { return spec_words(text).starts_with("gemm-"); }

std::vector<SaidField> said_fields(std::string_view text) {
    const std::vector<std::string_view> words = split_spec_words(text);
    const bool has_format = names_format(text);
    std::vector<SaidField> fields = has_format ? std::vector<SaidField>() : fields_with_places(words);
    for (const std::string_view word : std::span(words).subspan(has_format ? 1 : kPlaces))
        fields.push_back(split_assignment(word));
    return fields;
}

GemmSpec parse_spec_text(std::string_view text) {
    if (!names_format(text)) return parse_shape_line(text);
    GemmSpec spec = parse_gemm_spec(spec_words(text));
    if (auto reasons = problems(spec); !reasons.empty())
        throw SpecError(fmt::format("spec '{}'", text), std::move(reasons));
    return spec;
}

std::string range_text(GemmSpec spec, std::int64_t first_m, std::int64_t last_m) {
    constexpr std::string_view kNoRows = " m=0 ";
    spec.m = 0;
    std::string text = to_string(spec);
    return text.replace(text.find(kNoRows), kNoRows.size(), fmt::format(" m={}:{} ", first_m, last_m));
}

}  // namespace jitgemm
