#pragma once

#include "runtime/device/device_reading.hpp"
#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/store/device_facts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// The script says how a device behaves with some kernels. It is read from JSON, and every field may be missing:
///
///     {
///       "gpu": "h200",                      the model it pretends to be (gpu_table())
///       "emulator": "sm_80",                in place of it: an emulator
///       "seed": 1,                          of all noise
///       "noise": 0.003,                     relative standard deviation of a sample
///       "spread": 0.4,                      of the factors by which the cost model is off, from kernel to kernel
///       "start_ms": 500,                    before the hello
///       "compile_ms": 5, "turn_ms": 1,      real time that a compile and a turn take
///       "timing_ms": 700,                   the same of a turn while timing, where it is not that of a verification
///       "log": "/tmp/turns",                a line is appended for whatever is executed (executed())
///       "throttle": {"rounds": 2, "reasons": 64},   reasons in the first readings of a process
///       "clock_noise_mhz": 200,             the SM clock read jumps about by that
///       "kernels": [                        all rules that match apply, later ones last
///         {"name": "naive_tn_...",          exactly this kernel; or
///          "contains": "stages4",           part of its name; or
///          "parameters": "stages=4",        values of its parameters, as for --param; or none of them: every kernel
///          "time_us": 12.5,                 in place of the cost model's
///          "factor": 1.5,                   on the time
///          "noise": 0.2,
///          "text": "same",                  hash of its code: kernels with one text are one
///          "spill_bytes": 64, "warnings": ["(C7510) ..."],
///          "compile": "fail",               or hang, abort, segv, exit, kill (by SIGKILL), or
///          "compile": "kill once",          which needs a log: the first time alone
///          "verify": "wrong",               or nan, unfit, hang, abort, segv, exit, kill, kill once
///          "time": "abort"}                 or hang, segv, exit, unfit, kill, kill once
///       ]
///     }
struct KernelRule {
    std::string name;
    std::string contains;
    std::string parameters;
    std::optional<double> time_us;
    double factor = 1;
    std::optional<double> noise;
    std::string text;
    int spill_bytes = 0;
    std::vector<std::string> warnings;
    std::string compile;
    std::string verify;
    std::string time;
};

struct FakeScript {
    std::string gpu = "h200";
    std::string emulator;
    std::uint64_t seed = 1;
    double noise = 0.003;
    double spread = 0.4;
    int start_ms = 0;
    int compile_ms = 0;
    int turn_ms = 0;
    int timing_ms = 0;
    std::string log;
    int throttled_rounds = 0;
    std::uint64_t throttle_reasons = 0;
    int clock_noise_mhz = 0;
    std::vector<KernelRule> kernels;

    /// All matching rules, laid over each other.
    [[nodiscard]] KernelRule rule_for(const std::string& kernel) const;
    [[nodiscard]] tuning::DeviceFacts facts() const;
    /// The script's time, or the family's cost model's times a factor between 0.85 and 1.25 (`spread`) that depends on
    /// the name alone, so that the best measured is rarely the best predicted. kCublasLt takes what the heuristic's
    /// kernel is predicted to take.
    [[nodiscard]] double time_us(const GemmSpec& spec, const std::string& kernel) const;
    /// With the noise of that round: the same for the same script, kernel, problem and round.
    [[nodiscard]] double noisy_time_us(const GemmSpec& spec, const std::string& kernel, int round) const;
};

/// Throws Error for a file that is no such script, or has a field it does not know.
[[nodiscard]] FakeScript read_fake_script(const std::string& path);

}  // namespace jitgemm::testing
