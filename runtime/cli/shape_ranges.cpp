#include "runtime/cli/shape_ranges.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/spec_text.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kSizes = 3;  // m, n, k, behind type and layout
constexpr std::array<std::string_view, kSizes> kSizeNames{"m", "n", "k"};

[[noreturn]] void refuse(std::string_view word, std::string_view why) {
    throw SpecError("shape line", {fmt::format("'{}': {}", word, why)});
}

std::vector<std::string_view> words_of(std::string_view line) {
    try {
        return split_spec_words(spec_words(line));
    } catch (const WordError& error) {
        throw SpecError("shape line", {error.what()});
    }
}

std::int64_t number_in(std::string_view text, std::string_view word) {
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(text);
    if (!value || *value < 0)
        refuse(word, "expected FIRST:LAST, FIRST:LAST:STEP or FIRST:LAST:*FACTOR in whole numbers");
    return *value;
}

struct Step {
    std::int64_t amount = 1;
    bool multiplies = false;

    /// Whether there is another size up to `last`; `size` is moved to it.
    [[nodiscard]] bool advance(std::int64_t& size, std::int64_t last) const {
        if (multiplies ? size > last / amount : size > last - amount) return false;
        size = multiplies ? size * amount : size + amount;
        return true;
    }
};

Step step_in(std::string_view text, std::string_view word) {
    Step step;
    step.multiplies = text.starts_with('*');
    if (text.starts_with('*') || text.starts_with('+')) text.remove_prefix(1);
    step.amount = number_in(text, word);
    if (step.multiplies && step.amount < 2) refuse(word, "a factor must be at least 2");
    if (step.amount < 1) refuse(word, "a step must be at least 1");
    return step;
}

/// "1:128:*2" → 1, 2, 4 ... 128.
std::vector<std::int64_t> sizes_in(std::string_view text, std::string_view word, std::size_t most) {
    const std::size_t colon = text.find(':');
    std::int64_t size = number_in(text.substr(0, colon), word);
    if (colon == std::string_view::npos) return {size};
    text.remove_prefix(colon + 1);
    const std::size_t second = text.find(':');
    const std::int64_t last = number_in(text.substr(0, second), word);
    const Step step = second == std::string_view::npos ? Step{} : step_in(text.substr(second + 1), word);
    if (last < size) refuse(word, "a range must not end before it begins");
    if (step.multiplies && size == 0) refuse(word, "a factor needs a FIRST above 0");
    std::vector<std::int64_t> sizes{size};
    while (step.advance(size, last)) {
        if (sizes.size() == most) refuse(word, fmt::format("more than {} sizes", most));
        sizes.push_back(size);
    }
    return sizes;
}

struct NamedSize {
    std::size_t place = 0;  ///< 0 m, 1 n, 2 k
    std::string_view text;
};

/// "n=1:8" says its place itself.
NamedSize named_size(std::string_view word) {
    const std::size_t equals = word.find('=');
    for (std::size_t place = 0; place < kSizes; ++place)
        if (word.substr(0, equals) == kSizeNames[place]) return {place, word.substr(equals + 1)};
    refuse(word, "expected m=, n= or k=");
}

/// The words of m, n and k, in that order.
std::array<std::string_view, kSizes> size_words(const std::vector<std::string_view>& words) {
    std::array<std::string_view, kSizes> sizes;
    const auto is_named = [](std::string_view word) { return word.find('=') != std::string_view::npos; };
    for (std::size_t i = 0; i < kSizes; ++i) {
        const std::string_view word = words[2 + i];
        if (is_named(word) != is_named(words[2])) refuse(word, "name all sizes, or none");
        const NamedSize size = is_named(word) ? named_size(word) : NamedSize{i, word};
        if (!sizes[size.place].empty()) refuse(word, fmt::format("{} stands twice", kSizeNames[size.place]));
        if (size.text.empty()) refuse(word, "no size");
        sizes[size.place] = size.text;
    }
    return sizes;
}

/// "1:8192", which counts by one.
bool is_plain_range(std::string_view text) { return std::ranges::count(text, ':') == 1; }

/// First and last of a plain range.
std::pair<std::int64_t, std::int64_t> ends_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::pair ends{number_in(text.substr(0, colon), text), number_in(text.substr(colon + 1), text)};
    if (ends.second < ends.first) refuse(text, "a range ends where it begins or later");
    return ends;
}

/// Keys behind their format. The key m may be a range: "gemm-v2 m=1:8192 n=64 ...".
std::vector<ShapeSet> expand_keys(std::string_view line, std::size_t most, bool keeps_m) {
    std::vector<std::string_view> words = words_of(line);
    const auto m = std::ranges::find_if(
        words, [](std::string_view word) { return word.starts_with("m=") && word.find(':') != word.npos; });
    if (m == words.end()) return {{std::string(line), {}}};
    const std::string_view text = m->substr(2);
    const bool is_set = keeps_m && is_plain_range(text);
    std::vector<ShapeSet> sets;
    for (const std::int64_t size : is_set ? std::vector{ends_of(text).first} : sizes_in(text, text, most)) {
        const std::string word = fmt::format("m={}", size);
        *m = word;
        sets.push_back({fmt::format("{}", fmt::join(words, " ")), {}});
        if (is_set) sets.back().last_m = ends_of(text).second;
    }
    return sets;
}

std::vector<ShapeSet> expand(std::string_view line, std::size_t most, bool keeps_m) {
    if (names_format(line)) return expand_keys(line, most, keeps_m);
    const std::vector<std::string_view> words = words_of(line);
    const auto is_number = [](std::string_view word) { return word.find_first_of(":=") == std::string_view::npos; };
    if (words.size() < 2 + kSizes || std::all_of(words.begin(), words.begin() + 2 + kSizes, is_number))
        return {{std::string(line), {}}};
    std::string rest;  // keys
    for (std::size_t i = 2 + kSizes; i < words.size(); ++i) rest += fmt::format(" {}", words[i]);
    std::array<std::vector<std::int64_t>, kSizes> sizes;
    const std::array<std::string_view, kSizes> texts = size_words(words);
    std::optional<std::int64_t> last_m;
    std::size_t count = 1;
    for (std::size_t i = 0; i < kSizes; ++i) {
        if (i == 0 && keeps_m && is_plain_range(texts[i])) {
            const auto [first, last] = ends_of(texts[i]);
            sizes[i] = {first};
            last_m = last;
            continue;
        }
        sizes[i] = sizes_in(texts[i], texts[i], most);
        if (sizes[i].size() > most / count) throw SpecError("shape line", {fmt::format("more than {} problems", most)});
        count *= sizes[i].size();
    }
    std::vector<ShapeSet> sets;
    sets.reserve(count);
    for (const std::int64_t m : sizes[0])
        for (const std::int64_t n : sizes[1])
            for (const std::int64_t k : sizes[2])
                sets.push_back({fmt::format("{} {} {} {} {}{}", words[0], words[1], m, n, k, rest), last_m});
    return sets;
}

}  // namespace

std::vector<std::string> expand_shape_line(std::string_view line, std::size_t most) {
    std::vector<std::string> lines;
    for (ShapeSet& set : expand(line, most, false)) lines.push_back(std::move(set.line));
    return lines;
}

std::vector<ShapeSet> expand_shape_sets(std::string_view line, std::size_t most) { return expand(line, most, true); }

}  // namespace jitgemm::cli
