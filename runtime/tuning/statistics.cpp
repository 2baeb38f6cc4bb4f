#include "generator/error.hpp"
#include "runtime/tuning/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace jitgemm::tuning {
namespace {

constexpr double kOutside = 0.025;  // on either side of a 95 % interval

/// P(X = i) of a binomial with n fair coins.
double coins(std::size_t n, std::size_t i) {
    const auto log_factorial = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
    return std::exp(log_factorial(n) - log_factorial(i) - log_factorial(n - i) -
                    static_cast<double>(n) * std::log(2.0));
}

/// How many values lie below the interval, and as many above: the most for which the true median lies outside with at
/// most 5 %, since each value falls below it like a coin. The extremes where even they don't hold it so surely.
std::size_t values_outside(std::size_t n) {
    double below = coins(n, 0);
    std::size_t outside = 0;
    while (below + coins(n, outside + 1) <= kOutside) below += coins(n, ++outside);
    return outside;
}

}  // namespace

Interval median_interval(std::vector<double> values) {
    if (values.empty()) throw Error("the median of no values");
    std::ranges::sort(values);
    const std::size_t n = values.size();
    const std::size_t outside = values_outside(n);
    return {
        .median = (values[(n - 1) / 2] + values[n / 2]) / 2, .low = values[outside], .high = values[n - 1 - outside]};
}

}  // namespace jitgemm::tuning
