#include "runtime/tuning/store/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jitgemm::tuning {
namespace {

constexpr double kMebibyte = 1 << 20;
constexpr double kGibibyte = 1 << 30;
constexpr int kBandwidthStep = 50;  // GB/s
constexpr int kClockStep = 50;      // MHz
constexpr std::string_view kEmulatorPrefix = "emulator-";

/// To the nearest multiple.
long rounded_to(double value, int step) { return std::lround(value / step) * step; }

/// A class's words before and after the memory.
std::string before_memory(const GpuModel& gpu) {
    return fmt::format("{}-{}sm-{}MB-", gpu.arch->name, gpu.sm_count,
                       std::lround(static_cast<double>(gpu.l2_bytes) / kMebibyte));
}

std::string after_memory(const GpuModel& gpu) {
    return fmt::format("GB-{}GBs-{}MHz", rounded_to(gpu.dram_bytes_per_second / 1e9, kBandwidthStep),
                       rounded_to(gpu.clock_mhz, kClockStep));
}

}  // namespace

std::string device_class(const DeviceFacts& facts) {
    if (facts.emulator) return fmt::format("{}{}", kEmulatorPrefix, facts.model.arch->name);
    const long memory = std::lround(static_cast<double>(facts.memory_bytes) / kGibibyte);
    return fmt::format("{}{}{}", before_memory(facts.model), memory, after_memory(facts.model));
}

std::string_view time_source(std::string_view device_class) {
    return device_class.starts_with(kEmulatorPrefix) ? "estimated" : "measured";
}

bool may_be_of_class(const GpuModel& gpu, std::string_view device_class) {
    const std::string before = before_memory(gpu);
    const std::string after = after_memory(gpu);
    if (!device_class.starts_with(before)) return false;
    const std::string_view rest = device_class.substr(before.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return digits > 0 && rest.substr(digits) == after;
}

}  // namespace jitgemm::tuning
