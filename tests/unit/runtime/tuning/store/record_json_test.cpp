#include "runtime/tuning/store/record_json.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"

#include <nlohmann/json.hpp>

#include <limits>

using namespace jitgemm;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

Trial finished_trial() {
    Trial trial;
    trial.kernel = "kernel_one";
    trial.predicted_us = 12.5;
    trial.compile = CompileOutcome{Verdict::fine, "", 41.25, 168, 0, {"(C7510) note"}, "abc"};
    trial.verified = VerifyOutcome{Verdict::fine, "exact"};
    const DeviceReading reading{1755, 2619, 690.5, 61, std::numeric_limits<std::uint64_t>::max()};
    trial.samples = {{0, 0.1, reading, reading}, {1, 1.0 / 3, reading, {}}};
    return trial;
}

Winner winner_of(const GemmSpec& spec) {
    return {.device_class = "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz",
            .spec = resolved(spec),
            .kernel = "kernel_one",
            .median_us = 10.5,
            .low_us = 10.25,
            .high_us = 10.75,
            .heuristic_kernel = "kernel_two",
            .heuristic_us = 12,
            .cublaslt_us = 11,
            .protocol = Protocol::cold,
            .hot = true,
            .narrowed = "family=simt_naive",
            .complete = true,
            .candidates_timed = 60,
            .versions = {"0.1.0", "ffee", 130, 130},
            .device_name = "NVIDIA H200",
            .unix_time = 1'700'000'000};
}

}  // namespace

TEST_CASE("a trial survives its JSON, on one line") {
    const Trial trial = finished_trial();
    const std::string line = json_line(trial);
    REQUIRE(line.find('\n') == std::string::npos);
    const auto back = parse_json(line).get<Trial>();
    REQUIRE(back.kernel == "kernel_one");
    REQUIRE(back.compile->registers == 168);
    REQUIRE(back.compile->warnings == trial.compile->warnings);
    REQUIRE(back.verified->message == "exact");
    REQUIRE(back.times_us() == trial.times_us());  // bit for bit
    REQUIRE(back.samples[0].before.throttle == std::numeric_limits<std::uint64_t>::max());
    REQUIRE(json_line(back) == line);
}

TEST_CASE("what is not known yet is null") {
    const Json json = Trial{};
    REQUIRE(json.at("compile").is_null());
    REQUIRE_FALSE(json.get<Trial>().compile.has_value());
}

TEST_CASE("a winner's spec and protocol are words") {
    const Winner winner = winner_of({.m = 4096, .n = 512, .k = 64, .c = DataType::bf16});
    const Json json = winner;
    REQUIRE(json.at("spec") == to_string(winner.spec));
    REQUIRE(json.at("protocol") == "cold");
    const auto back = json.get<Winner>();
    REQUIRE(back.spec == winner.spec);
    REQUIRE(back.versions == winner.versions);
    REQUIRE(back.hot);
    REQUIRE(back.narrowed == "family=simt_naive");
    REQUIRE(json_line(back) == json_line(winner));
}

TEST_CASE("device facts name their architecture") {
    const DeviceFacts facts{find_gpu("h200"), 3, std::size_t{141} << 30U, false, {"0.1.0", "t", 130, 130}};
    const auto back = Json(facts).get<DeviceFacts>();
    REQUIRE(back.model.arch == facts.model.arch);
    REQUIRE(back.model.dram_bytes_per_second == facts.model.dram_bytes_per_second);
    REQUIRE(back.ordinal == 3);
    REQUIRE(device_class(back) == device_class(facts));
}

TEST_CASE("an error names the field") {
    Json json = finished_trial();
    SECTION("that is missing") {
        json["samples"][1]["before"].erase("power_watts");
        REQUIRE_THROWS_WITH(json.get<Trial>(), "samples[1].before.power_watts is missing");
    }
    SECTION("of another type") {
        json["samples"][0]["us"] = "fast";
        REQUIRE_THROWS_WITH(json.get<Trial>(), "samples[0].us is \"fast\": expected a number");
    }
    SECTION("out of range") {
        json["compile"]["registers"] = 5'000'000'000;
        REQUIRE_THROWS_WITH(json.get<Trial>(), jitgemm::testing::Says("compile.registers", "5000000000", "expected"));
    }
    SECTION("with a fraction where none can be") {
        json["samples"][0]["round"] = 0.5;
        REQUIRE_THROWS_WITH(json.get<Trial>(), ContainsSubstring("samples[0].round is 0.5"));
    }
    SECTION("that holds an unknown word") {
        json["verified"]["verdict"] = "fin";
        REQUIRE_THROWS_WITH(json.get<Trial>(), jitgemm::testing::Says("verified.verdict", "unknown", "'fin'") &&
                                                   jitgemm::testing::Says("did you mean", "'fine'"));
    }
    SECTION("with an unsound spec") {
        Json winner = winner_of({.m = 1, .n = 1, .k = 1});
        winner["spec"] = "gemm-v1 m=x";
        REQUIRE_THROWS_WITH(winner.get<Winner>(), ContainsSubstring("spec: "));
    }
    SECTION("or that it is no object at all") {
        REQUIRE_THROWS_WITH(Json(3).get<Trial>(), jitgemm::testing::Says("3", "expected"));
    }
}

TEST_CASE("what a newer program adds is passed over") {
    Json json = finished_trial();
    json["mood"] = "good";
    REQUIRE(json.get<Trial>().kernel == "kernel_one");
}

TEST_CASE("a compiler's bytes that are no UTF-8 do not stop a report") {
    const std::string line = json_line(VerifyOutcome{Verdict::crashed, "\xff oops"});
    REQUIRE(parse_json(line).get<VerifyOutcome>().message.ends_with(" oops"));
}

TEST_CASE("a trial's verdict is the first thing that went wrong") {
    Trial trial = finished_trial();
    REQUIRE(trial.verdict() == Verdict::fine);
    trial.verified->verdict = Verdict::wrong;
    trial.verified->message = "D(3, 4)";
    REQUIRE(trial.verdict() == Verdict::wrong);
    REQUIRE(trial.message() == "D(3, 4)");
    trial.same_as = "kernel_zero";
    REQUIRE(trial.verdict() == Verdict::same_code);
    trial.compile->verdict = Verdict::compile_timeout;
    REQUIRE(trial.verdict() == Verdict::compile_timeout);
    REQUIRE(Trial{}.verdict() == Verdict::fine);
}

TEST_CASE("each verdict and protocol is a word that is read back") {
    for (int i = 0; i <= static_cast<int>(Verdict::unfit); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        REQUIRE(parse_verdict(to_string(verdict)) == verdict);
    }
    REQUIRE(parse_protocol("cold") == Protocol::cold);
    REQUIRE_THROWS_WITH(parse_protocol("stedy"), jitgemm::testing::Says("did you mean", "'steady'"));
}

TEST_CASE("a device class is what the device is, not what it is called") {
    DeviceFacts facts{find_gpu("h200"), 0, 150'754'820'096, false, {}};  // total memory as a driver tells it
    REQUIRE(device_class(facts) == "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz");
    facts.model.name = "another name";
    facts.model.clock_mhz = 1760;
    facts.memory_bytes -= 50'000'000;  // another driver keeps a little more for itself
    facts.ordinal = 5;
    facts.versions.driver = 130;
    REQUIRE(device_class(facts) == "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz");
    facts.model.sm_count = 114;
    REQUIRE(device_class(facts) == "sm_90a-114sm-60MB-140GB-4800GBs-1750MHz");
    facts.emulator = true;
    REQUIRE(device_class(facts) == "emulator-sm_90a");
}

TEST_CASE("a winner measured with other versions is stale") {
    const Winner winner = winner_of({.m = 1, .n = 1, .k = 1});
    Versions today = winner.versions;
    REQUIRE_FALSE(is_stale(winner, today));
    SECTION("library") { today.jitgemm = "0.2.0"; }
    SECTION("templates") { today.templates = "other"; }
    SECTION("NVRTC") { today.nvrtc = 131; }
    SECTION("driver") { today.driver = 131; }
    REQUIRE(is_stale(winner, today));
}

TEST_CASE("a winner of another build of NVRTC is stale, unless no NVRTC is known today") {
    Winner winner = winner_of({.m = 1, .n = 1, .k = 1});
    const std::string templates = winner.versions.templates;
    winner.versions.templates = templates + "-0a";
    Versions today = winner.versions;
    REQUIRE_FALSE(is_stale(winner, today));
    today.templates = templates + "-0b";
    REQUIRE(is_stale(winner, today));
    today.templates = templates;
    today.nvrtc = 0;
    REQUIRE_FALSE(is_stale(winner, today));
    today.templates = "other";
    REQUIRE(is_stale(winner, today));
}
