#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace jitgemm {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };
inline constexpr std::array<std::string_view, 6> kLogLevelNames{"trace", "debug", "info", "warning", "error", "off"};

/// The library's own log, on stderr: "jitgemm: warning: ...". log.cpp alone includes spdlog, whose headers take seconds
/// to compile.
class Log {
public:
    template <typename... Values>
    void debug(fmt::format_string<Values...> text, const Values&... values) const {
        write(LogLevel::debug, text, fmt::make_format_args(values...));
    }
    template <typename... Values>
    void info(fmt::format_string<Values...> text, const Values&... values) const {
        write(LogLevel::info, text, fmt::make_format_args(values...));
    }
    template <typename... Values>
    void warn(fmt::format_string<Values...> text, const Values&... values) const {
        write(LogLevel::warning, text, fmt::make_format_args(values...));
    }
    template <typename... Values>
    void error(fmt::format_string<Values...> text, const Values&... values) const {
        write(LogLevel::error, text, fmt::make_format_args(values...));
    }

private:
    static void write(LogLevel level, fmt::string_view text, fmt::format_args values);
};

/// There is one level per process, "warning" at first. The log lives as long as the process, so destructors of static
/// objects may use it.
[[nodiscard]] constexpr Log log() { return {}; }

/// One of kLogLevelNames.
[[nodiscard]] std::string_view log_level();
/// Sets the level to one of kLogLevelNames; "" changes nothing. Throws Error with the levels for any other text.
void set_log_level(std::string_view level);

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
