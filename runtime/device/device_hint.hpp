#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// How the refusal of a word that is no kind of device ends: with the kind that the word means elsewhere ("cpu" is the
/// emulator here), else with the nearest known word, else with nothing.
[[nodiscard]] std::string device_hint(std::string_view kind, std::span<const std::string_view> known);

}  // namespace jitgemm
