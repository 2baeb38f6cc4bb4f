#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm::cli {

/// "812 B", "3.4 KB", "78.2 MB": powers of 1024.
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// 524288000 for "500M": bytes, or K, M, G, T with or without a B, in powers of 1024. Throws UsageError with the
/// option.
[[nodiscard]] std::int64_t parse_size(std::string_view option, std::string_view text);

/// The meaning of a bare number such as "90": seconds, or an error if users would think of days.
enum class BareNumber { seconds, refused };

/// "90", "90s", "5m", "1.5h" or "1h30m10s" in seconds, above 0. Throws UsageError.
[[nodiscard]] double parse_duration(std::string_view option, std::string_view text,
                                    BareNumber bare = BareNumber::seconds);

}  // namespace jitgemm::cli
