#pragma once

#include "runtime/tuning/search/parameter_grid.hpp"

#include <cstddef>
#include <vector>

namespace jitgemm::tuning {

/// What is assumed of the cost model's errors before any is measured.
struct ErrorPrior {
    double reach = 2;     ///< steps after which two errors have little to do with each other
    double nugget = 0.1;  ///< share of an error that a candidate has for itself, noise included
};

/// How far the cost model is off, everywhere, from what was measured somewhere: a Gaussian process over the grid, with
/// covariance exp(−distance / reach) (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, ch. 2).
/// Errors are of logarithms. The Cholesky factor grows by a row with each candidate learnt, for all candidates at once.
class ErrorModel {
public:
    /// Of these candidates of the grid; what follows counts them from 0.
    ErrorModel(const ParameterGrid& grid, const std::vector<std::size_t>& members, const ErrorPrior& prior);

    void learn(std::size_t member, double error);
    /// Takes for granted that the member turns out as expected: the next to choose is chosen as if it were known.
    void assume(std::size_t member);

    [[nodiscard]] double mean(std::size_t member) const { return points_[member].mean; }
    /// In units of scale().
    [[nodiscard]] double variance(std::size_t member) const { return points_[member].variance; }
    /// Variance of an error before anything was known, by maximum likelihood.
    [[nodiscard]] double scale() const { return learnt_ == 0 ? 0 : squares_ / static_cast<double>(learnt_); }
    /// Of the prior, up to a constant, at the best scale.
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

/// The prior that the errors themselves speak for.
[[nodiscard]] ErrorPrior likeliest_prior(const ParameterGrid& grid, const std::vector<std::size_t>& measured,
                                         const std::vector<double>& errors);

}  // namespace jitgemm::tuning
