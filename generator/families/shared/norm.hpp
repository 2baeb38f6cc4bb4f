#pragma once

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

}  // namespace jitgemm
