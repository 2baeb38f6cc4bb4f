#include "generator/base/spec_text.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
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
