#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// The kind of device that runs a kernel.
enum class DeviceKind : std::uint8_t { cuda, emulator };
[[nodiscard]] std::string_view to_string(DeviceKind kind);

/// A device as people name it: "cuda", "cuda:1", "emulator", "emulator:sm_90a".
struct DeviceName {
    DeviceKind kind = DeviceKind::cuda;
    std::optional<int> ordinal;  ///< of a CUDA device; unset: the current context's, else the first
    std::string arch;            ///< of the emulator, by its name in arch_table(); empty: the caller chooses
    friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

/// Throws SpecError with the expected names and the nearest one.
[[nodiscard]] DeviceName parse_device_name(std::string_view text);
[[nodiscard]] std::string to_string(const DeviceName& name);

/// The emulator's default: the oldest architecture that runs all half-precision kernels.
inline constexpr std::string_view kEmulatorDefaultArch = "sm_80";

}  // namespace jitgemm
