#include "generator/families/mma_cost_constants.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace jitgemm {
namespace {

// Rows are printed by a fit (docs/tuning-search.md), with the error they were found to have. The first serves every GPU whose
// architecture has none: relations between units change less from one generation to the next than their peaks, which the
// GPU model knows.
constexpr std::array<MmaCostRow, 1> kRows{{
    // 1,900 timings of 25 problems; the predicted time of configs within 1.5 times of the best is off by 11 % on average,
    // the chosen one 2.4 % slower than the best (docs/performance.md).
    {.gpu = "h200",
     .arch = "sm_90a",
     .sm_count = 132,
     .dram_bytes_per_second = 4800e9,
     .constants = {.launch_us = 0.98,
                   .reduce_us = 3.25,
                   .slab_share = 0.5,
                   .pack_us = 0.56,
                   .prologue_cycles = 2190,
                   .f16_accumulator = 0.9,
                   .lone_warp = 0.2,
                   .shared_bytes_per_cycle = 169,
                   .l2_bytes_per_cycle = 53,
                   .sync_cycles = 36,
                   .block_latency_cycles = 73,
                   .step_latency_cycles = 26,
                   .load_latency_cycles = 1610,
                   .stage_jitter = 0.042,
                   .many_stages = 0.036,
                   .tight_registers = 0.019,
                   .narrow_copy_cycles = 1.6,
                   .realign_cycles = 20,
                   .store_bytes_per_cycle = 15.5,
                   .cluster_cycles = 1000,
                   .remote_bytes_per_cycle = 16,
                   .dram_share = 0.78}},
}};

constexpr std::array<MmaCostField, 22> kFields{{
    {"launch_us", &MmaCostConstants::launch_us},
    {"reduce_us", &MmaCostConstants::reduce_us},
    {"slab_share", &MmaCostConstants::slab_share},
    {"pack_us", &MmaCostConstants::pack_us},
    {"prologue_cycles", &MmaCostConstants::prologue_cycles},
    {"f16_accumulator", &MmaCostConstants::f16_accumulator},
    {"lone_warp", &MmaCostConstants::lone_warp},
    {"shared_bytes_per_cycle", &MmaCostConstants::shared_bytes_per_cycle},
    {"l2_bytes_per_cycle", &MmaCostConstants::l2_bytes_per_cycle},
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

std::span<const MmaCostRow> mma_cost_table() { return kRows; }

const MmaCostConstants& mma_cost_constants(const GpuModel& gpu) {
    const MmaCostRow* nearest = &kRows.front();
    for (const MmaCostRow& row : kRows)
        if (difference(row, gpu) < difference(*nearest, gpu)) nearest = &row;
    return nearest->constants;
}

}  // namespace jitgemm
