#pragma once

#include "generator/heuristics.hpp"

#include <cstddef>
#include <vector>

namespace jitgemm::tuning {

/// Candidates as points of a grid. It defines neighbours and distances in every family. A parameter's text is one
/// coordinate, or one for each of its numbers ("128x256x32": three). A number's coordinate is its rank among the
/// numbers of the space: 3 to 4 stages is one step, and so is 128 to 192 columns if nothing lies between. Words have no
/// order: any two are one step apart. Parameters with a single value do not count.
class ParameterGrid {
public:
    explicit ParameterGrid(const std::vector<Candidate>& candidates);

    [[nodiscard]] std::size_t size() const { return points_.size(); }
    /// Steps between two candidates, summed over the coordinates; kFar between families.
    [[nodiscard]] int distance(std::size_t left, std::size_t right) const;
    /// Candidates that differ in one coordinate by one step, and as little as possible in the others: constraints tie
    /// some together (a block tile of 192 columns has no warp tile of 64). Among equals the first in the space's order
    /// is taken. Each candidate appears once.
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
    /// The nearest point for which `wanted` is true; size() if there is none.
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
