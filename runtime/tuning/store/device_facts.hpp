#pragma once

#include "generator/base/arch.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace jitgemm::tuning {

/// Versions on which a measured time depends. A record with other versions is only a hint (is_stale).
struct Versions {
    std::string jitgemm;  ///< kVersion
    /// Hash of the templates and of the C++ that fills them: another text is another kernel. If NVRTC is known, "-" and
    /// its build follow (Compiler::nvrtc_build): a patch level makes other machine code from the same text.
    std::string templates;
    int nvrtc = 0;   ///< 10 · major + minor, 130 = 13.0; 0 if none was loaded
    int driver = 0;  ///< the CUDA version that the driver supports, in the same form; 0 on the emulator
    friend bool operator==(const Versions&, const Versions&) = default;
};

/// The facts that a measuring process reports about its device when it starts.
struct DeviceFacts {
    GpuModel model;   ///< `model.name` is the marketing name
    int ordinal = 0;  ///< as the driver counts
    std::size_t memory_bytes = 0;
    bool emulator = false;
    Versions versions = {};
};

/// The class of a device. Devices of one class share tuning results: they agree in architecture, number of SMs, L2,
/// memory and clock, but not in the marketing name. Sizes are rounded so that one product is one class: L2 and memory
/// to MiB and GiB, bandwidth to 50 GB/s, clock to 50 MHz. "sm_90a-132sm-50MB-141GB-4800GBs-1750MHz"; "emulator-sm_80"
/// for the emulator, whose times are estimates and never serve a GPU.
[[nodiscard]] std::string device_class(const DeviceFacts& facts);
/// The kind of a class's times: "estimated" for emulators, "measured" for GPUs.
[[nodiscard]] std::string_view time_source(std::string_view device_class);

/// Whether a device that is this GPU may be of this class. They must agree in everything except the memory, which a
/// GpuModel does not hold.
[[nodiscard]] bool may_be_of_class(const GpuModel& gpu, std::string_view device_class);

}  // namespace jitgemm::tuning
