#pragma once

#include "runtime/tuning/search/parameter_grid.hpp"
#include "runtime/tuning/search/search.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// \file The common parts of the strategies. Other code only needs make_strategy.

namespace jitgemm::tuning {

inline constexpr std::size_t kDefaultLimit = 128;  ///< candidates that a strategy tries if the caller sets no limit

/// The results of the candidates, by their index in the space. Trials of other kernels do not count.
struct Progress {
    std::vector<bool> tried;  ///< proposed before, finished or not
    std::vector<std::optional<double>>
        time;                    ///< median of the screening; the twin's if another kernel has the same code
    std::vector<bool> finished;  ///< with a time or without
    std::size_t tries = 0;
    [[nodiscard]] bool failed(std::size_t candidate) const;  ///< finished, without a time
    /// Candidates with a time, fastest first; equal ones in the space's order.
    [[nodiscard]] std::vector<std::size_t> fastest_first() const;
};

/// A space as strategies see it: candidates by index, with the shortest predicted time first.
class IndexedSpace {
public:
    explicit IndexedSpace(const SearchSpace& space);
    [[nodiscard]] std::size_t size() const { return kernels_.size(); }
    [[nodiscard]] double predicted(std::size_t candidate) const { return predicted_[candidate]; }
    [[nodiscard]] const ParameterGrid& grid() const { return grid_; }
    [[nodiscard]] Progress progress(const std::vector<Trial>& known) const;
    [[nodiscard]] std::vector<std::string> names(const std::vector<std::size_t>& candidates) const;

private:
    std::string heuristic_kernel_;
    std::vector<std::string> kernels_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::vector<double> predicted_;
    ParameterGrid grid_;
};

/// The most promising candidates, spread out. Each choice makes its neighbours look a little slower, so that a tile
/// with a wrong prediction does not take all places. They are chosen one by one from those not in `taken`, which count
/// as chosen.
[[nodiscard]] std::vector<std::size_t> spread_choice(const IndexedSpace& space, const std::vector<bool>& taken,
                                                     std::size_t count);

[[nodiscard]] std::unique_ptr<Strategy> make_model(const SearchSpace& space, const SearchLimits& limits);

}  // namespace jitgemm::tuning
