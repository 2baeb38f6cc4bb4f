#pragma once

#include "runtime/support/own_spdlog.hpp"

#include <spdlog/logger.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace jitgemm {

/// The library's own logger, on stderr: "jitgemm: warning: ...". It is not in spdlog's registry, so that a program
/// which uses spdlog itself keeps its settings. Its level is that of the process, "warning" at first. It may be used as
/// long as the process lives, by destructors of static objects too.
[[nodiscard]] spdlog::logger& log();

inline constexpr std::array<std::string_view, 6> kLogLevelNames{"trace", "debug", "info", "warning", "error", "off"};
/// One of these; "" leaves it. Throws Error naming them for any other.
void set_log_level(std::string_view level);

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };
/// Told each message in place of stderr, one at a time, from any thread.
using LogListener = std::function<void(LogLevel level, const std::string& message)>;

/// Empty: stderr again. When it returns, the listener before is not running and not called any more. What is logged
/// while a listener is told, by its thread, is dropped. Throws Error within a listener.
void set_log_listener(LogListener listener);

/// Around a fork, by the thread that forks: no other thread logs in between. Where one can't be waited for, as it is
/// within a listener, the child leaves the lock to it and takes a new one.
void hold_log();
void release_log(bool in_child);

}  // namespace jitgemm
