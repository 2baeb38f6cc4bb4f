#pragma once

#include "runtime/support/log.hpp"

#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

namespace jitgemm::testing {

/// What the library says while the object lives, in place of stderr; level "warning" unless told.
class CapturedLog {
public:
    explicit CapturedLog(const std::string& level = "warning") : old_sinks_(log().sinks()), old_level_(log().level()) {
        const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_);
        sink->set_pattern("%l: %v");
        log().sinks() = {sink};
        set_log_level(level);
    }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;
    ~CapturedLog() {
        log().sinks() = old_sinks_;
        log().set_level(old_level_);
    }

    [[nodiscard]] std::string text() const { return stream_.str(); }
    [[nodiscard]] int lines_with(const std::string& words) const {
        std::istringstream lines(text());
        int count = 0;
        for (std::string line; std::getline(lines, line);) count += line.find(words) != std::string::npos ? 1 : 0;
        return count;
    }

private:
    std::ostringstream stream_;
    std::vector<spdlog::sink_ptr> old_sinks_;
    spdlog::level::level_enum old_level_;
};

}  // namespace jitgemm::testing
