#include "runtime/tuning/search/parameter_grid.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace jitgemm::tuning {
namespace {

constexpr int kLongestNumber = 9;  // digits that fit an int

/// "128x256x32" → {128, 256, 32}; nothing for what is no list of numbers.
std::optional<std::vector<int>> numbers_in(std::string_view text) {
    std::vector<int> numbers;
    int digits = 0;
    for (const char letter : text) {
        if (letter == 'x' && digits > 0) {
            digits = 0;
            continue;
        }
        if (letter < '0' || letter > '9' || digits == kLongestNumber) return std::nullopt;
        if (digits++ == 0) numbers.push_back(0);
        numbers.back() = 10 * numbers.back() + (letter - '0');
    }
    return digits > 0 ? std::optional(numbers) : std::nullopt;
}

/// One coordinate of every candidate of a family, before ranks are known.
struct Column {
    bool ordered = true;
    std::vector<int> values;
};

/// A parameter's texts as columns: one for each number where all have equally many, else one of words.
std::vector<Column> columns_of(const std::vector<std::string>& texts) {
    std::vector<Column> columns;
    for (const std::string& text : texts) {
        const auto numbers = numbers_in(text);
        if (columns.empty() && numbers) columns.resize(numbers->size());
        if (!numbers || numbers->size() != columns.size()) {
            const std::set<std::string> words(texts.begin(), texts.end());
            Column column{.ordered = false, .values = {}};
            for (const std::string& word : texts)
                column.values.push_back(static_cast<int>(std::distance(words.begin(), words.find(word))));
            return {column};
        }
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].values.push_back((*numbers)[i]);
    }
    return columns;
}

/// Values replaced by their ranks; returns how many different ones there are.
int rank(std::vector<int>& values) {
    const std::set<int> distinct(values.begin(), values.end());
    const std::vector<int> sorted(distinct.begin(), distinct.end());
    for (int& value : values) value = static_cast<int>(std::ranges::lower_bound(sorted, value) - sorted.begin());
    return static_cast<int>(sorted.size());
}

}  // namespace

ParameterGrid::ParameterGrid(const std::vector<Candidate>& candidates) : points_(candidates.size()) {
    std::map<std::string_view, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < candidates.size(); ++i) families[family_name(candidates[i].config)].push_back(i);
    for (const auto& [name, members] : families) {
        std::map<std::string, std::vector<std::string>> texts;
        for (const std::size_t member : members)
            for (const auto& [parameter, text] : parameters_of(candidates[member].config))
                texts[parameter].push_back(text);
        std::vector<Axis>& axes = axes_.emplace_back();
        for (const std::size_t member : members) points_[member].family = axes_.size() - 1;
        for (const auto& [parameter, values] : texts) {
            for (Column& column : columns_of(values)) {
                const int distinct = rank(column.values);
                if (distinct < 2) continue;
                axes.push_back({column.ordered, distinct});
                for (std::size_t i = 0; i < members.size(); ++i) points_[members[i]].ranks.push_back(column.values[i]);
            }
        }
    }
}

int ParameterGrid::distance(const Point& left, const Point& right) const {
    if (left.family != right.family) return kFar;
    const std::vector<Axis>& axes = axes_[left.family];
    int steps = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const int apart = std::abs(left.ranks[i] - right.ranks[i]);
        steps += axes[i].ordered ? apart : std::min(apart, 1);
    }
    return steps;
}

int ParameterGrid::distance(std::size_t left, std::size_t right) const {
    return distance(points_[left], points_[right]);
}

std::vector<std::size_t> ParameterGrid::neighbours(std::size_t candidate) const {
    const Point& point = points_[candidate];
    const std::vector<Axis>& axes = axes_[point.family];
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        for (int rank = 0; rank < axes[i].values; ++rank) {
            const int apart = std::abs(rank - point.ranks[i]);
            if (apart == 0 || (axes[i].ordered && apart > 1)) continue;
            const std::size_t next = nearest(point, [&](const Point& other) { return other.ranks[i] == rank; });
            if (next < size() && std::ranges::find(found, next) == found.end()) found.push_back(next);
        }
    }
    return found;
}

}  // namespace jitgemm::tuning
