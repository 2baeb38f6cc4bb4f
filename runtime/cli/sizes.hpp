#pragma once

#include <cstdint>
#include <string>

namespace jitgemm::cli {

/// "812 B", "3.4 KB", "78.2 MB": powers of 1024.
[[nodiscard]] std::string size_text(std::int64_t bytes);

}  // namespace jitgemm::cli
