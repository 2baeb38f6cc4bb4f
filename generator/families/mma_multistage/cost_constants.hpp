#pragma once

#include "generator/families/shared/cost_table.hpp"

namespace jitgemm {

/// The constants of the cost model of mma_multistage. Cycles are of the SM clock.
inline constexpr std::string_view kMmaCostName = "mma_multistage";
inline constexpr auto kMmaCostFields = std::to_array<CostField>({
    {"launch_us", "us", "A launch that waits for the previous kernel."},
    {"reduce_us", "us", "The second entry of a split-K kernel, without its bytes."},
    {"partials_share", "factor", "Bytes that reach DRAM for each byte of partial sums."},
    {"pack_us", "us", "Packing operands in an entry of its own, without its bytes."},
    {"prologue_cycles", "cycles", "Ramp-up and drain of a block."},
    {"first_copy_cycles", "cycles", "A warp's copy into the stages that a block fills first."},
    {"f16_accumulator", "factor", "Time of an mma with f16 sums relative to f32 sums."},
    {"lone_warp", "share", "mma time lost with one warp per scheduler; two warps lose half of it."},
    {"shared_bytes_per_cycle", "bytes/cycle", "Shared memory serves an SM at this rate."},
    {"l2_bytes_per_cycle", "bytes/cycle", "An SM receives bytes that its half of L2 holds at this rate."},
    {"first_bytes_per_cycle", "bytes/cycle",
     "An SM receives bytes that its half of L2 does not hold yet at this rate."},
    {"second_line", "share", "The cost of a row's second line of L2, as a share of the first one's."},
    {"short_line_cycles", "cycles", "The few elements of one k, where all SMs ask for the same ones."},
    {"sync_cycles", "cycles", "Barrier and wait of a k-tile."},
    {"block_latency_cycles", "cycles", "Barrier and wait of a k-tile where nothing hides them."},
    {"step_latency_cycles", "cycles", "Dependent ldmatrix and mma of one k-step."},
    {"load_latency_cycles", "cycles", "Latency of a k-tile's loads, shared by the stages in flight."},
    {"stage_jitter", "share", "Loss to uneven arrival with one stage in flight; more stages lose less."},
    {"many_stages", "share", "Loss for each stage beyond four: L1 shrinks as shared memory grows."},
    {"tight_registers", "share", "Loss of 64x64 warp tiles with f32 sums and k-tiles of 64."},
    {"narrow_copy_cycles", "cycles", "A warp's cp.async of less than 16 bytes per lane."},
    {"words_per_cycle", "words/cycle", "Lanes of an SM load fragments word by word at this rate."},
    {"realign_cycles", "cycles", "A warp shifts vectors of 16 bytes in registers."},
    {"store_bytes_per_cycle", "bytes/cycle", "An SM stores D at this rate."},
    {"store_cycles", "cycles", "A warp stores one vector per lane out of shared memory."},
    {"read_c_cycles", "cycles", "The epilogue reads four vectors of C per lane."},
    {"read_row_of_c_cycles", "cycles", "The same of a C of one row, which caches hold."},
    {"cluster_cycles", "cycles", "Two barriers and the way to a peer and back, where a cluster adds up."},
    {"remote_bytes_per_cycle", "bytes/cycle", "An SM reads a peer's shared memory at this rate."},
    {"dram_share", "share", "DRAM's reached bandwidth, as a share of the datasheet's."},
    {"second_line_of_dram", "share", "The cost for DRAM of a row's second line, as a share of the first one's."},
    {"overlap_exponent", "exponent", "How sharply the slowest of SMs, L2 and DRAM sets the time: 1 adds them up."},
});
using MmaCosts = Costs<kMmaCostName, kMmaCostFields>;

}  // namespace jitgemm
