#include "generator/text/nearest_name.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace jitgemm {
namespace {

/// Up to a third of the letters may be wrong: "bf6" is close to bf16, "xx" is close to nothing.
std::size_t largest_plausible_distance(std::string_view word) { return (word.size() + 2) / 3; }

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> before_previous(right.size() + 1), previous(right.size() + 1), current(right.size() + 1);
    for (std::size_t j = 0; j <= right.size(); ++j) current[j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::swap(before_previous, previous);
        std::swap(previous, current);
        current[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t replaced = previous[j - 1] + (left[i - 1] == right[j - 1] ? 0U : 1U);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (swapped) current[j] = std::min(current[j], before_previous[j - 2] + 1);
        }
    }
    return current.back();
}

std::string lower_case(std::string_view word) {
    std::string lower(word);
    for (char& letter : lower) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return lower;
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known) {
    std::string_view nearest;
    std::size_t smallest = largest_plausible_distance(word) + 1;
    const std::string lower = lower_case(word);
    for (const std::string_view candidate : known) {
        const std::size_t distance = edit_distance(lower, lower_case(candidate));
        if (distance >= smallest) continue;
        smallest = distance;
        nearest = candidate;
    }
    return nearest;
}

std::string nearest_hint(std::string_view word, std::span<const std::string_view> known) {
    const std::string_view nearest = nearest_name(word, known);
    return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

std::string expected_one_of(std::string_view word, std::span<const std::string_view> known) {
    return fmt::format("expected one of {}{}", join_names(known), nearest_hint(word, known));
}

std::size_t position_of(std::string_view kind, std::string_view word, std::span<const std::string_view> known) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) throw Error(fmt::format("unknown {} '{}': {}", kind, word, expected_one_of(word, known)));
    return static_cast<std::size_t>(found - known.begin());
}

std::string join_names(std::span<const std::string_view> names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace jitgemm
