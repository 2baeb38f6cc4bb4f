#include "generator/kernel_set_times.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace jitgemm {
namespace {

using Factors = std::vector<std::pair<std::int64_t, double>>;

constexpr double kNear = 1.5;  // the ratio of two values of m up to which one's measurement speaks for the other

Factors::iterator at_or_after(Factors& factors, std::int64_t m) {
    return std::ranges::lower_bound(factors, m, {}, &std::pair<std::int64_t, double>::first);
}

double ratio(std::int64_t left, std::int64_t right) {
    const double quotient = static_cast<double>(left) / static_cast<double>(right);
    return std::max(quotient, 1 / quotient);
}

std::optional<double> nearest(const Factors& factors, std::int64_t m) {
    const auto after = std::ranges::lower_bound(factors, m, {}, &std::pair<std::int64_t, double>::first);
    std::optional<double> found;
    double least = kNear;
    const auto look_at = [&](const std::pair<std::int64_t, double>& one) {
        if (ratio(one.first, m) > least) return;
        least = ratio(one.first, m);
        found = one.second;
    };
    if (after != factors.end()) look_at(*after);
    if (after != factors.begin()) look_at(*std::prev(after));
    return found;
}

}  // namespace

void MeasuredFactors::add(std::int64_t m, const KernelConfig& config, double factor) {
    auto own = std::ranges::find(configs_, config, &OfConfig::config);
    if (own == configs_.end()) own = configs_.insert(configs_.end(), {config, {}});
    own->factors.insert(at_or_after(own->factors, m), {m, factor});
    const auto largest = at_or_after(largest_, m);
    if (largest != largest_.end() && largest->first == m)
        largest->second = std::max(largest->second, factor);
    else
        largest_.insert(largest, {m, factor});
}

void MeasuredFactors::refuse(const KernelConfig& config) { refused_.push_back(config); }

double MeasuredFactors::factor(std::int64_t m, const KernelConfig& config) const {
    if (std::ranges::find(refused_, config) != refused_.end()) return std::numeric_limits<double>::infinity();
    if (configs_.empty()) return 1;
    const auto own = std::ranges::find(configs_, config, &OfConfig::config);
    if (own != configs_.end())
        if (const std::optional<double> measured = nearest(own->factors, m)) return *measured;
    return nearest(largest_, m).value_or(1);
}

}  // namespace jitgemm
