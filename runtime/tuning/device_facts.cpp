#include "runtime/tuning/device_facts.hpp"

#include <fmt/format.h>

#include <cmath>

namespace jitgemm::tuning {
namespace {

constexpr double kMebibyte = 1 << 20;
constexpr double kGibibyte = 1 << 30;
constexpr int kBandwidthStep = 50;  // GB/s
constexpr int kClockStep = 50;      // MHz

/// To the nearest multiple.
long rounded_to(double value, int step) { return std::lround(value / step) * step; }

}  // namespace

std::string device_class(const DeviceFacts& facts) {
    const GpuModel& gpu = facts.model;
    if (facts.emulator) return fmt::format("emulator-{}", gpu.arch->name);
    return fmt::format("{}-{}sm-{}MB-{}GB-{}GBs-{}MHz", gpu.arch->name, gpu.sm_count,
                       std::lround(static_cast<double>(gpu.l2_bytes) / kMebibyte),
                       std::lround(static_cast<double>(facts.memory_bytes) / kGibibyte),
                       rounded_to(gpu.dram_bytes_per_second / 1e9, kBandwidthStep),
                       rounded_to(gpu.clock_mhz, kClockStep));
}

}  // namespace jitgemm::tuning
