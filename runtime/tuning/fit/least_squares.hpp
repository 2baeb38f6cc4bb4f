#pragma once

#include <functional>
#include <vector>

namespace jitgemm::tuning {

/// A problem of least squares: the residuals of parameters. Their numbers never change.
using Residuals = std::function<std::vector<double>(const std::vector<double>& parameters)>;

struct LeastSquaresOptions {
    double bound = 2;    ///< parameters stay within ± this
    double step = 1e-4;  ///< of the numeric derivatives
    int iterations = 60;
    double gain = 1e-6;  ///< the end: a step gains less than this part
};

/// Parameters with the least sum of squares near `start`, by Levenberg's and Marquardt's damped Gauss-Newton steps with
/// one-sided numeric derivatives (Nocedal and Wright, Numerical Optimization, ch. 10). The result is never worse than
/// the start.
[[nodiscard]] std::vector<double> least_squares(const Residuals& residuals, std::vector<double> start,
                                                const LeastSquaresOptions& options);

}  // namespace jitgemm::tuning
