#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace jitgemm {

/// The time of several works that slow each other down: between their sum (a power of 1) and the longest of them (a
/// large power).
[[nodiscard]] inline double norm(std::initializer_list<double> times, double power) {
    double sum = 0;
    for (const double time : times) sum += std::pow(time, power);
    return std::pow(sum, 1 / power);
}

/// A lower bound of norm() that takes no std::pow: the norm with the next power of two, which square roots give.
[[nodiscard]] inline double least_norm(double one, double other, double power) {
    const double longer = std::max(one, other);
    double share = std::min(one, other) / longer;
    int squares = 0;
    while (std::ldexp(1.0, squares) < power) {
        share *= share;
        ++squares;
    }
    double sum = 1 + share;
    for (; squares > 0; --squares) sum = std::sqrt(sum);
    return longer > 0 ? longer * sum : 0;
}

}  // namespace jitgemm
