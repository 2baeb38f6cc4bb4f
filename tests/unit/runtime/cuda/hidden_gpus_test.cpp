#if defined(JITGEMM_TOOL) && defined(JITGEMM_FAKE_DRIVER)

#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

/// \file A driver that sees no GPU is no missing driver: every message about it names what hides the GPUs.

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string with_driver(const std::string& visible) {
    return "env " + visible + " LD_LIBRARY_PATH='" JITGEMM_FAKE_DRIVER "'";
}

nlohmann::json check_called(const nlohmann::json& doctor, const std::string& name) {
    const auto& checks = doctor.at("checks");
    return *std::ranges::find_if(checks, [&](const nlohmann::json& check) { return check.at("name") == name; });
}

}  // namespace

TEST_CASE("the tool: GPUs that CUDA_VISIBLE_DEVICES hides are told with its value, by every verb that looks for one") {
    const Tool tool;
    const std::string value = GENERATE("", "7", "-1");
    const std::string settings = with_driver("CUDA_VISIBLE_DEVICES=" + value);
    const auto names_the_value = ContainsSubstring("CUDA_VISIBLE_DEVICES is '" + value + "'");
    INFO(value);

    const auto doctor = tool.json("doctor", 1, settings);
    CHECK(doctor.at("driver").at("found") == true);
    CHECK(doctor.at("driver").at("cuda_version") == 130);
    CHECK(check_called(doctor, "driver").at("ok") == true);
    CHECK_THAT(check_called(doctor, "gpu").at("detail").get<std::string>(), names_the_value);

    CHECK_THAT(tool.run("run f16 tn 8 8 8 --emulator-limit 1e-9", settings).err, names_the_value);
    CHECK_THAT(tool.run("run f16 tn 8 8 8 --device cuda", settings).err, names_the_value);
    CHECK_THAT(tool.run("tune f16 tn 8 8 8 --devices all", settings).err, names_the_value);
}

TEST_CASE("the tool: where no variable hides GPUs, none is named") {
    const Tool tool;
    const ToolResult run = tool.run("run f16 tn 8 8 8 --emulator-limit 1e-9", with_driver("-u CUDA_VISIBLE_DEVICES"));
    CHECK_THAT(run.err, ContainsSubstring("the driver sees no GPU"));
    CHECK(run.err.find("CUDA_VISIBLE_DEVICES") == std::string::npos);
}

#endif
