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

// Rows are printed by a fit (docs/tuning-search.md), with the error they were found to have. The first serves every GPU
// whose architecture has none: relations between units change less from one generation to the next than their peaks,
// which the GPU model knows.
constexpr std::array<MmaCostRow, 1> kRows{{
    // 3,991 timings of 92 problems of bench shapes: rms error of the predictions 9.9 %, the choice 2.7 % slower than
    // the best; of problems left out 10.9 % and 3.1 % (docs/lab/cost-models.md). prologue_cycles, first_copy_cycles and
    // store_cycles are of 805 timings of 37 problems on an H100, most of a K below 120; narrow_copy_cycles,
    // realign_cycles and store_bytes_per_cycle of 3,700 of few rows or columns on an H200; second_line,
    // second_line_of_dram and short_line_cycles, and anew launch_us, reduce_us, partials_share, pack_us,
    // load_latency_cycles, first_bytes_per_cycle, cluster_cycles, remote_bytes_per_cycle and dram_share, of 8,500 more
    // of 571 problems.
    {.gpu = "h200",
     .arch = "sm_90a",
     .sm_count = 132,
     .dram_bytes_per_second = 4800e9,
     .constants = {.launch_us = 2.438,
                   .reduce_us = 1.013,
                   .partials_share = 2.85,
                   .pack_us = 1.65,
                   .prologue_cycles = 110,
                   .first_copy_cycles = 0.95,
                   .f16_accumulator = 0.9,
                   .lone_warp = 0.07569,
                   .shared_bytes_per_cycle = 119.7,
                   .l2_bytes_per_cycle = 58.88,
                   .first_bytes_per_cycle = 32.11,
                   .second_line = 0.353,
                   .short_line_cycles = 1.68,
                   .sync_cycles = 14.66,
                   .block_latency_cycles = 73,
                   .step_latency_cycles = 26,
                   .load_latency_cycles = 1941,
                   .stage_jitter = 0.02413,
                   .many_stages = 0.01703,
                   .tight_registers = 0.01457,
                   .narrow_copy_cycles = 3.662,
                   .realign_cycles = 38.15,
                   .store_bytes_per_cycle = 11.22,
                   .store_cycles = 57,
                   .cluster_cycles = 1404,
                   .remote_bytes_per_cycle = 7.81,
                   .dram_share = 0.8,
                   .second_line_of_dram = 0.221}},
}};

constexpr std::array<MmaCostField, 28> kFields{{
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
    {"second_line", &MmaCostConstants::second_line},
    {"short_line_cycles", &MmaCostConstants::short_line_cycles},
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
    {"second_line_of_dram", &MmaCostConstants::second_line_of_dram},
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
