#include "runtime/emulator_device/emulator_cost.hpp"

#include "generator/base/sector.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

constexpr double kLaunchUs = 2;
constexpr double kSchedulers = 4;        // of an SM, since sm_70
constexpr double kL2BytesPerCycle = 64;  // of one SM

/// Of all blocks' work, the part of the SM that has the most blocks.
double busiest_share(std::uint64_t blocks, int sms) {
    if (blocks == 0) return 0;
    return std::ceil(static_cast<double>(blocks) / sms) / static_cast<double>(blocks);
}

}  // namespace

EmulatedTime estimate_time(const emulator::Counters& counters, const GpuModel& gpu, double footprint_bytes,
                           int launches) {
    const emulator::Tally& all = counters.total;
    const double share = busiest_share(counters.blocks, gpu.sm_count);
    const auto microseconds = [&](double cycles) { return cycles * share / gpu.clock_mhz; };
    const double sector_bytes = static_cast<double>(all.l2_sectors) * kSectorBytes;
    EmulatedTime time;
    time.issue_us = microseconds(static_cast<double>(all.warps) / kSchedulers);
    time.math_unit_us = microseconds(static_cast<double>(all.operations) / mma_flops_per_clock(*gpu.arch));
    time.shared_us = microseconds(static_cast<double>(all.wavefronts));
    time.l2_us = microseconds(sector_bytes / kL2BytesPerCycle);
    time.dram_us = std::min(footprint_bytes, sector_bytes) / gpu.dram_bytes_per_second * 1e6;
    time.total_us =
        kLaunchUs * launches + std::max({time.issue_us, time.math_unit_us, time.shared_us, time.l2_us, time.dram_us});
    return time;
}

}  // namespace jitgemm
