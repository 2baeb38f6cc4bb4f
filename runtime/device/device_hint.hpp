#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// The end of the message about an unknown kind of device: the kind that other libraries call so ("cpu" is the emulator
/// here), else the nearest known word, else nothing.
[[nodiscard]] std::string device_hint(std::string_view kind, std::span<const std::string_view> known);

}  // namespace jitgemm
