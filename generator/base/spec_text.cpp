#include "generator/base/spec_text.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm {

std::string_view spec_words(std::string_view text) {
    bool is_quoted = false;  // an epilogue
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\'') is_quoted = !is_quoted;
        if (text[i] != '#' || is_quoted) continue;
        text = text.substr(0, i);
    }
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text;
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
