#include "generator/epilogue/parse_index.hpp"

#include "generator/text/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace jitgemm {
namespace {

constexpr int kLargestBlock = 1 << 20;
constexpr std::string_view kSizes = "bmnhk";  // in the order in which they stand, but for k

/// The parts between commas.
std::vector<std::span<const Token>> split_at_commas(std::span<const Token> tokens) {
    std::vector<std::span<const Token>> parts(1);
    for (std::size_t i = 0, first = 0; i < tokens.size(); ++i) {
        if (tokens[i].text == ",") {
            parts.emplace_back();
            first = i + 1;
        } else {
            parts.back() = tokens.subspan(first, i - first + 1);
        }
    }
    return parts;
}

std::optional<int> block_edge(std::span<const Token> place) {
    if (place.size() == 1) return 1;
    if (place.size() != 3 || (place[1].text != "/" && place[1].text != "//")) return std::nullopt;
    const std::optional<int> edge = parse_number<int>(place[2].text);
    return edge && *edge >= 1 && *edge <= kLargestBlock && place[2].text.front() != '0' ? edge : std::nullopt;
}

std::optional<EpiloguePlace> read_place(std::span<const Token> place) {
    if (place.empty() || place[0].text.size() != 1 || kSizes.find(place[0].text) == kSizes.npos) return std::nullopt;
    const std::optional<int> edge = block_edge(place);
    return edge ? std::optional(EpiloguePlace{place[0].text.front(), *edge}) : std::nullopt;
}

bool has_k(const std::vector<EpiloguePlace>& places) {
    return std::ranges::find(places, 'k', &EpiloguePlace::size) != places.end();
}

bool in_order(const std::vector<EpiloguePlace>& places) {
    for (std::size_t i = 1; i < places.size(); ++i)
        if (kSizes.find(places[i - 1].size) >= kSizes.find(places[i].size)) return false;
    return true;
}

EpilogueIndex index_of(const std::vector<EpiloguePlace>& places) {
    if (has_k(places)) return {places[places.size() - 2], places.back(), places.size() > 2};
    EpilogueIndex index;
    for (const EpiloguePlace& place : places) {
        if (place.size == 'b')
            index.of_problem = true;
        else
            (place.size == 'm' ? index.row : index.column) = place;
    }
    return index;
}

/// A scale has a row of A or a column of B and a block of K, or blocks of both, behind the problem.
std::string_view wrong_scale(std::span<const EpiloguePlace> places) {
    constexpr std::string_view kRule =
        "k stands over 128, beside one of m, m/128, n and n/128, as in [m,k/128] or [k/128,m]; b may stand before both";
    if (places.size() > 2 && places.front() == EpiloguePlace{'b', 1}) places = places.subspan(1);
    if (places.size() != 2) return kRule;
    const bool k_is_first = places[0].size == 'k';
    const EpiloguePlace &k = places[k_is_first ? 0 : 1], &other = places[k_is_first ? 1 : 0];
    const bool is_served = k.over == kScaledBlock && (other.over == 1 || other.over == kScaledBlock);
    return is_served && (other.size == 'm' || other.size == 'n') ? "" : kRule;
}

/// Returns the rule that readable places break, or "".
std::string_view wrong_places(const std::vector<EpiloguePlace>& places) {
    if (has_k(places)) return wrong_scale(places);
    if (!in_order(places)) return "b, m, n and h stand in this order, each once";
    if (places.front().size == 'b' && places.front().over != 1) return "b is the problem of a batch, over nothing";
    const bool has_both = places.size() > 1 && places.back().size == 'h' && places[places.size() - 2].size == 'n';
    return has_both ? "n is a column and h the column of a pair: an index has one of them" : "";
}

}  // namespace

std::optional<EpilogueIndex> parse_index(std::span<const Token> tokens, std::string_view source, TextPosition at,
                                         EpilogueProblems& problems) {
    if (tokens.size() == 1 && tokens[0].text == "0") return EpilogueIndex{};
    std::vector<EpiloguePlace> places;
    for (const std::span<const Token> part : split_at_commas(tokens)) {
        const std::optional<EpiloguePlace> place = read_place(part);
        if (!place) {
            problems.add(at,
                         fmt::format("'{}': an index is b, m, n, h or k, one of them over a number (n/128), or 0 alone",
                                     source));
            return std::nullopt;
        }
        places.push_back(*place);
    }
    const std::string_view wrong = wrong_places(places);
    if (wrong.empty()) return index_of(places);
    problems.add(at, fmt::format("'{}': {}", source, wrong));
    return std::nullopt;
}

}  // namespace jitgemm
