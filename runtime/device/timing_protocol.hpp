#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jitgemm {

/// The contents of the caches when a kernel is timed. `steady`: the data of the previous launch, in a graph of launches
/// over rotating copies of the operands. `cold`: nothing. `sustained`: as steady, but each candidate runs alone for a
/// while. If power is the limit, steady rounds of a few ms compare cycles, because all candidates run at one clock;
/// sustained ones compare energy.
enum class Protocol : std::uint8_t { steady, cold, sustained };

[[nodiscard]] std::span<const std::string_view> protocol_names();
[[nodiscard]] std::string_view to_string(Protocol protocol);
/// Throws Error with the text and the known protocols.
[[nodiscard]] Protocol parse_protocol(std::string_view text);

}  // namespace jitgemm
