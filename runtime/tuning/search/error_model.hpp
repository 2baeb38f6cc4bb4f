#pragma once

#include "runtime/tuning/search/parameter_grid.hpp"

#include <cstddef>
#include <vector>

namespace jitgemm::tuning {

/// Assumptions on the cost model's errors before any is measured.
struct ErrorPrior {
    double reach = 2;     ///< steps after which two errors are nearly independent
    double nugget = 0.1;  ///< part of an error that belongs to the candidate alone, noise included
};

/// The estimated error of the cost model for every candidate, from measurements of some: a Gaussian process over the
/// grid with covariance exp(−distance / reach) (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
/// ch. 2). Errors are of logarithms. Each learnt candidate adds a row to the Cholesky factor, for all candidates at
/// once.
class ErrorModel {
public:
    /// `members` are candidates of the grid. All functions count them from 0.
    ErrorModel(const ParameterGrid& grid, const std::vector<std::size_t>& members, const ErrorPrior& prior);

    void learn(std::size_t member, double error);
    /// Assumes that the member has the expected time. The next choice then treats it as known.
    void assume(std::size_t member);

    [[nodiscard]] double mean(std::size_t member) const { return points_[member].mean; }
    /// In units of scale().
    [[nodiscard]] double variance(std::size_t member) const { return points_[member].variance; }
    /// Variance of an error before any measurement, by maximum likelihood.
    [[nodiscard]] double scale() const { return learnt_ == 0 ? 0 : squares_ / static_cast<double>(learnt_); }
    /// The log likelihood of the prior at the best scale, up to a constant.
    [[nodiscard]] double log_likelihood() const;

private:
    struct Point {
        std::size_t candidate;
        double mean = 0;
        double variance = 1;
        std::vector<double> row;  ///< of the Cholesky factor
    };
    void condition(std::size_t member, double surprise);

    const ParameterGrid& grid_;
    ErrorPrior prior_;
    std::vector<Point> points_;
    std::size_t learnt_ = 0;
    double squares_ = 0;  ///< of surprises, in units of their standard deviation
    double log_pivots_ = 0;
};

/// The prior that fits the errors best.
[[nodiscard]] ErrorPrior likeliest_prior(const ParameterGrid& grid, const std::vector<std::size_t>& measured,
                                         const std::vector<double>& errors);

}  // namespace jitgemm::tuning
