#include "runtime/tuning/winner_map.hpp"

#include <tuple>

namespace jitgemm::tuning {

bool is_better(const Winner& left, const Winner& right) {
    const auto rank = [](const Winner& winner) {
        return std::tuple(!winner.complete, winner.median_us, -winner.unix_time, winner.kernel);
    };
    return rank(left) < rank(right);
}

void WinnerMap::add(Winner winner) {
    std::pair key(winner.device_class, to_string(winner.spec));
    const auto [place, is_new] = winners_.try_emplace(std::move(key), winner);
    if (!is_new && is_better(winner, place->second)) place->second = std::move(winner);
}

std::vector<Winner> WinnerMap::sorted() const {
    std::vector<Winner> sorted;
    sorted.reserve(winners_.size());
    for (const auto& [key, winner] : winners_) sorted.push_back(winner);
    return sorted;
}

}  // namespace jitgemm::tuning
