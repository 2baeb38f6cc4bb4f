#pragma once

#include "generator/base/arch.hpp"

#include <span>
#include <string_view>

namespace jitgemm {

/// What the cost model of pipelines on mma.sync takes from measurements. Cycles are of the SM clock; bytes per cycle are of
/// one SM.
struct MmaCostConstants {
    double launch_us;
    double reduce_us;               ///< second entry of a split-K kernel
    double partials_share;          ///< of the partial sums' bytes that reach DRAM
    double pack_us;                 ///< an entry of its own, on top of its bytes
    double prologue_cycles;         ///< of a block: ramp-up and drain
    double first_copy_cycles;       ///< of one warp into the stages that a block fills first
    double f16_accumulator;         ///< time of an mma with f16 sums against f32 sums
    double lone_warp;               ///< mma time lost with one warp per scheduler, half with two ...
    double shared_bytes_per_cycle;  ///< of shared memory
    double l2_bytes_per_cycle;
    double first_bytes_per_cycle;   ///< of what is not in an SM's half of L2 yet
    double second_line;             ///< what the second line of L2 costs of the first, where rows begin within one
    double short_line_cycles;       ///< of a k's few elements, where all SMs ask for the same ones
    double sync_cycles;             ///< barrier and wait of a k-tile
    double block_latency_cycles;    ///< the same, where nothing hides it
    double step_latency_cycles;     ///< ldmatrix and mma of one k-block, dependent
    double load_latency_cycles;     ///< of a k-tile from L2 or DRAM, shared by the stages in flight
    double stage_jitter;            ///< lost to uneven arrival with one stage in flight, less with more
    double many_stages;             ///< lost per stage beyond four: L1 shrinks as shared memory grows
    double tight_registers;         ///< lost by 64x64 warp tiles with f32 sums at block_tile.k = 64
    double narrow_copy_cycles;      ///< a cp.async of one warp below 16 bytes
    double realign_cycles;          ///< a 16-byte vector of one warp shifted in registers
    double store_bytes_per_cycle;   ///< epilogue
    double store_cycles;            ///< of a warp, for each vector of a lane: out of shared memory, in order
    double cluster_cycles;          ///< of a block that adds up in a cluster: two barriers, the way to a peer and back
    double remote_bytes_per_cycle;  ///< of peers' shared memory, into one SM
    double dram_share;              ///< of the datasheet's bandwidth
    double second_line_of_dram;     ///< as second_line, for DRAM
    friend bool operator==(const MmaCostConstants&, const MmaCostConstants&) = default;
};

/// A constant by its name, for who fits and prints them.
struct MmaCostField {
    std::string_view name;
    double MmaCostConstants::*member;
};
[[nodiscard]] std::span<const MmaCostField> mma_cost_fields();

/// The constants of the most similar GPU in the table: of its architecture if there is one, and of the nearest size and
/// bandwidth among those.
[[nodiscard]] const MmaCostConstants& mma_cost_constants(const GpuModel& gpu);

}  // namespace jitgemm
