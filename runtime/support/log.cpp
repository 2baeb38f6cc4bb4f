#include "runtime/support/log.hpp"

#include "jitgemm/error.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <array>
#include <string_view>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 6> kLevels{{
    {"trace", spdlog::level::trace},
    {"debug", spdlog::level::debug},
    {"info", spdlog::level::info},
    {"warning", spdlog::level::warn},
    {"error", spdlog::level::err},
    {"off", spdlog::level::off},
}};

spdlog::logger make_logger() {
    spdlog::logger made("jitgemm", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made.set_pattern("%n: %^%l%$: %v");
    made.set_level(spdlog::level::warn);
    return made;
}

spdlog::level::level_enum level_of(std::string_view name) {
    std::string known;
    for (const auto& [level_name, level] : kLevels) {
        if (level_name == name) return level;
        known.append(known.empty() ? "" : ", ").append(level_name);
    }
    throw Error("unknown log level '" + std::string(name) + "': known are " + known);
}

}  // namespace

spdlog::logger& log() {
    // Never destroyed: an object with static storage that was made before it may log as the process ends.
    static spdlog::logger& instance = *new spdlog::logger(make_logger());
    return instance;
}

void set_log_level(std::string_view level) {
    if (!level.empty()) log().set_level(level_of(level));
}

}  // namespace jitgemm
