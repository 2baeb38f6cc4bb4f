#include "jitgemm/error.hpp"
#include "runtime/tuning/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace jitgemm::tuning {
namespace {

constexpr double kOutside = 0.025;  // on either side of a 95 % interval

/// How many values lie below the interval, and as many above: the most for which the true median lies outside with at
/// most 5 %, since each of the n values falls below it like a fair coin: P(i below) = C(n, i) / 2^n. The extremes where
/// even they don't hold it so surely. In logarithms, which no n makes vanish, and without std::lgamma, which writes a
/// global variable that sweeps of two devices would race for.
std::size_t values_outside(std::size_t n) {
    double log_probability = -static_cast<double>(n) * std::log(2.0);
    double below = std::exp(log_probability);
    for (std::size_t outside = 0;; ++outside) {
        log_probability += std::log(static_cast<double>(n - outside) / static_cast<double>(outside + 1));
        below += std::exp(log_probability);
        if (below > kOutside) return outside;
    }
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
