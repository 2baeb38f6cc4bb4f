#pragma once

#include "runtime/tuning/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::testing {

/// How a time is disturbed.
struct Noise {
    double sigma = 0.01;          ///< of the logarithm of every time
    double common_sigma = 0.0;    ///< of the logarithm of all times of one turn: the clock
    double outlier_chance = 0.0;  ///< that something else ran beside it
    double outlier = 1.2;         ///< and how much longer it then took
};

/// Kernels whose true times are known, timed by the rounds that next_rounds asks for. The first is the heuristic's: as
/// in a sweep it has its turn in every round, and the others' samples know what it took there.
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
            std::vector<std::size_t> due;
            for (std::size_t i = 0; i < trials.size(); ++i) {
                const bool named = std::ranges::find(plan.kernels, trials[i].kernel) != plan.kernels.end();
                if (named && static_cast<int>(trials[i].samples.size()) < plan.rounds) due.push_back(i);
            }
            if (due.empty()) return;
            if (paired && due.front() != 0) due.insert(due.begin(), 0);
            for (const std::size_t i : due) take_turn(i, common, due.front() == 0);
        }
    }

    /// Screens `first` kernels and then `batch` at a time, as a strategy proposes them. A batch has rounds of its own.
    void screen_in_batches(std::size_t first, std::size_t batch) {
        std::vector<tuning::Trial> all = std::exchange(trials, {});
        for (std::size_t known = 0; known < all.size(); known = trials.size()) {
            const std::size_t count = std::min(known == 0 ? first : batch, all.size() - known);
            trials.insert(trials.end(), all.begin() + static_cast<std::ptrdiff_t>(known),
                          all.begin() + static_cast<std::ptrdiff_t>(known + count));
            while (const auto plan = tuning::next_rounds(trials, reference(), true)) time(*plan);
        }
    }

    /// All rounds; the index of the winner.
    std::size_t sweep() {
        while (const auto plan = tuning::next_rounds(trials, reference(), false)) time(*plan);
        const std::string winner = tuning::pick_winner(trials, reference()).value();
        return static_cast<std::size_t>(std::ranges::find(trials, winner, &tuning::Trial::kernel) - trials.begin());
    }
    [[nodiscard]] tuning::Reference reference() const { return {trials.front().kernel}; }

    std::vector<tuning::Trial> trials;
    int timings = 0;
    bool paired = true;  ///< false: the heuristic's kernel is timed as any other, and nobody compares with it

private:
    double lognormal(double sigma) { return sigma > 0 ? std::lognormal_distribution<>(0, sigma)(engine_) : 1; }
    double measured(std::size_t i) {
        const bool disturbed = std::uniform_real_distribution<>(0, 1)(engine_) < noise_.outlier_chance;
        return truth_[i] * lognormal(noise_.sigma) * (disturbed ? noise_.outlier : 1);
    }

    void take_turn(std::size_t i, double common, bool with_reference) {
        tuning::Sample sample;
        sample.round = static_cast<int>(trials[i].samples.size());
        sample.us = common * measured(i);
        trials[i].samples.push_back(sample);
        if (paired && with_reference) trials[i].samples.back().reference_us = trials.front().samples.back().us;
        ++timings;
    }

    std::vector<double> truth_;
    Noise noise_;
    std::mt19937_64 engine_;
};

}  // namespace jitgemm::testing
