// The tool's own workers on a GPU.

#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "runtime/tuning/sweep/compile_pool.hpp"
#include "runtime/tuning/workers/measuring_process.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tool_worker.hpp"

#include <algorithm>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;

namespace {

/// Some candidates of a problem, compiled for the device of the measuring worker.
struct Trials {
    explicit Trials(const char* shape) : spec(resolved(parse_shape_line(shape))) {}

    [[nodiscard]] std::vector<std::string> compile(const DeviceFacts& facts, std::size_t count) {
        command.newest_cuda_major = facts.versions.driver / 10;
        CompilePool pool({command, 0, 60s});
        std::vector<std::string> kernels;
        for (const Candidate& candidate : list_candidates(problem_of(spec), facts.model).accepted) {
            if (kernels.size() == count) break;
            kernels.push_back(kernel_name(problem_of(spec), candidate.config));
            const CompileOutcome outcome =
                pool.compile({spec, kernels.back(), std::string(facts.model.arch->name), false}).get();
            INFO(outcome.message);
            CHECK(outcome.verdict == Verdict::fine);
        }
        return kernels;
    }

    TemporaryFolder folder;
    GemmSpec spec;
    WorkerCommand command = tool_worker(folder / "cache", "cuda:0");
};

std::vector<double> times_of(const std::vector<TimedSample>& samples, std::size_t kernel) {
    std::vector<double> times;
    for (const TimedSample& sample : samples) {
        if (sample.kernel == kernel) times.push_back(sample.sample.us);
    }
    std::ranges::sort(times);
    return times;
}

}  // namespace

TEST_CASE("a measuring worker verifies and times kernels and cuBLASLt side by side", "[timing]") {
    REQUIRE_GPU();
    Trials trials("bf16 tn 1024 1000 512");
    MeasuringProcess device({trials.command, 30s});
    REQUIRE_FALSE(device.facts().emulator);
    CHECK(device.facts().versions.driver >= 120);
    TimeJob job;
    job.spec = trials.spec;
    job.kernels = trials.compile(device.facts(), 3);
    for (const std::string& kernel : job.kernels) {
        const VerifyOutcome outcome = device.verify({trials.spec, kernel, 1.0F, 0.0F});
        INFO(outcome.message);
        CHECK(outcome.verdict == Verdict::fine);
    }
    job.kernels.emplace_back(kCublasLt);
    job.first_rounds.assign(job.kernels.size(), 0);
    for (const Protocol protocol : {Protocol::steady, Protocol::cold}) {
        job.protocol = protocol;
        std::vector<TimedSample> samples;
        const TimeOutcome outcome =
            device.time(job, {.on_sample = [&](const TimedSample& sample) { samples.push_back(sample); }});
        INFO(outcome.message);
        REQUIRE(outcome.verdict == Verdict::fine);
        REQUIRE(samples.size() == job.kernels.size() * static_cast<std::size_t>(job.rounds));
        for (std::size_t i = 0; i < job.kernels.size(); ++i) {
            CHECK(times_of(samples, i).front() > 0.5);
            CHECK(times_of(samples, i)[1] < 10 * times_of(samples, 0)[1]);
        }
    }
    job.protocol = Protocol::steady;
    job.sustained = true;
    job.rounds = 1;
    std::vector<TimedSample> both;
    REQUIRE(device.time(job, {.on_sample = [&](const TimedSample& sample) { both.push_back(sample); }}).verdict ==
            Verdict::fine);
    REQUIRE(both.size() == job.kernels.size());
    for (const TimedSample& one : both) {
        CHECK(one.sample.sustained_us > one.sample.us / 2);
        CHECK(one.sample.sustained_us < one.sample.us * 2);
    }
    CHECK(device.children() == 1);
}

TEST_CASE("operands that do not fit are unfit, and the worker lives on", "[memory]") {
    REQUIRE_GPU();
    Trials trials("bf16 tn 512 512 512");
    MeasuringProcess device({trials.command, 30s});
    const std::vector<std::string> kernels = trials.compile(device.facts(), 1);
    const GemmSpec huge = resolved(parse_shape_line("bf16 tn 1048576 1048576 512"));  // D alone takes 2 TB
    CHECK(device.verify({huge, kernels.front(), 1.0F, 0.0F}).verdict == Verdict::unfit);
    CHECK(device.verify({trials.spec, kernels.front(), 1.0F, 0.0F}).verdict == Verdict::fine);
    CHECK(device.children() == 1);
}
