#pragma once

#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The predicted time of one config on one GPU, and its parts. Candidates are ordered by `total_us`. It is infinite if
/// no block fits an SM.
struct CostEstimate {
    double total_us = std::numeric_limits<double>::infinity();
    double math_us = 0;       ///< the SMs' time: tensor cores at the pace the rest allows, waves and tile quantisation
    double tail_us = 0;       ///< of it, lost because the last wave leaves SMs idle
    double math_unit_us = 0;  ///< the family's math unit alone, at its peak, on whole tiles
    double shared_us = 0;     ///< shared memory alone, bank conflicts included
    double l1_us = 0;         ///< operands straight into registers through L1 alone
    double l2_us = 0;         ///< operands into shared memory or L1 alone
    double dram_us = 0;       ///< DRAM alone
    double overhead_us = 0;   ///< launch, pipeline fill, epilogue
    double waves = 0;         ///< blocks over blocks resident at once
    int blocks_per_sm = 0;
};

/// A measured constant of a cost model, with its name in the cost table.
struct CostConstant {
    std::string_view name;
    double value = 0;
};
using CostConstants = std::vector<CostConstant>;

/// One kernel's cost on one GPU by constants, all of the family's in its order: made once, called with many.
using CostByConstants = std::function<CostEstimate(const CostConstants&)>;

}  // namespace jitgemm
