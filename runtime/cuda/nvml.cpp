#include "runtime/cuda/driver.hpp"
#include "runtime/device/device_reading.hpp"
#include "runtime/support/dynamic_library.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

// The few functions of NVML that are needed, as nvml.h declares them; the driver's package installs the library, no
// toolkit is needed.
struct Nvml {
    using Handle = void*;
    int (*init)() = nullptr;
    int (*find)(const char* pci_bus_id, Handle*) = nullptr;
    int (*clock)(Handle, int which, unsigned* megahertz) = nullptr;
    int (*power)(Handle, unsigned* milliwatts) = nullptr;
    int (*temperature)(Handle, int sensor, unsigned* celsius) = nullptr;
    int (*clocks_event_reasons)(Handle, unsigned long long* bits) = nullptr;  // may be missing
    bool usable = false;
};
constexpr int kSmClock = 1;         // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;     // NVML_CLOCK_MEM
constexpr int kGpuTemperature = 0;  // NVML_TEMPERATURE_GPU
constexpr int kSuccess = 0;

Nvml load_nvml() {
    std::vector<std::string> tried;
    const DynamicLibrary library = DynamicLibrary::open_first({"libnvidia-ml.so.1"}, tried);
    Nvml nvml;
    if (!library) return nvml;
    library.keep_loaded();
    nvml.usable =
        library.find("nvmlInit_v2", nvml.init) && library.find("nvmlDeviceGetHandleByPciBusId_v2", nvml.find) &&
        library.find("nvmlDeviceGetClockInfo", nvml.clock) && library.find("nvmlDeviceGetPowerUsage", nvml.power) &&
        library.find("nvmlDeviceGetTemperature", nvml.temperature) && nvml.init() == kSuccess;
    // Its name until drivers of 535; newer ones have both.
    if (!library.find("nvmlDeviceGetCurrentClocksEventReasons", nvml.clocks_event_reasons))
        library.find("nvmlDeviceGetCurrentClocksThrottleReasons", nvml.clocks_event_reasons);
    return nvml;
}

const Nvml& loaded_nvml() {
    static const Nvml nvml = load_nvml();
    return nvml;
}

/// NVML numbers devices its own way (all of them, in bus order), so a device is found by where it sits.
/// As NVML names a device; empty when the driver has none of that ordinal.
std::string pci_bus_id(int ordinal) {
    CUdevice device = 0;
    if (driver().cuDeviceGet(&device, ordinal) != CUDA_SUCCESS) return {};
    const auto attribute = [device](CUdevice_attribute which) {
        int value = 0;
        JITGEMM_CHECK(driver().cuDeviceGetAttribute(&value, which, device));
        return value;
    };
    return fmt::format("{:08x}:{:02x}:{:02x}.0", attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                       attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

/// The device as NVML knows it; null when it does not.
Nvml::Handle find_device(int ordinal) {
    std::string reason;
    Nvml::Handle device = nullptr;
    if (try_driver(reason) == nullptr || !loaded_nvml().usable) return nullptr;
    return loaded_nvml().find(pci_bus_id(ordinal).c_str(), &device) == kSuccess ? device : nullptr;
}

}  // namespace

namespace tuning {

DeviceReading read_device(int ordinal) {
    DeviceReading reading;
    const Nvml::Handle device = find_device(ordinal);
    if (device == nullptr) return reading;
    const Nvml& nvml = loaded_nvml();
    const auto read = [device](auto query, auto... what) {
        unsigned value = 0;
        return query(device, what..., &value) == kSuccess ? value : 0U;
    };
    reading.sm_clock_mhz = static_cast<int>(read(nvml.clock, kSmClock));
    reading.memory_clock_mhz = static_cast<int>(read(nvml.clock, kMemoryClock));
    reading.power_watts = read(nvml.power) / 1000.0;
    reading.temperature_c = static_cast<int>(read(nvml.temperature, kGpuTemperature));
    unsigned long long reasons = 0;
    if (nvml.clocks_event_reasons != nullptr && nvml.clocks_event_reasons(device, &reasons) == kSuccess)
        reading.throttle = reasons;
    return reading;
}

}  // namespace tuning

}  // namespace jitgemm
