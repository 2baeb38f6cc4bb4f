#ifdef JITGEMM_TOOL

/// The emulator's counters agree with Nsight Compute's for the same kernels on an H200 (docs/emulator-counters.md).

#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <string>

using namespace jitgemm::testing;
using nlohmann::json;

namespace {

json recorded() { return json::parse(std::ifstream(JITGEMM_SOURCE_DIR "/tests/data/emulator/ncu_h200.json")); }

}  // namespace

TEST_CASE("emulated counters are those Nsight Compute recorded on an H200") {
    const Tool tool;
    const json data = recorded();
    const std::string device = " --device emulator:" + data.at("arch").get<std::string>();
    REQUIRE(data.at("kernels").size() == 6);
    for (const json& kernel : data.at("kernels")) {
        const std::string problem = kernel.at("problem");
        const std::string name = kernel.at("kernel");
        INFO(problem << '\n' << name);
        const json profile = tool.json("run " + problem + " --kernel " + name + device + " --profile", 0).at("profile");
        REQUIRE(kernel.at("figures").size() >= 14);
        for (const json& figure : kernel.at("figures")) {
            const std::string field = figure.at("field");
            INFO(field << ", ncu: " << figure.at("metric"));
            CHECK(profile.at(json::json_pointer(field)) == figure.at("value").get<std::int64_t>());
        }
    }
}

#endif
