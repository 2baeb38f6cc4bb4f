#pragma once

#include <optional>
#include <string>

namespace jitgemm {

/// The device that JITGEMM_DEVICE names, in the form of Options::device; nothing if the variable is unset or empty.
/// Throws Error for a value that names no device.
[[nodiscard]] std::optional<std::string> device_from_environment();

}  // namespace jitgemm
