#pragma once

#include "runtime/tuning/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitgemm::testing {

/// How wrong the cost model is: standard deviations of the logarithm of what truth and prediction differ by.
struct ModelError {
    double value = 0.06;   ///< of every value of every parameter
    double pair = 0.04;    ///< of every pair of values of two parameters
    double single = 0.02;  ///< of every kernel by itself
};

/// A search space whose true times are known: the predicted ones, times factors that hang on the parameters.
class Landscape {
public:
    Landscape(const tuning::SearchSpace& space, std::uint64_t seed, const ModelError& error = {})
        : space_(space), engine_(seed), error_(error) {
        for (const Candidate& candidate : space.candidates)
            for (const auto& [name, value] : parameters_of(candidate.config))
                values_[{family_name(candidate.config), name}].insert(value);
        for (std::size_t i = 0; i < space.kernels.size(); ++i) {
            truth_.push_back(space.candidates[i].cost.total_us * std::exp(deviation(space.candidates[i].config)));
            index_.emplace(space.kernels[i], i);
        }
    }

    [[nodiscard]] double best() const { return *std::min_element(truth_.begin(), truth_.end()); }
    [[nodiscard]] double heuristic() const { return truth_.front(); }
    [[nodiscard]] double time_of(const std::string& kernel) const { return truth_.at(index_.at(kernel)); }
    [[nodiscard]] const tuning::SearchSpace& space() const { return space_; }

    [[nodiscard]] tuning::Trial measured(const std::string& kernel) const {
        tuning::Trial trial;
        trial.kernel = kernel;
        trial.verified.emplace();
        trial.samples.emplace_back().us = time_of(kernel);
        return trial;
    }

private:
    double deviation(const KernelConfig& config) {
        ParameterMap parameters = parameters_of(config);
        std::erase_if(parameters, [&](const auto& parameter) {  // what all kernels of a family have is no choice
            return values_[{family_name(config), parameter.first}].size() == 1;
        });
        double sum = normal(error_.single);
        for (auto one = parameters.begin(); one != parameters.end(); ++one) {
            sum += factor(one->first + "=" + one->second, error_.value);
            for (auto other = std::next(one); other != parameters.end(); ++other)
                sum += factor(one->first + "=" + one->second + "," + other->first + "=" + other->second, error_.pair);
        }
        return sum;
    }
    double factor(const std::string& key, double sigma) {
        const auto found = factors_.find(key);
        return found != factors_.end() ? found->second : factors_.emplace(key, normal(sigma)).first->second;
    }
    double normal(double sigma) { return sigma * std::normal_distribution<>()(engine_); }

    const tuning::SearchSpace& space_;
    std::mt19937_64 engine_;
    ModelError error_;
    std::map<std::pair<std::string_view, std::string>, std::set<std::string>> values_;
    std::map<std::string, double> factors_;
    std::vector<double> truth_;
    std::map<std::string, std::size_t> index_;
};

/// The results of a search without noise.
struct Search {
    std::vector<tuning::Trial> trials;
    double best = 0;
    int batches = 0;
};

inline Search searched(const tuning::Strategy& strategy, const Landscape& landscape) {
    Search search;
    search.best = 1e300;
    while (true) {
        const std::vector<std::string> batch = strategy.propose(search.trials);
        if (batch.empty()) return search;
        ++search.batches;
        for (const std::string& kernel : batch) {
            search.trials.push_back(landscape.measured(kernel));
            search.best = std::min(search.best, landscape.time_of(kernel));
        }
    }
}

}  // namespace jitgemm::testing
