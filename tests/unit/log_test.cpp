#include "runtime/log.hpp"

#include "generator/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"

#include <spdlog/spdlog.h>

using namespace jitgemm;

TEST_CASE("the log says what its level lets through") {
    const testing::CapturedLog captured("warning");
    log().info("unheard");
    log().warn("heard");
    CHECK(captured.text() == "warning: heard\n");
    set_log_level("info");
    log().info("heard now");
    CHECK(captured.lines_with("heard now") == 1);
    set_log_level("off");
    log().error("unheard");
    CHECK(captured.lines_with("unheard") == 0);
}

TEST_CASE("an unknown log level names the known ones") {
    CHECK_THROWS_WITH(set_log_level("loud"),
                      "unknown log level 'loud': known are trace, debug, info, warning, error, off");
}

TEST_CASE("the logger is not in spdlog's registry") { CHECK(spdlog::get("jitgemm") == nullptr); }
