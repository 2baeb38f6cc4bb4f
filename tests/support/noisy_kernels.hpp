#pragma once

#include "runtime/tuning/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// How a time is disturbed.
struct Noise {
    double sigma = 0.01;          ///< of the logarithm of every time
    double common_sigma = 0.0;    ///< of the logarithm of all times of one turn: the clock
    double outlier_chance = 0.0;  ///< that something else ran beside it
    double outlier = 1.2;         ///< and how much longer it then took
};

/// Kernels whose true times are known, timed by the rounds that next_rounds asks for.
class NoisyKernels {
public:
    NoisyKernels(const std::vector<double>& truth, const Noise& noise, std::uint64_t seed)
        : truth_(truth), noise_(noise), engine_(seed) {
        for (std::size_t i = 0; i < truth.size(); ++i) {
            tuning::Trial trial;
            trial.kernel = fmt::format("kernel{:03}", i);
            trial.verified.emplace();
            trials.push_back(trial);
        }
    }

    /// Times whom the plan names, up to its rounds.
    void time(const tuning::RoundPlan& plan) {
        for (int turn = 0; turn < plan.rounds; ++turn) {
            const double common = lognormal(noise_.common_sigma);
            for (std::size_t i = 0; i < trials.size(); ++i) {
                const bool named = std::ranges::find(plan.kernels, trials[i].kernel) != plan.kernels.end();
                if (!named || static_cast<int>(trials[i].samples.size()) >= plan.rounds) continue;
                trials[i].samples.push_back({.round = static_cast<int>(trials[i].samples.size()),
                                             .us = common * measured(i),
                                             .before = {},
                                             .after = {}});
                ++timings;
            }
        }
    }

    /// All rounds; the index of the winner.
    std::size_t sweep() {
        while (const auto plan = tuning::next_rounds(trials, trials.front().kernel, false)) time(*plan);
        const std::string winner = tuning::pick_winner(trials).value();
        return static_cast<std::size_t>(std::ranges::find(trials, winner, &tuning::Trial::kernel) - trials.begin());
    }

    std::vector<tuning::Trial> trials;
    int timings = 0;

private:
    double lognormal(double sigma) { return sigma > 0 ? std::lognormal_distribution<>(0, sigma)(engine_) : 1; }
    double measured(std::size_t i) {
        const bool disturbed = std::uniform_real_distribution<>(0, 1)(engine_) < noise_.outlier_chance;
        return truth_[i] * lognormal(noise_.sigma) * (disturbed ? noise_.outlier : 1);
    }

    std::vector<double> truth_;
    Noise noise_;
    std::mt19937_64 engine_;
};

}  // namespace jitgemm::testing
