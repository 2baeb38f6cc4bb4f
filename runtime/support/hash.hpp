#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// XXH3-128 as 32 hexadecimal digits, the same on every machine. It is for keys and checksums, not for secrets.
[[nodiscard]] std::string hash_hex(std::string_view data);

}  // namespace jitgemm
