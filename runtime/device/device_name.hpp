#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// What a kernel runs on.
enum class DeviceKind : std::uint8_t { cuda, emulator };
[[nodiscard]] std::string_view to_string(DeviceKind kind);

/// A device as people name it: "cuda", "cuda:1", "emulator", "emulator:sm_90a".
struct DeviceName {
    DeviceKind kind = DeviceKind::cuda;
    std::optional<int> ordinal;  ///< of a CUDA device; nothing: the current context's, else the first
    std::string arch;            ///< of the emulator, by its name in arch_table(); empty: whoever opens it chooses
    friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

/// Throws SpecError naming what is expected and the nearest of it.
[[nodiscard]] DeviceName parse_device_name(std::string_view text);
[[nodiscard]] std::string to_string(const DeviceName& name);

/// What the emulator is when nothing says otherwise: the oldest architecture that all kernels of half precision run on.
inline constexpr std::string_view kEmulatorDefaultArch = "sm_80";

}  // namespace jitgemm
