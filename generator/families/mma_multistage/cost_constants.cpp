#include "generator/families/mma_multistage/cost_constants.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace jitgemm {
namespace {

/// A GPU whose constants were fitted.
struct MmaCostRow {
    std::string_view gpu;   ///< "h200"
    std::string_view arch;  ///< with what follows, what makes another GPU like it
    int sm_count;
    double dram_bytes_per_second;
    MmaCostConstants constants;
};

// Rows are printed by a fit (docs/tuning-search.md), with the error they were found to have. The first serves every GPU whose
// architecture has none: relations between units change less from one generation to the next than their peaks, which the
// GPU model knows.
constexpr std::array<MmaCostRow, 1> kRows{{
    // 3,991 timings of 92 problems of bench shapes: rms error of the predictions 9.9 %, the choice 2.7 % slower than the best; of problems
    // left out 10.9 % and 3.1 % (docs/experiments.md). pack_us is of a later comparison over odd sizes on an H200, where an entry that
    // packs was found to take 2 us more than the 1.77 of the fit. launch_us, prologue_cycles, first_copy_cycles, narrow_copy_cycles,
    // realign_cycles and store_cycles are of 805 timings of 37 problems on an H100, most of a K below 120. first_bytes_per_cycle, and anew
    // reduce_us, partials_share, load_latency_cycles, narrow_copy_cycles, realign_cycles, store_bytes_per_cycle, cluster_cycles,
    // remote_bytes_per_cycle and dram_share, are of 3,700 of few rows or columns on an H200.
    {.gpu = "h200",
     .arch = "sm_90a",
     .sm_count = 132,
     .dram_bytes_per_second = 4800e9,
     .constants = {.launch_us = 2.63,
                   .reduce_us = 1.769,
                   .partials_share = 1.739,
                   .pack_us = 3.7,
                   .prologue_cycles = 110,
                   .first_copy_cycles = 0.95,
                   .f16_accumulator = 0.9,
                   .lone_warp = 0.07569,
                   .shared_bytes_per_cycle = 119.7,
                   .l2_bytes_per_cycle = 58.88,
                   .first_bytes_per_cycle = 35.46,
                   .sync_cycles = 14.66,
                   .block_latency_cycles = 73,
                   .step_latency_cycles = 26,
                   .load_latency_cycles = 1803,
                   .stage_jitter = 0.02413,
                   .many_stages = 0.01703,
                   .tight_registers = 0.01457,
                   .narrow_copy_cycles = 3.662,
                   .realign_cycles = 38.15,
                   .store_bytes_per_cycle = 11.22,
                   .store_cycles = 57,
                   .cluster_cycles = 1067,
                   .remote_bytes_per_cycle = 5.596,
                   .dram_share = 0.784}},
}};

constexpr std::array<MmaCostField, 25> kFields{{
    {"launch_us", &MmaCostConstants::launch_us},
    {"reduce_us", &MmaCostConstants::reduce_us},
    {"partials_share", &MmaCostConstants::partials_share},
    {"pack_us", &MmaCostConstants::pack_us},
    {"prologue_cycles", &MmaCostConstants::prologue_cycles},
    {"first_copy_cycles", &MmaCostConstants::first_copy_cycles},
    {"f16_accumulator", &MmaCostConstants::f16_accumulator},
    {"lone_warp", &MmaCostConstants::lone_warp},
    {"shared_bytes_per_cycle", &MmaCostConstants::shared_bytes_per_cycle},
    {"l2_bytes_per_cycle", &MmaCostConstants::l2_bytes_per_cycle},
    {"first_bytes_per_cycle", &MmaCostConstants::first_bytes_per_cycle},
    {"sync_cycles", &MmaCostConstants::sync_cycles},
    {"block_latency_cycles", &MmaCostConstants::block_latency_cycles},
    {"step_latency_cycles", &MmaCostConstants::step_latency_cycles},
    {"load_latency_cycles", &MmaCostConstants::load_latency_cycles},
    {"stage_jitter", &MmaCostConstants::stage_jitter},
    {"many_stages", &MmaCostConstants::many_stages},
    {"tight_registers", &MmaCostConstants::tight_registers},
    {"narrow_copy_cycles", &MmaCostConstants::narrow_copy_cycles},
    {"realign_cycles", &MmaCostConstants::realign_cycles},
    {"store_bytes_per_cycle", &MmaCostConstants::store_bytes_per_cycle},
    {"store_cycles", &MmaCostConstants::store_cycles},
    {"cluster_cycles", &MmaCostConstants::cluster_cycles},
    {"remote_bytes_per_cycle", &MmaCostConstants::remote_bytes_per_cycle},
    {"dram_share", &MmaCostConstants::dram_share},
}};
static_assert(kFields.size() * sizeof(double) == sizeof(MmaCostConstants), "a constant has no field");

double difference(const MmaCostRow& row, const GpuModel& gpu) {
    if (row.arch != gpu.arch->name) return std::numeric_limits<double>::infinity();
    return std::abs(std::log(static_cast<double>(row.sm_count) / gpu.sm_count)) +
           std::abs(std::log(row.dram_bytes_per_second / gpu.dram_bytes_per_second));
}

}  // namespace

std::span<const MmaCostField> mma_cost_fields() { return kFields; }

const MmaCostConstants& mma_cost_constants(const GpuModel& gpu) {
    const MmaCostRow* nearest = &kRows.front();
    for (const MmaCostRow& row : kRows)
        if (difference(row, gpu) < difference(*nearest, gpu)) nearest = &row;
    return nearest->constants;
}

}  // namespace jitgemm
