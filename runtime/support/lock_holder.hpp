#pragma once

#include <string>

namespace jitgemm {

/// The holder of a file's lock, for people: "process 4242 (python3), which is stopped", or "another process" if the
/// system does not tell.
[[nodiscard]] std::string lock_holder(const std::string& path);

}  // namespace jitgemm
