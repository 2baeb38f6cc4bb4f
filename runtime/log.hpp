#pragma once

#include "runtime/jitgemm.hpp"

#include <spdlog/logger.h>

namespace jitgemm {

/// The library's own logger, on stderr; "jitgemm: warning: ...". It is not in spdlog's registry, so that a program which uses
/// spdlog itself keeps its settings.
[[nodiscard]] spdlog::logger& logger();

/// Sets the level from `options.log_level`. Throws Error naming the known levels.
void set_up_log(const Options& options);

}  // namespace jitgemm
