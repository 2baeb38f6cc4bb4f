// The tool's own measuring worker, on the emulator: nothing of it is scripted.

#include "generator/heuristics.hpp"
#include "runtime/tuning/sweep/compile_pool.hpp"
#include "runtime/tuning/workers/measuring_process.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tool.hpp"
#include "tests/support/tool_worker.hpp"
#include "tests/support/tuning_records.hpp"

#include <fmt/format.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;

namespace {

constexpr const char* kDevice = "emulator:sm_80";

GemmSpec tiny_spec() { return resolved(parse_shape_line("bf16 tn 64 48 96")); }
std::string tiny_kernel() { return heuristic_kernel(tiny_spec(), typical_gpu(find_arch("sm_80"))); }

}  // namespace

TEST_CASE("a measuring worker verifies and times a kernel on the emulator") {
    const TemporaryFolder folder;
    const GemmSpec spec = tiny_spec();
    const std::string kernel = tiny_kernel();
    const WorkerCommand command = tool_worker(folder / "cache", kDevice);
    CompilePool pool({command, 1, 60s});
    const CompileOutcome compiled = pool.compile({spec, kernel, "sm_80", true}).get();
    INFO(compiled.message);
    REQUIRE(compiled.verdict == Verdict::fine);

    MeasuringProcess device({command, 30s});
    CHECK(device.facts().emulator);
    CHECK(device.facts().model.arch->name == "sm_80");
    CHECK(device_class(device.facts()) == "emulator-sm_80");
    const VerifyOutcome verified = device.verify({spec, kernel, 1.0F, 0.0F});
    INFO(verified.message);
    REQUIRE(verified.verdict == Verdict::fine);

    TimeJob job;
    job.spec = spec;
    job.kernels = {kernel};
    job.first_rounds = {2};
    job.rounds = 3;
    std::vector<TimedSample> samples;
    const TimeOutcome outcome =
        device.time(job, {.on_sample = [&](const TimedSample& sample) { samples.push_back(sample); }});
    REQUIRE(outcome.verdict == Verdict::fine);
    REQUIRE(samples.size() == 3);
    CHECK(samples.back().sample.round == 4);

    // `run` estimates the same time for the same kernel.
    const auto row = Tool().json(fmt::format("run bf16 tn 64 48 96 --device {} --kernel {}", kDevice, kernel), 0);
    for (const TimedSample& sample : samples) CHECK(sample.sample.us == row.at("microseconds").get<double>());
    CHECK(device.children() == 1);
}

TEST_CASE("work that the emulator will not do is unfit, and no child dies of it") {
    const TemporaryFolder folder;
    WorkerCommand command = tool_worker(folder / "cache", kDevice);
    command.options.emulator_gflop = 1e-6;
    MeasuringProcess device({command, 30s});
    const VerifyOutcome outcome = device.verify({tiny_spec(), tiny_kernel(), 1.0F, 0.0F});
    CHECK(outcome.verdict == Verdict::unfit);
    CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("limit"));
    CHECK(device.children() == 1);
}

TEST_CASE("a name that is no kernel is unfit, and the next call works") {
    const TemporaryFolder folder;
    MeasuringProcess device({tool_worker(folder / "cache", kDevice), 30s});
    const VerifyOutcome nonsense = device.verify({tiny_spec(), "no_such_kernel", 1.0F, 0.0F});
    CHECK(nonsense.verdict == Verdict::unfit);
    CHECK_THAT(nonsense.message, Catch::Matchers::ContainsSubstring("no_such_kernel"));
    CHECK(device.verify({tiny_spec(), tiny_kernel(), 1.0F, 0.0F}).verdict == Verdict::fine);
}
