#include "runtime/support/log.hpp"

#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/fork.hpp"

// spdlog is the only library that we compile in whose namespace has no version. An application with another spdlog
// would otherwise share our symbols under its own names.
#define spdlog jitgemm_spdlog  // NOLINT(readability-identifier-naming): the namespace's own name

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::array<spdlog::level::level_enum, kLogLevelNames.size()> kLevels{
    spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
    spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};

thread_local bool telling = false;  // this thread is within a listener
thread_local bool holding = false;  // this thread forks and has the sink's lock

/// stderr, until there is a listener.
class ListenerSink final : public spdlog::sinks::sink {
public:
    void log(const spdlog::details::log_msg& message) override {
        if (telling) return;
        const ForkPause pause;
        const std::lock_guard lock(*mutex_);
        if (!listener_) return stderr_.log(message);
        const Telling now;
        listener_(level_of(message.level), std::string(message.payload.data(), message.payload.size()));
    }
    void flush() override {
        const std::lock_guard lock(*mutex_);
        stderr_.flush();
    }
    void set_pattern(const std::string& pattern) override {
        const std::lock_guard lock(*mutex_);
        stderr_.set_pattern(pattern);
    }
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        const std::lock_guard lock(*mutex_);
        stderr_.set_formatter(std::move(formatter));
    }
    void set_listener(LogListener listener) {
        if (telling) throw Error("a log callback cannot set another one while it runs");
        const std::lock_guard lock(*mutex_);
        listener_ = std::move(listener);
    }

    /// For at most kPatience. A std::timed_mutex would be unknown to g++ 12's thread sanitizer.
    void hold() {
        const auto deadline = std::chrono::steady_clock::now() + kPatience;
        holding = !telling && mutex_->try_lock();
        while (!telling && !holding && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(kBetweenTries);
            holding = mutex_->try_lock();
        }
    }
    void release(bool in_child) {
        if (std::exchange(holding, false))
            mutex_->unlock();
        else if (in_child && !telling)
            mutex_ = new std::mutex;
    }

private:
    struct Telling {
        Telling() { telling = true; }
        Telling(const Telling&) = delete;
        Telling& operator=(const Telling&) = delete;
        ~Telling() { telling = false; }
    };
    static LogLevel level_of(spdlog::level::level_enum level) {
        return static_cast<LogLevel>(std::min(static_cast<int>(level), static_cast<int>(LogLevel::error)));
    }

    static constexpr std::chrono::milliseconds kPatience{200};
    static constexpr std::chrono::milliseconds kBetweenTries{1};

    std::mutex* mutex_ = new std::mutex;  // guards listener_ and stderr_
    LogListener listener_;
    spdlog::sinks::stderr_color_sink_st stderr_;
};

const std::shared_ptr<ListenerSink>& listener_sink() {
    static const auto& sink = *new std::shared_ptr<ListenerSink>(std::make_shared<ListenerSink>());  // as logger()
    return sink;
}

spdlog::logger make_logger() {
    spdlog::logger made("jitgemm", listener_sink());
    made.set_pattern("%n: %^%l%$: %v");
    made.set_level(spdlog::level::warn);
    return made;
}

/// It is not in spdlog's registry, so a program that uses spdlog itself keeps its settings.
spdlog::logger& logger() {
    // Never destroyed: an object with static storage that was made before it may log as the process ends.
    static spdlog::logger& instance = *new spdlog::logger(make_logger());
    return instance;
}

spdlog::level::level_enum level_of(std::string_view name) {
    const auto* const found = std::ranges::find(kLogLevelNames, name);
    if (found == kLogLevelNames.end())
        throw Error("unknown log level '" + std::string(name) + "': known are " + join_names(kLogLevelNames));
    return kLevels[static_cast<std::size_t>(found - kLogLevelNames.begin())];
}

}  // namespace

void Log::write(LogLevel level, fmt::string_view text, fmt::format_args values) {
    const spdlog::level::level_enum of_spdlog = kLevels[static_cast<std::size_t>(level)];
    if (logger().should_log(of_spdlog)) logger().log(of_spdlog, fmt::vformat(text, values));
}

std::string_view log_level() {
    const auto* const found = std::ranges::find(kLevels, logger().level());
    return kLogLevelNames[static_cast<std::size_t>(found - kLevels.begin())];
}

void set_log_level(std::string_view level) {
    if (!level.empty()) logger().set_level(level_of(level));
}

void set_log_listener(LogListener listener) { listener_sink()->set_listener(std::move(listener)); }

void hold_log() { listener_sink()->hold(); }
void release_log(bool in_child) { listener_sink()->release(in_child); }

}  // namespace jitgemm
