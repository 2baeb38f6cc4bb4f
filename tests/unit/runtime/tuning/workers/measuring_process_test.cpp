#include "runtime/tuning/workers/measuring_process.hpp"

#include "jitgemm/error.hpp"
#include "runtime/bench/benchmark.hpp"
#include "runtime/tuning/sweep/compile_pool.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_sweep.hpp"

#include <fmt/format.h>

#include <csignal>
#include <functional>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

MeasuringOptions measuring_options(const FakeSweep& sweep, std::chrono::milliseconds patience = 30s) {
    return {sweep.command(), patience};
}

VerifyJob verify_job(const std::string& kernel) { return {small_spec(), kernel, 1.0F, 0.0F}; }

TimeJob time_job(const std::vector<std::string>& kernels, int rounds) {
    TimeJob job;
    job.spec = small_spec();
    job.kernels = kernels;
    job.first_rounds.assign(kernels.size(), 0);
    job.rounds = rounds;
    return job;
}

struct Timed {
    TimeOutcome outcome;
    std::vector<TimedSample> samples;  ///< those that count
    std::size_t in_ended_rounds = 0;   ///< of them
};

Timed time_all(MeasureService& device, const TimeJob& job) {
    Timed timed;
    const auto end_round = [&](const RoundEnd& end) {
        if (!end.counts) timed.samples.resize(timed.in_ended_rounds);
        timed.in_ended_rounds = timed.samples.size();
    };
    timed.outcome = device.time(
        job, {.on_sample = [&](const TimedSample& one) { timed.samples.push_back(one); }, .on_round_end = end_round});
    return timed;
}

/// A script that plants a fault in one step ("verify" or "time") of one kernel.
std::string planted(const std::string& kernel, const std::string& step, const std::string& fault) {
    return fmt::format(R"({{"kernels": [{{"name": "{}", "{}": "{}"}}]}})", kernel, step, fault);
}

}  // namespace

TEST_CASE("a measuring child says what it measures on") {
    const FakeSweep sweep(R"({"gpu": "h100"})");
    const MeasuringProcess device(measuring_options(sweep));
    CHECK(device.facts().model.name == "h100");
    CHECK(device.facts().model.sm_count == find_gpu("h100").sm_count);
    CHECK(device.facts().versions.nvrtc == 130);
    CHECK_FALSE(device.facts().emulator);
}

TEST_CASE("samples come in rounds, numbered from where each kernel stood") {
    const std::vector<std::string> kernels = some_kernels(3);
    const FakeSweep sweep(fmt::format(R"({{"noise": 0, "kernels": [{{"name": "{}", "time_us": 12.5}}]}})", kernels[1]));
    MeasuringProcess device(measuring_options(sweep));
    TimeJob job = time_job(kernels, 4);
    job.first_rounds = {0, 3, 7};
    const Timed timed = time_all(device, job);
    REQUIRE(timed.outcome.verdict == Verdict::fine);
    REQUIRE(timed.samples.size() == 12);
    std::set<std::pair<std::size_t, int>> seen;
    for (const TimedSample& sample : timed.samples) {
        CHECK(sample.sample.round - job.first_rounds[sample.kernel] < 4);
        CHECK(seen.emplace(sample.kernel, sample.sample.round).second);
        CHECK(sample.sample.before.power_watts == 500);
        if (sample.kernel == 1) CHECK(sample.sample.us == 12.5);
    }
}

TEST_CASE("the scripted device gives the same times again, and others with another seed") {
    const std::vector<std::string> kernels = some_kernels(2);
    const auto first_time = [&](const char* script) {
        const FakeSweep sweep(script);
        MeasuringProcess device(measuring_options(sweep));
        return time_all(device, time_job(kernels, 1)).samples.front().sample.us;
    };
    CHECK(first_time("{}") == first_time("{}"));
    CHECK(first_time("{}") != first_time(R"({"seed": 2})"));
}

TEST_CASE("each fault in a verification has its verdict, and the next call works") {
    const std::vector<std::string> kernels = some_kernels(2);
    struct Planted {
        const char* fault;
        Verdict verdict;
        const char* words;
        int children;  ///< that were needed in all
    };
    const auto planted_fault = GENERATE(
        Planted{"wrong", Verdict::wrong, "expected 1, got 2", 1}, Planted{"nan", Verdict::wrong, "got nan", 1},
        Planted{"unfit", Verdict::unfit, "OUT_OF_MEMORY", 1}, Planted{"abort", Verdict::crashed, "SIGABRT", 2},
        Planted{"segv", Verdict::crashed, "SIGSEGV", 2}, Planted{"exit", Verdict::crashed, "exit code 3", 2},
        Planted{"kill", Verdict::no_memory, "SIGKILL", 2}, Planted{"hang", Verdict::hung, "no answer within", 2});
    INFO(planted_fault.fault);
    const FakeSweep sweep(planted(kernels[0], "verify", planted_fault.fault));
    MeasuringProcess device(measuring_options(sweep, 1s));
    const VerifyOutcome outcome = device.verify(verify_job(kernels[0]));
    CHECK(outcome.verdict == planted_fault.verdict);
    CHECK_THAT(outcome.message, ContainsSubstring(planted_fault.words));
    CHECK(device.verify(verify_job(kernels[1])).verdict == Verdict::fine);
    CHECK(device.children() == planted_fault.children);
}

TEST_CASE("each fault in a timing names the culprit, and the next call works") {
    const std::vector<std::string> kernels = some_kernels(3);
    struct Planted {
        const char* fault;
        Verdict verdict;
    };
    const auto planted_fault = GENERATE(Planted{"unfit", Verdict::unfit}, Planted{"abort", Verdict::crashed},
                                        Planted{"kill", Verdict::no_memory}, Planted{"segv", Verdict::crashed},
                                        Planted{"exit", Verdict::crashed}, Planted{"hang", Verdict::hung});
    INFO(planted_fault.fault);
    const FakeSweep sweep(planted(kernels[1], "time", planted_fault.fault));
    MeasuringProcess device(measuring_options(sweep, 1s));
    const Timed timed = time_all(device, time_job(kernels, 3));
    CHECK(timed.outcome.verdict == planted_fault.verdict);
    CHECK(timed.outcome.culprit == 1);
    CHECK_FALSE(timed.outcome.message.empty());
    CHECK(timed.samples.size() <= 2);
    for (const TimedSample& sample : timed.samples) CHECK(sample.kernel != 1);
    const Timed others = time_all(device, time_job({kernels[0], kernels[2]}, 3));
    CHECK(others.outcome.verdict == Verdict::fine);
    CHECK(others.samples.size() == 6);
}

TEST_CASE("a crash leaves the samples of the turns before it in its round") {
    const std::vector<std::string> kernels = some_kernels(5);
    TimeJob job = time_job(kernels, 3);
    const std::vector<std::size_t> order = turns_of_round(0, kernels.size());
    const FakeSweep sweep(planted(kernels[order.back()], "time", "segv"));
    MeasuringProcess device(measuring_options(sweep));
    const Timed timed = time_all(device, job);
    CHECK(timed.outcome.verdict == Verdict::crashed);
    CHECK(timed.outcome.culprit == order.back());
    REQUIRE(timed.samples.size() == 4);
    CHECK(timed.in_ended_rounds == 0);
    for (std::size_t i = 0; i < timed.samples.size(); ++i) CHECK(timed.samples[i].kernel == order[i]);
}

TEST_CASE("a timing that is to stop ends after the turn under way, and the child goes on with the next job") {
    const std::vector<std::string> kernels = some_kernels(4);
    const FakeSweep sweep("{}");
    sweep.set_script(fmt::format(R"({{"turn_ms": 300, "log": "{}"}})", sweep.log()));
    MeasuringProcess device(measuring_options(sweep));
    int samples = 0;
    int ends = 0;
    std::chrono::steady_clock::time_point wished;
    TimingEvents events;
    events.on_sample = [&](const TimedSample&) { ++samples; };
    events.on_round_end = [&](const RoundEnd& end) { ends += end.counts ? 1 : 0; };
    events.stopped = [&] {
        const auto turns = sweep.executed().size();  // the second has begun
        if (turns == 2 && wished == std::chrono::steady_clock::time_point{}) wished = std::chrono::steady_clock::now();
        return turns >= 2;
    };
    const TimeOutcome outcome = device.time(time_job(kernels, 100), events);
    CHECK(outcome.verdict == Verdict::fine);
    CHECK(std::chrono::steady_clock::now() - wished < 60s);  // of 120 that it would have taken
    CHECK(sweep.executed().size() == 2);
    CHECK(samples == 2);
    CHECK(ends == 1);
    CHECK(time_all(device, time_job({kernels[0]}, 1)).samples.size() == 1);
    CHECK(device.children() == 1);
}

TEST_CASE("throttled rounds are measured again, and never counted twice") {
    const std::vector<std::string> kernels = some_kernels(2);
    const FakeSweep sweep(R"({"throttle": {"rounds": 2, "reasons": 64}})");
    MeasuringProcess device(measuring_options(sweep));
    const Timed timed = time_all(device, time_job(kernels, 3));
    CHECK(timed.outcome.verdict == Verdict::fine);
    CHECK(timed.outcome.repeated_rounds == 2);
    CHECK(timed.samples.size() == 6);
    for (const TimedSample& sample : timed.samples) CHECK(sample.sample.before.throttle == 0);
}

TEST_CASE("a listener that throws does not spoil the next call") {
    const std::vector<std::string> kernels = some_kernels(2);
    const FakeSweep sweep("{}");
    MeasuringProcess device(measuring_options(sweep));
    const TimingEvents full_disk{.on_sample = [](const TimedSample&) { throw Error("disk full"); }};
    CHECK_THROWS_WITH(device.time(time_job(kernels, 5), full_disk), "disk full");
    const Timed timed = time_all(device, time_job({kernels[1]}, 2));
    CHECK(timed.outcome.verdict == Verdict::fine);
    CHECK(timed.samples.size() == 2);
}

TEST_CASE("a slow start is waited for, a device that is not there is an error") {
    const FakeSweep slow(R"({"start_ms": 300})");
    MeasuringProcess device(measuring_options(slow, 100ms));
    CHECK(device.verify(verify_job(some_kernels(1).front())).verdict == Verdict::fine);
    const FakeSweep none(R"({"gpu": "h2000"})");
    CHECK_THROWS_WITH(MeasuringProcess(measuring_options(none)), ContainsSubstring("h2000"));
}

TEST_CASE("time in which all processes of a sweep are stopped is no kernel's time", "[heavy]") {
    const std::string kernel = some_kernels(1).front();
    const FakeSweep sweep("{}");
    sweep.set_script(fmt::format(R"({{"turn_ms": 800, "compile_ms": 800, "log": "{}"}})", sweep.log()));
    const auto measure = [&] {
        MeasuringProcess device(measuring_options(sweep, 1500ms));
        return device.verify(verify_job(kernel)).verdict;
    };
    const auto compile = [&] {
        CompilePool pool({sweep.command(), 1, 1500ms});
        return pool.compile({small_spec(), kernel, "sm_90a", false}).get().verdict;
    };
    const auto stopped_meanwhile = [&](const std::function<Verdict()>& work) {
        const std::size_t before = sweep.executed().size();
        const pid_t group = ::fork();
        if (group == 0) {
            ::setpgid(0, 0);
            ::_exit(static_cast<int>(work()));
        }
        for (int i = 0; i < 1000 && sweep.executed().size() == before; ++i) std::this_thread::sleep_for(10ms);
        ::kill(-group, SIGSTOP);
        std::this_thread::sleep_for(2s);
        ::kill(-group, SIGCONT);
        int status = 0;
        ::waitpid(group, &status, 0);
        return WIFEXITED(status) ? static_cast<Verdict>(WEXITSTATUS(status)) : Verdict::crashed;
    };
    CHECK(stopped_meanwhile(measure) == Verdict::fine);
    CHECK(stopped_meanwhile(compile) == Verdict::fine);
}

TEST_CASE("the watchdog grows with the problem") {
    const GemmSpec small = resolved(parse_shape_line("bf16 tn 64 64 64"));
    const GemmSpec large = resolved(parse_shape_line("bf16 tn 8192 8192 8192"));
    CHECK(watchdog(30s, small, 4, false) == 30s);
    CHECK(watchdog(30s, large, 4, false) > 60s);
    CHECK(watchdog(30s, large, 4, false) < 120s);
    CHECK(watchdog(30s, large, 1e9, true) <= 25h);
}
