#pragma once

#include "generator/families/shared/anatomy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The state of a stage of shared memory during one step of the pipeline.
enum class StageState : std::uint8_t { empty, copy_issued, in_flight, computed };
[[nodiscard]] std::string_view to_string(StageState state);  ///< "empty", "copy", "in flight", "compute"

struct StageUse {
    StageState state = StageState::empty;
    std::int64_t k_tile = 0;  ///< within the block's part of K; 0 if empty
    friend bool operator==(const StageUse&, const StageUse&) = default;
};

/// One step: a k-tile whose copy is issued in the prologue, or one iteration of the mainloop.
struct PipelineStep {
    bool prologue = false;
    std::int64_t k_tile = 0;       ///< the k-tile whose copy is issued in the prologue, or that the iteration computes
    std::vector<StageUse> stages;  ///< one per stage
};

/// The mainloop over time. A long one is cut: the steps shown are the prologue, the first iterations and the last ones.
struct KernelPipeline {
    int stages = 0;
    std::int64_t k_tiles = 0;  ///< of one block
    std::vector<PipelineStep> steps;
};

/// The step in which iteration `k_tile` computes. templates/mma_multistage/mma_multistage.cu copies k-tile i into stage
/// i mod stages, and issues stages − 1 copies ahead.
[[nodiscard]] PipelineStep iteration(int stages, std::int64_t k_tile, std::int64_t k_tiles);

[[nodiscard]] KernelPipeline kernel_pipeline(const KernelAnatomy& anatomy, std::int64_t k);

[[nodiscard]] std::string pipeline_html(const KernelPipeline& pipeline);

}  // namespace jitgemm
