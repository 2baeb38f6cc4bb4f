#include "runtime/benchmark.hpp"
#include "runtime/driver.hpp"
#include "runtime/dynamic_library.hpp"

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
    bool usable = false;
};
constexpr int kSmClock = 1;  // NVML_CLOCK_SM
constexpr int kSuccess = 0;

template <typename Pointer>
bool find_symbol(const DynamicLibrary& library, const char* name, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(library.symbol(name));
    return pointer != nullptr;
}

Nvml load_nvml() {
    std::vector<std::string> tried;
    const DynamicLibrary library = DynamicLibrary::open_first({"libnvidia-ml.so.1"}, tried);
    Nvml nvml;
    if (!library) return nvml;
    library.keep_loaded();
    nvml.usable = find_symbol(library, "nvmlInit_v2", nvml.init) &&
                  find_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.find) &&
                  find_symbol(library, "nvmlDeviceGetClockInfo", nvml.clock) &&
                  find_symbol(library, "nvmlDeviceGetPowerUsage", nvml.power) && nvml.init() == kSuccess;
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

}  // namespace

DeviceState read_device_state(int ordinal) {
    DeviceState state;
    std::string reason;
    if (try_driver(reason) == nullptr || !loaded_nvml().usable) return state;
    const Nvml& nvml = loaded_nvml();
    Nvml::Handle device = nullptr;
    if (nvml.find(pci_bus_id(ordinal).c_str(), &device) != kSuccess) return state;
    unsigned megahertz = 0;
    unsigned milliwatts = 0;
    if (nvml.clock(device, kSmClock, &megahertz) == kSuccess) state.sm_clock_mhz = static_cast<int>(megahertz);
    if (nvml.power(device, &milliwatts) == kSuccess) state.power_watts = milliwatts / 1000.0;
    return state;
}

}  // namespace jitgemm
