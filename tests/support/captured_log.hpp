#pragma once

#include "runtime/support/log.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace jitgemm::testing {

/// Captures the library's log, in place of stderr, while the object lives. The level is "warning" by default.
class CapturedLog {
public:
    explicit CapturedLog(std::string_view level = "warning") : old_level_(log_level()) {
        set_log_level(level);
        set_log_listener([this](LogLevel of, const std::string& message) {
            const std::scoped_lock lock(mutex_);
            text_ += std::string(kLogLevelNames[static_cast<std::size_t>(of)]) + ": " + message + '\n';
        });
    }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;
    ~CapturedLog() {
        set_log_listener({});
        set_log_level(old_level_);
    }

    [[nodiscard]] std::string text() const {
        const std::scoped_lock lock(mutex_);
        return text_;
    }
    [[nodiscard]] int lines_with(std::string_view words) const {
        const std::string all = text();
        int count = 0;
        for (std::size_t begin = 0, end = 0; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1)
            count += all.substr(begin, end - begin).find(words) != std::string::npos ? 1 : 0;
        return count;
    }

private:
    std::string_view old_level_;
    mutable std::mutex mutex_;
    std::string text_;
};

}  // namespace jitgemm::testing
