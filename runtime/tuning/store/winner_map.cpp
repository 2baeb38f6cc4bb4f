#include "runtime/tuning/store/winner_map.hpp"

#include "runtime/tuning/store/record_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace jitgemm::tuning {
namespace {

/// The whole search with the usual protocol comes first.
std::string how_searched(const Winner& winner) {
    return fmt::format("{} {}\n{}\n{}", static_cast<int>(winner.protocol), winner.hot, winner.narrowed,
                       json_line(Json(winner.versions)));
}

}  // namespace

bool is_better(const Winner& left, const Winner& right) {
    const auto rank = [](const Winner& winner) {
        const int timed = winner.complete ? 0 : winner.candidates_timed;  // a finished search decided itself how many
        return std::tuple(!winner.complete, -timed, winner.median_us == 0, winner.median_us, -winner.unix_time,
                          winner.kernel);
    };
    return rank(left) < rank(right);
}

void WinnerMap::add(Winner winner) {
    Key key(winner.device_class, to_string(winner.spec), how_searched(winner));
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
