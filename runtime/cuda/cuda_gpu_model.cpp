#include "runtime/cuda/cuda_gpu_model.hpp"

#include "generator/base/gpu_names.hpp"

#include <algorithm>
#include <array>
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

// 3: the names are one; 2: they are but for the memory; 1: the row's is a part, as "H200 NVL" has no row of its own.
int likeness(const GpuNameParts& marketing, const GpuNameParts& row) {
    if (marketing.with_memory == row.with_memory) return 3;
    if (marketing.model == row.with_memory) return 2;
    return marketing.model.find(row.with_memory) != std::string::npos ? 1 : 0;
}

// The table's row of this very GPU: same architecture and size, and the name that is most like it.
const GpuModel* known_gpu(const GpuModel& found) {
    const GpuNameParts name = gpu_name_parts(found.name);
    const GpuModel* known = nullptr;
    int best = 0;
    for (const GpuModel& row : gpu_table()) {
        if (row.arch != found.arch || row.sm_count != found.sm_count) continue;
        const int like = likeness(name, gpu_name_parts(row.name));
        if (like > best) known = &row;
        best = std::max(best, like);
    }
    return known;
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
