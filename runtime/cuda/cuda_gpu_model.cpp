#include "runtime/cuda/cuda_gpu_model.hpp"

#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace jitgemm {
namespace {

// Tensor-core kernels on an H200 keep 1.57 to 1.75 of its 1.98 GHz: power sets the clock, not the maximum the driver
// tells.
constexpr double kSustainedClock = 0.85;

int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    JITGEMM_CHECK(driver().cuDeviceGetAttribute(&value, which, device));
    return value;
}

// 0 where the driver has no answer: newer ones drop clocks for some devices.
int attribute_or_zero(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    return driver().cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

std::string marketing_name(CUdevice device) {
    std::array<char, 256> name{};
    JITGEMM_CHECK(driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()), device));
    return name.data();
}

const Arch& arch_of(CUdevice device) {
    return arch_for_compute_capability(10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                                       attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

// "NVIDIA GeForce RTX 4090" → "nvidiageforcertx4090".
std::string squeezed(const std::string& name) {
    std::string result;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

// The table's row of this very GPU: same architecture and size, and its name within the marketing name.
const GpuModel* known_gpu(const GpuModel& found) {
    const std::string name = squeezed(found.name);
    for (const GpuModel& row : gpu_table()) {
        const bool same_silicon = row.arch == found.arch && row.sm_count == found.sm_count;
        if (same_silicon && name.find(squeezed(row.name)) != std::string::npos) return &row;
    }
    return nullptr;
}

// Double data rate: two transfers per clock.
double peak_dram_rate(CUdevice device) {
    const double clock_hz = 1e3 * attribute_or_zero(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    return 2 * clock_hz * attribute_or_zero(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

DeviceRates rates_told_by_driver(CUdevice device) {
    return {static_cast<int>(kSustainedClock * attribute_or_zero(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000),
            peak_dram_rate(device)};
}

}  // namespace

GpuModel with_rates(GpuModel found, const std::function<DeviceRates()>& told) {
    const GpuModel* const known = known_gpu(found);
    const DeviceRates rates = known != nullptr ? DeviceRates{} : told();
    const GpuModel& fallback = known != nullptr ? *known : typical_gpu(*found.arch);
    found.clock_mhz = rates.clock_mhz != 0 ? rates.clock_mhz : fallback.clock_mhz;
    found.dram_bytes_per_second =
        rates.dram_bytes_per_second != 0 ? rates.dram_bytes_per_second : fallback.dram_bytes_per_second;
    return found;
}

GpuModel read_gpu_model(CUdevice device) {
    GpuModel model{};
    model.name = marketing_name(device);
    model.arch = &arch_of(device);
    model.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    model.l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    return with_rates(std::move(model), [device] { return rates_told_by_driver(device); });
}

}  // namespace jitgemm
