#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jitgemm {

/// What the caches hold when a kernel is timed: `steady`, what the launch before left, in a graph of launches over
/// rotating copies of the operands; `cold`, nothing. `sustained` is steady, but each candidate runs alone for a while:
/// where power is the limit, steady rounds of a few ms in turn compare cycles, as all run at one clock, and sustained
/// ones energy.
enum class Protocol : std::uint8_t { steady, cold, sustained };

[[nodiscard]] std::span<const std::string_view> protocol_names();
[[nodiscard]] std::string_view to_string(Protocol protocol);
/// Throws Error naming the text and the protocols there are.
[[nodiscard]] Protocol parse_protocol(std::string_view text);

}  // namespace jitgemm
