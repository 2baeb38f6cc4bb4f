#pragma once

#include "runtime/tuning/search/parameter_grid.hpp"
#include "runtime/tuning/search/search.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// \file What the strategies share; make_strategy is all that others need.

namespace jitgemm::tuning {

inline constexpr std::size_t kDefaultLimit = 128;  ///< candidates a strategy tries where the caller sets no limit

/// What became of the candidates, by their index in the space. Trials of kernels outside it don't count.
struct Progress {
    std::vector<bool> tried;                  ///< proposed before, finished or not
    std::vector<std::optional<double>> time;  ///< median of the screening; of the twin where the code is another's
    std::vector<bool> finished;               ///< with a time or without
    std::size_t tries = 0;
    [[nodiscard]] bool failed(std::size_t candidate) const;  ///< finished, without a time
    /// Those with a time, fastest first; equals in the space's order.
    [[nodiscard]] std::vector<std::size_t> fastest_first() const;
};

/// A space as strategies see it: candidates by index, fastest predicted first.
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

/// The most promising candidates, spread out: each one chosen makes those near it look a little slower, so that a tile
/// whose prediction is off does not take all places. Chosen one by one from those not in `taken`, which count as
/// chosen.
[[nodiscard]] std::vector<std::size_t> spread_choice(const IndexedSpace& space, const std::vector<bool>& taken,
                                                     std::size_t count);

[[nodiscard]] std::unique_ptr<Strategy> make_model(const SearchSpace& space, const SearchLimits& limits);

}  // namespace jitgemm::tuning
