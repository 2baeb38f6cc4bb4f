#include "runtime/cli/ladder/report.hpp"

#include "runtime/cli/ladder/climb.hpp"
#include "tests/catch.hpp"
#include "tests/support/ladder_reports.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

using namespace jitgemm;
using namespace jitgemm::cli;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kFlops = 2.0 * 4096 * 4096 * 4096;

std::string text_of(const LadderReport& report) {
    std::string text = ladder_heading(report);
    for (std::size_t i = 0; i < report.rungs.size(); ++i) text += ladder_row(report, i);
    return text + ladder_footing(report);
}

}  // namespace

TEST_CASE("ladder report: figures follow from times, bytes and the device's peak") {
    const LadderReport report = made_up_ladder();
    const RungReport& naive = report.rungs[1];
    REQUIRE(tflops_of(report, naive).value() == Approx(kFlops / 27487.790694e-6 / 1e12));
    REQUIRE(tflops_of(report, naive).value() == Approx(5.0));
    REQUIRE(share_of_peer(naive).value() == Approx(0.01));
    REQUIRE(kernel_intensity(report, naive).value() == Approx(1.0));
    REQUIRE(kernel_intensity(report, report.rungs[3]).value() == Approx(64.0));

    // Each against the peak of its own math unit: 2 · lanes · SMs · clock.
    const GpuModel& gpu = report.gpu;
    const double clock = gpu.sm_count * gpu.clock_mhz * 1e6;
    REQUIRE(share_of_peak(report, naive).value() == Approx(5e12 / (fma_flops_per_clock(*gpu.arch) * clock)));
    REQUIRE(
        share_of_peak(report, report.rungs[3]).value() ==
        Approx(400e12 / (flops_per_clock(*gpu.arch, MathInstruction::wgmma, DataType::f16, DataType::f32) * clock)));
    REQUIRE_FALSE(share_of_peak(report, report.rungs[0]).has_value());  // a CPU has another peak
    REQUIRE_FALSE(tflops_of(report, report.rungs[2]).has_value());
}

TEST_CASE("ladder report: as text, what is extrapolated, refused or the same is said") {
    const std::string text = text_of(made_up_ladder());
    REQUIRE_THAT(text, ContainsSubstring("f16 tt 4096 4096 4096 on NVIDIA <H200> (sm_90a)"));
    REQUIRE_THAT(text, ContainsSubstring("cuBLASLt's best: 274.88 us, 500.00 TFLOP/s (algorithm 7)"));
    REQUIRE_THAT(text, ContainsSubstring("~137438953 "));
    REQUIRE_THAT(text, ContainsSubstring("~ extrapolated"));
    REQUIRE_THAT(text, ContainsSubstring("1.0 %") && ContainsSubstring("80.0 %") && ContainsSubstring("1.50x"));
    REQUIRE_THAT(text, ContainsSubstring("all of K                  refused\n"));
    REQUIRE_THAT(text, ContainsSubstring("    the panels take 655360 bytes\n    and more\n"));
    REQUIRE_THAT(text, ContainsSubstring("It is the kernel of rung 3."));
    REQUIRE_THAT(text, !ContainsSubstring("interrupted"));
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        REQUIRE(end - begin <= 120);
        begin = end + 1;
    }
}

TEST_CASE("ladder report: an emulator's shows counts, not times") {
    const std::string text = text_of(made_up_counts());
    REQUIRE_THAT(text, ContainsSubstring("counts of one launch in place of times"));
    REQUIRE_THAT(text, ContainsSubstring("instructions") && ContainsSubstring("33554432"));
    REQUIRE_THAT(text, !ContainsSubstring("TFLOP/s"));
}

TEST_CASE("ladder report: as JSON, every rung has every field, null where unknown") {
    const LadderReport report = made_up_ladder();
    const Json document = ladder_document(report);
    REQUIRE(document.at("interrupted") == false);
    REQUIRE(document.at("peer").at("microseconds") == 274.877906944);
    REQUIRE(document.at("rungs").size() == 5);
    std::vector<std::string> names;
    for (const auto& [name, value] : document.at("rungs").at(0).items()) names.push_back(name);
    for (const Json& rung : document.at("rungs")) {
        std::vector<std::string> own;
        for (const auto& [name, value] : rung.items()) own.push_back(name);
        REQUIRE(own == names);
    }
    const Json& cpu = document.at("rungs").at(0);
    REQUIRE(cpu.at("extrapolated") == true);
    REQUIRE(cpu.at("kernel").is_null());
    const Json& refused = document.at("rungs").at(2);
    REQUIRE(refused.at("status") == "refused");
    REQUIRE(refused.at("microseconds").is_null());
    REQUIRE(refused.at("reason") == "the panels take 655360 bytes\nand more");
    REQUIRE(document.at("rungs").at(3).at("bank_conflicts") == 1.5);
    REQUIRE(document.at("rungs").at(4).at("same_as") == 3);
    REQUIRE(document.at("rungs").at(1).at("share_of_peer").get<double>() == Approx(0.01));
}

TEST_CASE("ladder report: interrupted, it says so and holds what was measured") {
    LadderReport report = made_up_ladder();
    report.rungs.resize(2);
    report.interrupted = true;
    REQUIRE_THAT(ladder_footing(report), ContainsSubstring("interrupted"));
    REQUIRE(ladder_document(report).at("interrupted") == true);
    REQUIRE(ladder_document(report).at("rungs").size() == 2);
}

TEST_CASE("ladder climb: rounds fit into the time a rung may take, and the slowest get a single launch") {
    REQUIRE(rounds_within_budget(100, 2, 15) == 15);
    REQUIRE(rounds_within_budget(100e3, 2, 15) == 4);   // 0.2 s per replay: 3 to warm up, 4 to measure
    REQUIRE_FALSE(rounds_within_budget(270e3, 2, 15));  // 0.54 s per replay
    REQUIRE_FALSE(rounds_within_budget(5e6, 1, 15));
    REQUIRE(rounds_within_budget(1, 1, 1) == 1);
    for (const double launch_us : {1.0, 1e3, 5e4, 1e5}) {
        const auto rounds = rounds_within_budget(launch_us, 3, 15);
        if (rounds) REQUIRE((*rounds + 3) * 3 * launch_us <= 1.5e6);
    }
}
