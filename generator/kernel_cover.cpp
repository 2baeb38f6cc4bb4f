#include "generator/kernel_cover.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace jitgemm {
namespace {

constexpr double kUnserved = 0.2;  // the worth of a sample that no chosen row can serve
constexpr double kPenalty = 10;    // of worth below the least, per unit of its logarithm
constexpr double kScale = 1e5;     // of scores, which are whole numbers, so that compilers add up many at once

using Scores = std::vector<std::int32_t>;  // of samples: the larger the better
using Chosen = std::vector<std::size_t>;

class Search {
public:
    Search(const WorthTable& worth, const CoverLimits& limits)
        : worth_(worth), limits_(limits), most_(std::min(limits.most, worth.size())), samples_(worth.front().size()) {
        for (const std::vector<double>& row : worth) {
            Scores& scores = scores_.emplace_back();
            for (const double one : row) scores.push_back(score(one));
        }
    }

    [[nodiscard]] Chosen run() const {
        Chosen chosen;
        while (chosen.size() < most_ && !is_enough(chosen)) chosen.push_back(best_addition(served(chosen)).row);
        if (!is_enough(chosen)) exchange(chosen);
        while (const auto fewer = with_one_less(chosen)) chosen = *fewer;
        return chosen;
    }

private:
    [[nodiscard]] std::int32_t score(double worth) const {
        const double served = std::max(worth, kUnserved);
        const double score = std::log(served) + kPenalty * std::min(0.0, std::log(served / limits_.least_worst));
        return static_cast<std::int32_t>(kScale * score);
    }
    [[nodiscard]] Scores served(const Chosen& chosen) const {
        Scores scores(samples_, score(0));
        for (const std::size_t row : chosen)
            for (std::size_t i = 0; i < samples_; ++i) scores[i] = std::max(scores[i], scores_[row][i]);
        return scores;
    }
    [[nodiscard]] std::int32_t sum_with(const Scores& scores, std::size_t row) const {
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < samples_; ++i) sum += std::max(scores[i], scores_[row][i]);
        return sum;
    }
    [[nodiscard]] std::int32_t sum_of(const Chosen& chosen) const { return sum_with(served(chosen), chosen.front()); }
    [[nodiscard]] bool is_enough(const Chosen& chosen) const {
        const Cover cover = evaluate_cover(worth_, chosen);
        return cover.mean >= limits_.least_mean && cover.worst >= limits_.least_worst;
    }
    /// The row that helps most beside what is served already, and the sum with it.
    struct Addition {
        std::size_t row = 0;
        std::int32_t sum = 0;
    };
    [[nodiscard]] Addition best_addition(const Scores& scores) const {
        Addition best{0, sum_with(scores, 0)};
        for (std::size_t row = 1; row < scores_.size(); ++row)
            if (const std::int32_t sum = sum_with(scores, row); sum > best.sum) best = {row, sum};
        return best;
    }
    [[nodiscard]] std::size_t best_row(const Chosen& chosen) const { return best_addition(served(chosen)).row; }

    /// Replaces one row, then two at once, by better ones as long as that helps.
    void exchange(Chosen& chosen) const {
        while (exchange_one(chosen) || exchange_two(chosen)) {
        }
    }
    [[nodiscard]] bool exchange_one(Chosen& chosen) const {
        bool helps = false;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            Chosen other = without(chosen, i);
            other.push_back(best_row(other));
            helps = replace_if_better(chosen, other) || helps;
        }
        return helps;
    }
    [[nodiscard]] bool exchange_two(Chosen& chosen) const {
        for (std::size_t i = 1; i < chosen.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                Chosen other = without(without(chosen, i), j);
                for (int added = 0; added < 2; ++added) other.push_back(best_row(other));
                if (replace_if_better(chosen, other)) return true;
            }
        return false;
    }
    [[nodiscard]] static Chosen without(Chosen chosen, std::size_t place) {
        chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(place));
        return chosen;
    }
    [[nodiscard]] bool replace_if_better(Chosen& chosen, Chosen& other) const {
        if (sum_of(other) <= sum_of(chosen)) return false;
        chosen = std::move(other);
        return true;
    }
    /// One row less, within the limits: the row that is missed least goes, and others are exchanged for better ones.
    [[nodiscard]] std::optional<Chosen> with_one_less(const Chosen& chosen) const {
        if (chosen.size() < 2 || !is_enough(chosen)) return std::nullopt;
        Chosen best = without(chosen, 0);
        for (std::size_t i = 1; i < chosen.size(); ++i) {
            Chosen fewer = without(chosen, i);
            static_cast<void>(replace_if_better(best, fewer));
        }
        if (!is_enough(best)) exchange(best);
        return is_enough(best) ? std::optional(best) : std::nullopt;
    }

    const WorthTable& worth_;
    CoverLimits limits_;
    std::size_t most_;
    std::size_t samples_;
    std::vector<Scores> scores_;
};

}  // namespace

Cover evaluate_cover(const WorthTable& worth, std::vector<std::size_t> chosen) {
    Cover cover{std::move(chosen), 1, 1, 0};
    const std::size_t samples = worth.empty() ? 0 : worth.front().size();
    double sum = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        double served = 0;
        for (const std::size_t row : cover.chosen) served = std::max(served, worth[row][i]);
        sum += std::log(std::max(served, kUnserved));
        if (i == 0 || served < cover.worst) cover.worst = served, cover.worst_sample = i;
    }
    if (samples != 0) cover.mean = std::exp(sum / static_cast<double>(samples));
    return cover;
}

Cover choose_cover(const WorthTable& worth, const CoverLimits& limits) {
    if (worth.empty() || limits.most == 0) return {};
    return evaluate_cover(worth, Search(worth, limits).run());
}

}  // namespace jitgemm
