// A worker with a scripted device: `jitgemm_fake_worker --script FILE worker compile|measure --setting …` speaks as
// `jitgemm worker …` does, through the same loop, and does what the script (fake_script.hpp) says: no NVRTC, no GPU.

#include "jitgemm/error.hpp"
#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/tuning/workers/timed_round.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"
#include "tests/support/fake_worker/fake_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>

namespace jitgemm::testing {
namespace {

using namespace tuning;

constexpr int kFaultExitCode = 3;

/// One line per thing done, in one write, so that lines of several workers do not mix.
void executed(const FakeScript& script, const std::string& what) {
    if (script.log.empty()) return;
    const FileDescriptor file(::open(script.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const std::string line = what + '\n';
    if (!file || ::write(file.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw_system_error("cannot append to", script.log);
}

/// How often it was done before, by whatever process.
std::size_t count_executed(const FakeScript& script, const std::string& what) {
    std::istringstream log(read_file(script.log).value_or(std::string()));
    std::size_t count = 0;
    for (std::string line; std::getline(log, line);) count += line == what || line.starts_with(what + ' ') ? 1 : 0;
    return count;
}

/// The fault that this time brings: "kill once" spares whoever does the same again.
std::string fault_now(const FakeScript& script, const std::string& planted, const std::string& what) {
    if (planted != "kill once") return planted;
    return count_executed(script, what) == 1 ? "kill" : "";
}

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

/// The ways to die or never to answer.
void commit_fault(const std::string& fault, const std::string& kernel) {
    if (fault.empty()) return;
    std::cerr << "fake worker: " << fault << " planted in " << kernel << std::endl;
    if (fault == "hang") {
        while (true) sleep_ms(1000);
    }
    if (fault == "kill") std::raise(SIGKILL);
    if (fault == "exit") std::exit(kFaultExitCode);
    if (fault == "abort") std::abort();
    if (fault == "segv") {
        std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make an exit of it
        std::raise(SIGSEGV);
    }
}

class FakeCompileWork final : public CompileWork {
public:
    explicit FakeCompileWork(FakeScript script) : script_(std::move(script)) {}

    [[nodiscard]] CompileOutcome compile(const CompileJob& job) override {
        const KernelRule rule = script_.rule_for(job.kernel);
        const std::string what = "compile " + job.kernel;
        executed(script_, what);
        sleep_ms(script_.compile_ms);
        commit_fault(rule.compile == "fail" ? "" : fault_now(script_, rule.compile, what), job.kernel);
        CompileOutcome outcome;
        outcome.compile_ms = script_.compile_ms;
        if (rule.compile == "fail") {
            outcome.verdict = Verdict::compile_failed;
            outcome.message = "kernel.cu(1): error: planted";
            return outcome;
        }
        outcome.registers = 128;
        outcome.spill_bytes = rule.spill_bytes;
        outcome.warnings = rule.warnings;
        outcome.text_hash = hash_hex(rule.text.empty() ? job.kernel : rule.text);
        return outcome;
    }

private:
    FakeScript script_;
};

class FakeMeasureWork final : public MeasureWork {
public:
    explicit FakeMeasureWork(FakeScript script) : script_(std::move(script)), facts_(script_.facts()) {}

    [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }

    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job) override {
        const std::string what = fmt::format("verify {} {}", job.kernel, to_string(job.spec));
        executed(script_, what);
        const std::string fault = fault_now(script_, script_.rule_for(job.kernel).verify, what);
        sleep_ms(script_.turn_ms);
        if (fault == "wrong") return {Verdict::wrong, "1 of 64x64 elements are wrong; D[0, 0]: expected 1, got 2"};
        if (fault == "nan") return {Verdict::wrong, "1 of 64x64 elements are wrong; D[0, 0]: expected 1, got nan"};
        if (fault == "unfit") return {Verdict::unfit, "CUDA_ERROR_OUT_OF_MEMORY"};
        commit_fault(fault, job.kernel);
        return {};
    }

    [[nodiscard]] TimeOutcome time(const TimeJob& job, TimingObserver& observer) override {
        TimeOutcome outcome;
        std::size_t current = 0;
        try {
            for (int round = 0; round < job.rounds && !observer.stopped(); ++round) {
                const auto take = [&](std::size_t kernel) {
                    current = kernel;
                    return take_turn(job, kernel, round);
                };
                const auto take_alone = [&](std::size_t kernel) {
                    return script_.noisy_time_us(job.spec, job.kernels[kernel], job.first_rounds.at(kernel) + round);
                };
                outcome.repeated_rounds +=
                    measure_round(job, round, {[this] { return read(); }, take, take_alone, [] {}}, observer);
            }
        } catch (const Error& error) {
            outcome = {Verdict::unfit, current, error.what(), 0};
        }
        return outcome;
    }

private:
    double take_turn(const TimeJob& job, std::size_t kernel, int number) {
        const std::string& name = job.kernels[kernel];
        const int round = job.first_rounds.at(kernel) + number;
        const std::string what = fmt::format("time {} {}", name, to_string(job.spec));
        executed(script_, fmt::format("{} round={}", what, round));
        sleep_ms(script_.timing_ms);
        const std::string fault = fault_now(script_, script_.rule_for(name).time, what);
        if (fault == "unfit") throw Error("CUDA_ERROR_OUT_OF_MEMORY");
        commit_fault(fault, name);
        return script_.noisy_time_us(job.spec, name, round);
    }

    /// Two readings per round: the first `throttled_rounds` rounds of the process are throttled.
    DeviceReading read() {
        DeviceReading reading{facts_.model.clock_mhz, 2600, 500, 60, 0};
        std::uniform_int_distribution<int> jump(-script_.clock_noise_mhz, script_.clock_noise_mhz);
        reading.sm_clock_mhz += jump(random_);
        if (readings_++ < 2 * script_.throttled_rounds) reading.throttle = script_.throttle_reasons;
        return reading;
    }

    FakeScript script_;
    DeviceFacts facts_;
    int readings_ = 0;
    std::mt19937 random_{7};
};

/// Arguments before `worker` are this program's. Those behind it are the tool's.
struct Arguments {
    std::string script;
    std::string role;
    WorkerCommand command;
};

Arguments parse_arguments(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] == "--script")
            arguments.script = words[++i];
        else if (words[i] == "worker")
            arguments.role = words[++i];
        else if (words[i] == "--setting")
            apply_setting(words[++i], arguments.command);
    }
    return arguments;
}

int run(const Arguments& arguments) {
    const auto script = [&] {
        FakeScript read = read_fake_script(arguments.script);
        sleep_ms(read.start_ms);
        return read;
    };
    if (arguments.role == "compile")
        return serve_compiling([&] { return std::make_unique<FakeCompileWork>(script()); });
    if (arguments.role == "measure")
        return serve_measuring([&] { return std::make_unique<FakeMeasureWork>(script()); });
    std::cerr << "jitgemm_fake_worker: expected --script FILE worker compile|measure\n";
    return 2;
}

}  // namespace
}  // namespace jitgemm::testing

int main(int argc, char** argv) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    try {
        return jitgemm::testing::run(jitgemm::testing::parse_arguments({argv + 1, argv + argc}));
    } catch (const std::exception& error) {
        std::cerr << "jitgemm_fake_worker: " << error.what() << '\n';
        return 2;
    }
}
