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

/// How rows are divided among groups where nobody has offsets. uniform: evenly. random: by random shares; a third of
/// them is empty. skewed: by Zipf's law, the n-th largest group having 1/n of the largest one's rows, in random order.
enum class GroupSizes : std::uint8_t { uniform, random, skewed };
[[nodiscard]] std::string_view to_string(GroupSizes sizes);
/// Throws Error with the text and the known words.
[[nodiscard]] GroupSizes parse_group_sizes(std::string_view name);

}  // namespace jitgemm
