#pragma once

#include "runtime/support/own_spdlog.hpp"

#include <spdlog/logger.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace jitgemm {

/// The library's own logger, on stderr: "jitgemm: warning: ...". It is not in spdlog's registry, so a program that uses
/// spdlog itself keeps its settings. There is one level per process, "warning" at first. The logger lives as long as
/// the process, so destructors of static objects may use it.
[[nodiscard]] spdlog::logger& log();

inline constexpr std::array<std::string_view, 6> kLogLevelNames{"trace", "debug", "info", "warning", "error", "off"};
/// Sets the level to one of these; "" changes nothing. Throws Error with the levels for any other text.
void set_log_level(std::string_view level);

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };
/// Receives each message in place of stderr, one at a time, from any thread.
using LogListener = std::function<void(LogLevel level, const std::string& message)>;

/// An empty listener means stderr. After the return, the previous listener is not running and is not called again.
/// Messages that a thread logs inside its listener are dropped. Throws Error within a listener.
void set_log_listener(LogListener listener);

/// The forking thread calls these around a fork: no other thread logs in between. If it cannot wait for another thread,
/// because it is within a listener, the child leaves the lock to that thread and takes a new one.
void hold_log();
void release_log(bool in_child);

}  // namespace jitgemm
