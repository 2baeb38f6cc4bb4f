#pragma once

#include <cstddef>
#include <vector>

namespace jitgemm {

/// For each candidate (row) its worth at each sample: best time over its own time, 0 where it can't serve.
using WorthTable = std::vector<std::vector<double>>;

struct CoverLimits {
    std::size_t most = 10;      ///< candidates
    double least_mean = 0.985;  ///< geometric mean over the samples of the best chosen worth
    double least_worst = 0.90;  ///< at any sample
};

struct Cover {
    std::vector<std::size_t> chosen;  ///< rows of the table
    double mean = 0;
    double worst = 0;
    std::size_t worst_sample = 0;
};

/// Mean and worst of what these rows serve the samples with.
[[nodiscard]] Cover evaluate_cover(const WorthTable& worth, std::vector<std::size_t> chosen);

/// A few rows that together keep to the limits, as few as greedy choice, removal and exchange find. Where `most` rows
/// can't keep to them, the best `most` found.
[[nodiscard]] Cover choose_cover(const WorthTable& worth, const CoverLimits& limits);

}  // namespace jitgemm
