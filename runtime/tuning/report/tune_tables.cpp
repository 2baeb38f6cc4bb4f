#include "runtime/tuning/report/tune_report.hpp"

#include "runtime/support/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace jitgemm::tuning {
namespace {

constexpr std::string_view kHeader =
    "shape,spec,kernel,verdict,message,same_as,predicted_us,compile_ms,registers,spill_bytes,round,us,"
    "sm_clock_before_mhz,memory_clock_before_mhz,power_before_w,temperature_before_c,throttle_before,"
    "sm_clock_after_mhz,memory_clock_after_mhz,power_after_w,temperature_after_c,throttle_after,reference_us,"
    "sustained_us,reference_sustained_us\n";

std::string reading_fields(const DeviceReading& reading) {
    return fmt::format(",{},{},{},{},{}", reading.sm_clock_mhz, reading.memory_clock_mhz, reading.power_watts,
                       reading.temperature_c, reading.throttle);
}

std::string trial_fields(const ProblemRecord& problem, const Trial& trial) {
    const CompileOutcome compile = trial.compile.value_or(CompileOutcome{});
    return fmt::format("{},{},{},{},{},{},{},{},{},{}", shape_line(problem.spec), csv_field(to_string(problem.spec)),
                       csv_field(trial.kernel), to_string(trial.verdict()), csv_field(trial.message()),
                       csv_field(trial.same_as), trial.predicted_us, compile.compile_ms, compile.registers,
                       compile.spill_bytes);
}

}  // namespace

std::string tune_csv(const TuneReport& report) {
    std::string csv(kHeader);
    for (const ProblemRecord& problem : report.problems) {
        for (const Trial& trial : problem.trials) {
            const std::string fields = trial_fields(problem, trial);
            if (trial.samples.empty()) csv += fields + ",,,,,,,,,,,,,,,\n";
            for (const Sample& sample : trial.samples)
                csv += fmt::format("{},{},{}{}{},{},{},{}\n", fields, sample.round, sample.us,
                                   reading_fields(sample.before), reading_fields(sample.after), sample.reference_us,
                                   sample.sustained_us, sample.reference_sustained_us);
        }
    }
    return csv;
}

Json tune_json(const TuneReport& report) {
    Json problems = Json::array();
    for (const ProblemRecord& problem : report.problems) {
        problems.push_back({{"spec", to_string(problem.spec)},
                            {"trials", problem.trials},
                            {"winner", problem.winner ? Json(*problem.winner) : Json()}});
    }
    return {{"device", Json(report.device)},
            {"device_class", device_class(report.device)},
            {"problems", std::move(problems)}};
}

}  // namespace jitgemm::tuning
