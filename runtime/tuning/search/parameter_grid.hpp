#pragma once

#include "generator/heuristics.hpp"

#include <cstddef>
#include <vector>

namespace jitgemm::tuning {

/// Candidates as points of a grid, so that "a little different" has a meaning in every family. A parameter's text is
/// one coordinate, or one for each of its numbers ("128x256x32": three). A number's coordinate is its rank among the
/// values it takes in the space: from 3 to 4 stages is a step, and so is from 128 to 192 columns where nothing lies
/// between. Words have no order: any two are a step apart. Parameters of one value only don't count.
class ParameterGrid {
public:
    explicit ParameterGrid(const std::vector<Candidate>& candidates);

    [[nodiscard]] std::size_t size() const { return points_.size(); }
    /// Steps between two candidates, summed over the coordinates; kFar between families.
    [[nodiscard]] int distance(std::size_t left, std::size_t right) const;
    /// One coordinate changed by one step, the others as little as the space allows: constraints tie some together, and
    /// a block tile of 192 columns has no warp tile of 64. The first in the space's order among equals; each once.
    [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t candidate) const;

    static constexpr int kFar = 1000;

private:
    struct Point {
        std::size_t family = 0;  ///< index into axes_
        std::vector<int> ranks;
    };
    struct Axis {
        bool ordered = true;  ///< numbers
        int values = 0;
    };

    [[nodiscard]] int distance(const Point& left, const Point& right) const;
    /// The point that `wanted` is true of and that is nearest; size() when there is none.
    template <typename Wanted>
    [[nodiscard]] std::size_t nearest(const Point& to, const Wanted& wanted) const {
        std::size_t best = size();
        int least = kFar;
        for (std::size_t i = 0; i < size(); ++i) {
            if (points_[i].family != to.family || !wanted(points_[i])) continue;
            const int steps = distance(points_[i], to);
            if (steps < least) best = i, least = steps;
        }
        return best;
    }

    std::vector<std::vector<Axis>> axes_;  ///< of each family
    std::vector<Point> points_;
};

}  // namespace jitgemm::tuning
