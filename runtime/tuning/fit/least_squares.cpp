#include "runtime/tuning/fit/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace jitgemm::tuning {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr double kFirstDamping = 1e-3;
constexpr double kMostDamping = 1e8;
constexpr double kTrust = 0.3;  // damping after a step that gained
constexpr double kDoubt = 4;    // and after one that did not
constexpr double kLeastPivot = 1e-12;

double sum_of_squares(const Vector& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum;
}

/// JᵀJ and Jᵀr at a point.
struct NormalEquations {
    Matrix matrix;
    Vector right;
};

NormalEquations normal_equations(const Residuals& residuals, const Vector& at, const Vector& here, double step) {
    const std::size_t n = at.size();
    Matrix columns;
    for (std::size_t j = 0; j < n; ++j) {
        Vector moved = at;
        moved[j] += step;
        Vector& column = columns.emplace_back(residuals(moved));
        for (std::size_t i = 0; i < here.size(); ++i) column[i] = (column[i] - here[i]) / step;
    }
    NormalEquations equations{Matrix(n, Vector(n)), Vector(n)};
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k <= j; ++k)
            for (std::size_t i = 0; i < here.size(); ++i) equations.matrix[j][k] += columns[j][i] * columns[k][i];
        for (std::size_t k = 0; k < j; ++k) equations.matrix[k][j] = equations.matrix[j][k];
        for (std::size_t i = 0; i < here.size(); ++i) equations.right[j] += columns[j][i] * here[i];
    }
    return equations;
}

/// Solves a symmetric positive definite system by Cholesky's method; nothing when it is not definite.
std::optional<Vector> solved(Matrix a, Vector b) {
    const std::size_t n = b.size();
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < j; ++k) {
            for (std::size_t i = j; i < n; ++i) a[i][j] -= a[i][k] * a[j][k];
        }
        if (a[j][j] < kLeastPivot) return std::nullopt;
        const double root = std::sqrt(a[j][j]);
        for (std::size_t i = j; i < n; ++i) a[i][j] /= root;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
    return b;
}

/// The point a damped step away; nothing when there is no such step.
std::optional<Vector> stepped(const Vector& from, const NormalEquations& equations, double damping, double bound) {
    Matrix damped = equations.matrix;
    for (std::size_t j = 0; j < from.size(); ++j) damped[j][j] *= 1 + damping;
    const std::optional<Vector> step = solved(std::move(damped), equations.right);
    if (!step) return std::nullopt;
    Vector to = from;
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = std::clamp(to[j] - (*step)[j], -bound, bound);
    return to;
}

}  // namespace

std::vector<double> least_squares(const Residuals& residuals, std::vector<double> start,
                                  const LeastSquaresOptions& options) {
    Vector best = std::move(start);
    Vector values = residuals(best);
    double least = sum_of_squares(values);
    double damping = kFirstDamping;
    for (int iteration = 0; iteration < options.iterations; ++iteration) {
        const NormalEquations equations = normal_equations(residuals, best, values, options.step);
        double gain = 0;
        while (gain <= 0 && damping < kMostDamping) {
            const std::optional<Vector> next = stepped(best, equations, damping, options.bound);
            Vector next_values = next ? residuals(*next) : values;
            gain = next ? least - sum_of_squares(next_values) : 0;
            damping *= gain > 0 ? kTrust : kDoubt;
            if (gain > 0) best = *next, values = std::move(next_values);
        }
        if (gain <= options.gain * least) break;
        least -= gain;
    }
    return best;
}

}  // namespace jitgemm::tuning
