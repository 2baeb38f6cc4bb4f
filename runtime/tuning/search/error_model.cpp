#include "runtime/tuning/search/error_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitgemm::tuning {
namespace {

constexpr double kReaches[] = {1, 2, 4, 8, 16};
constexpr double kNuggets[] = {0.02, 0.1, 0.3};
constexpr double kLeastSquares = 1e-9;  // errors that are all nothing have no likeliest scale

}  // namespace

ErrorModel::ErrorModel(const ParameterGrid& grid, const std::vector<std::size_t>& members, const ErrorPrior& prior)
    : grid_(grid), prior_(prior) {
    points_.reserve(members.size());
    for (const std::size_t member : members) points_.push_back({.candidate = member, .row = {}});
}

void ErrorModel::learn(std::size_t member, double error) {
    const double pivot = points_[member].variance + prior_.nugget;
    const double surprise = (error - points_[member].mean) / std::sqrt(pivot);
    ++learnt_;
    squares_ += surprise * surprise;
    log_pivots_ += std::log(pivot);
    condition(member, surprise);
}

void ErrorModel::assume(std::size_t member) { condition(member, 0); }

void ErrorModel::condition(std::size_t member, double surprise) {
    const std::vector<double> known = points_[member].row;
    const double pivot = std::sqrt(points_[member].variance + prior_.nugget);
    const std::size_t candidate = points_[member].candidate;
    for (Point& point : points_) {
        double covariance = std::exp(-grid_.distance(point.candidate, candidate) / prior_.reach);
        for (std::size_t i = 0; i < known.size(); ++i) covariance -= point.row[i] * known[i];
        const double weight = covariance / pivot;
        point.row.push_back(weight);
        point.mean += weight * surprise;
        point.variance = std::max(0.0, point.variance - weight * weight);
    }
}

double ErrorModel::log_likelihood() const {
    const auto n = static_cast<double>(learnt_);
    return -0.5 * (n * std::log(squares_ + kLeastSquares) + log_pivots_);
}

ErrorPrior likeliest_prior(const ParameterGrid& grid, const std::vector<std::size_t>& measured,
                           const std::vector<double>& errors) {
    ErrorPrior best;
    double most = -std::numeric_limits<double>::infinity();
    for (const double reach : kReaches) {
        for (const double nugget : kNuggets) {
            const ErrorPrior prior{reach, nugget};
            ErrorModel model(grid, measured, prior);
            for (std::size_t i = 0; i < measured.size(); ++i) model.learn(i, errors[i]);
            if (model.log_likelihood() > most) most = model.log_likelihood(), best = prior;
        }
    }
    return best;
}

}  // namespace jitgemm::tuning
