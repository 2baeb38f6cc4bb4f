#pragma once

#include <string_view>

namespace jitgemm::cli {

/// "90", "90s", "5m", "1.5h" or "1h30m10s" in seconds; more than 0. Throws UsageError.
[[nodiscard]] double parse_duration(std::string_view option, std::string_view text);

}  // namespace jitgemm::cli
