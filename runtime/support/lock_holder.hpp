#pragma once

#include <string>

namespace jitgemm {

/// Who holds the lock of a file, for people: "process 4242 (python3), which is stopped", or "another process" where the
/// system does not tell.
[[nodiscard]] std::string lock_holder(const std::string& path);

}  // namespace jitgemm
