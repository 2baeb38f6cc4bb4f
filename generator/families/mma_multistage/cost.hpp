#pragma once

#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/mma_multistage/cost_constants.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"

namespace jitgemm {

/// The predicted time of any kernel that has this geometry and works as such a config says: pipeline, tiles, splits.
[[nodiscard]] CostEstimate mma_pipeline_cost(const Problem& problem, const MmaMultistageConfig& config,
                                             const TensorCoreGeometry& geometry, const GpuModel& gpu,
                                             const MmaCosts& costs);

/// Lower bounds of MmaMultistage::cost() for the configs of one tile and packing.
class MmaLeastTime {
public:
    /// The problem and the GPU must outlive the object.
    MmaLeastTime(const Problem& problem, const MmaMultistageConfig& tile, const GpuModel& gpu);

    /// The bound for a config with `splits` splits and at most `most_stages` stages.
    [[nodiscard]] double with(int splits, Reduction reduction, int most_stages) const;

private:
    const GemmSpec& spec_;
    const GpuModel& gpu_;
    const MmaCosts& costs_;
    double tiles_, k_tiles_;
    double sums_;       ///< of a tile
    double launch_us_;  ///< with packing
    double dram_us_per_byte_;
    double throughput_ = 0;  ///< cycles in which an SM does a k-tile,
    double latency_ = 0;     ///< in which a block alone does,
    double load_ = 0;        ///< and in which one arrives
    double dram_us_ = 0;     ///< without partial sums
};

}  // namespace jitgemm
