#include "jitgemm/options.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

namespace jitgemm {

std::shared_ptr<Device> open_device(const Options& options) {
    const DeviceName name = parse_device_name(options.device);
    if (name.kind == DeviceKind::cuda) return open_cuda_device(name.ordinal);
    const Arch& arch = find_arch(name.arch.empty() ? kEmulatorDefaultArch : name.arch);
    return std::make_shared<EmulatorDevice>(arch, options.emulator_gflop);
}

}  // namespace jitgemm
