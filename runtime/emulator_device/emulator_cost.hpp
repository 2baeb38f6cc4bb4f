#pragma once

#include "generator/base/arch.hpp"
#include "runtime/emulator/counters.hpp"

namespace jitgemm {

/// A GPU's estimated time for a launch that the emulator counted, in microseconds, by its parts. It is an estimate: the
/// emulator counts all work, but doesn't know how it overlaps.
///
///   issue    warp instructions at one per cycle of each of an SM's four schedulers
///   tensor   tensor-core operations at Arch::mma_flops_per_clock
///   shared   wavefronts at one per cycle and SM
///   dram     32-byte sectors asked for, each operand's bytes counted once (`footprint_bytes`), at the DRAM's bandwidth
///   l2       all sectors asked for, at 64 bytes per cycle and SM
///   total    2 us for a launch of each entry, and the longest of the others
///
/// The SMs' parts are those of the SM with the most blocks, when all blocks do the same: ceil(blocks / SMs).
/// Clock, SMs and bandwidth are the GpuModel's.
struct EmulatedTime {
    double total_us = 0;
    double issue_us = 0;
    double math_unit_us = 0;
    double shared_us = 0;
    double dram_us = 0;
    double l2_us = 0;
};

/// `footprint_bytes`: of the operands, each once. `launches`: entries that were launched.
[[nodiscard]] EmulatedTime estimate_time(const emulator::Counters& counters, const GpuModel& gpu,
                                         double footprint_bytes, int launches);

}  // namespace jitgemm
