#pragma once

#include "runtime/device/timing_protocol.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace jitgemm::cli {

/// The sizes of groups that are timed: "random", or "random:5" with a seed.
struct GroupDraw {
    GroupSizes sizes = GroupSizes::uniform;
    std::optional<std::uint64_t> seed = std::nullopt;
};

/// `name` is that of the option or key. Throws UsageError with the text and the known words.
[[nodiscard]] GroupDraw parse_group_draw(std::string_view name, std::string_view text);

}  // namespace jitgemm::cli
