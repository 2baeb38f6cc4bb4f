#include "runtime/cli/row_range.hpp"

#include "generator/base/spec_text.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/shape_ranges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kPlaceOfM = 2;  // of a shape line's words
constexpr std::string_view kNameOfM = "m=";

std::int64_t row_count(std::string_view text, std::string_view range) {
    const std::optional<std::int64_t> count = parse_number<std::int64_t>(text);
    if (!count) throw SpecError("range of m", {fmt::format("'{}': expected FIRST:LAST in whole numbers", range)});
    return *count;
}

std::vector<std::string> split_at_blanks(std::string_view text) {
    std::istringstream stream{std::string(spec_words(text))};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// The word that says m: one that names it, else the third of a shape line.
std::vector<std::string>::iterator word_of_m(std::vector<std::string>& words, bool has_keys) {
    const auto named = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with(kNameOfM); });
    if (named != words.end() || has_keys || words.size() <= kPlaceOfM) return named;
    return words.begin() + kPlaceOfM;
}

}  // namespace

RowRange parse_rows(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::int64_t first = row_count(text.substr(0, colon), text);
    if (colon == std::string_view::npos) return {first, first};
    const std::string_view last = text.substr(colon + 1);
    if (last.find(':') != std::string_view::npos)
        throw SpecError("range of m",
                        {fmt::format("'{}': a set serves each m of FIRST:LAST, leave the step out", text)});
    return {first, row_count(last, text)};
}

RangedProblem take_rows(std::string_view text) {
    std::vector<std::string> words = split_at_blanks(text);
    const bool has_keys = names_format(text);
    const auto m = word_of_m(words, has_keys);
    if (m == words.end()) return {std::string(text), {}};  // whoever reads it says what is wrong
    const std::string name = m->starts_with(kNameOfM) ? std::string(kNameOfM) : std::string();
    const RowRange rows = parse_rows(std::string_view(*m).substr(name.size()));
    *m = name + std::to_string(rows.first);
    const std::string plain = fmt::format("{}", fmt::join(words, " "));
    return {has_keys ? plain : expand_shape_line(plain, 1).front(), rows};
}

}  // namespace jitgemm::cli
