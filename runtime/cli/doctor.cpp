#include "jitgemm/options.hpp"
#include "jitgemm/version.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/doctor_probes.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/quantities.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/support/trust.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::string_view kArchWithoutGpu = "sm_80";

/// One line of the report.
struct Check {
    std::string name;
    bool ok = false;
    bool required = true;  ///< for a kernel to be generated, compiled and run on a GPU
    std::string detail;
};

struct DoctorReport {
    DriverProbe driver;
    std::vector<GpuProbe> gpus;
    std::vector<NvrtcProbe> nvrtc;
    CacheProbe cache;
    TuningProbe tuning;
    std::string wheel;
    std::vector<Check> checks;

    [[nodiscard]] bool healthy() const {
        return std::ranges::all_of(checks, [](const Check& check) { return check.ok || !check.required; });
    }
    [[nodiscard]] bool passes(std::string_view name) const {
        return std::ranges::any_of(checks, [&](const Check& check) { return check.ok && check.name == name; });
    }
};

bool is_usable(const GpuProbe& gpu) { return gpu.reason.empty(); }
bool fits(const NvrtcProbe& nvrtc) { return nvrtc.reason.empty(); }

/// The GPU of the trial kernel: the first usable one, else one that every NVRTC knows.
GpuModel trial_gpu(const std::vector<GpuProbe>& gpus) {
    const auto gpu = std::ranges::find_if(gpus, is_usable);
    return typical_gpu(gpu == gpus.end() ? find_arch(kArchWithoutGpu) : *gpu->arch);
}

Check check_driver(const DriverProbe& driver) {
    if (!driver.found) return {"driver", false, true, driver.reason};
    return {"driver", true, true,
            fmt::format("takes CUDA up to {}, {}", nvrtc_version_text(driver.version), driver.path)};
}

std::string gpu_text(const GpuProbe& gpu) {
    if (!is_usable(gpu)) return fmt::format("cuda:{} {}: {}", gpu.ordinal, gpu.name, gpu.reason);
    return fmt::format("cuda:{} {} ({}, {} SMs, {})", gpu.ordinal, gpu.name, gpu.arch->name, gpu.sm_count,
                       size_text(gpu.memory_bytes));
}

/// Without a driver nothing is known of GPUs.
std::string no_gpu_text(const DriverProbe& driver) { return driver.found ? no_gpu_reason() : "none"; }

Check check_gpus(const std::vector<GpuProbe>& gpus, const std::string& no_gpu) {
    std::vector<std::string> lines;
    for (const GpuProbe& gpu : gpus) lines.push_back(gpu_text(gpu));
    return {"gpu", std::ranges::any_of(gpus, is_usable), true,
            gpus.empty() ? no_gpu : fmt::format("{}", fmt::join(lines, "\n"))};
}

std::string nvrtc_text(const NvrtcProbe& nvrtc) {
    const std::string version = nvrtc.version == 0 ? "" : nvrtc_version_text(nvrtc.version) + ", ";
    return fmt::format("{}{}{}", version, nvrtc.path, nvrtc.reason.empty() ? "" : " (" + nvrtc.reason + ")");
}

/// Lists the libraries found. If there are none, it lists every place that was searched.
Check check_nvrtc(const DoctorReport& report) {
    const bool found = std::ranges::any_of(report.nvrtc, fits);
    std::vector<std::string> lines;
    for (const NvrtcProbe& nvrtc : report.nvrtc) {
        const bool there = !nvrtc.path.empty();
        const std::string line = there ? nvrtc_text(nvrtc) : nvrtc.reason;
        if ((there || !found) && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    }
    if (!found) {
        lines.push_back(fmt::format(
            "the PyPI wheel {0} would do: pip install --target DIR {0}, then set JITGEMM_WHEELS=DIR", report.wheel));
    }
    return {"nvrtc", found, true, fmt::format("{}", fmt::join(lines, "\n"))};
}

Check check_cache(const CacheProbe& cache) {
    if (cache.directory.empty()) return {"cache", false, false, cache.state};
    return {"cache", cache.usable, false,
            fmt::format("{}: {}, {}, {}", cache.directory, cache.state,
                        counted(static_cast<std::int64_t>(cache.entries), "kernel"), size_text(cache.bytes))};
}

/// The second layer: where it isn't there, or is for its owner's eyes, all is compiled without a word.
Check check_readonly_cache(const std::string& folder) {
    std::error_code error;
    const std::filesystem::directory_iterator entries(folder, error);
    const std::string reason = error ? error.message() : open_to_all(folder);
    return {"read-only", reason.empty(), false,
            fmt::format("{}: {}", folder, reason.empty() ? "a cache that is only read" : reason)};
}

Check check_tuning(const TuningProbe& tuning) {
    const std::string place = tuning.directory.empty() ? tuning.state : tuning.directory + ": " + tuning.state;
    return {"tuning", tuning.usable, false,
            fmt::format("{}, {}", place, counted(static_cast<std::int64_t>(tuning.winners), "tuned problem"))};
}

Check check_of(const char* name, const Trial& trial) { return {name, trial.ok, true, trial.detail}; }

Check check_run(const DoctorReport& report, const Options& options) {
    const auto missing =
        std::ranges::find_if(report.checks, [](const Check& check) { return check.required && !check.ok; });
    if (missing != report.checks.end())
        return {"run", false, true, fmt::format("not tried: {} is missing", missing->name)};
    return check_of("run", try_to_run(options));
}

/// The device that everyone has, if kernels can be compiled.
Check check_emulator(const Options& options, const Arch& arch) {
    Trial trial = try_to_emulate(options, arch);
    if (trial.ok) {
        std::vector<std::string_view> archs;
        for (const Arch& known : arch_table()) archs.push_back(known.name);
        trial.detail += fmt::format("; no GPU needed: run --device emulator:ARCH for {}", fmt::join(archs, ", "));
    }
    return {"emulator", trial.ok, false, trial.detail};
}

DoctorReport examine(const Options& options, Output& output) {
    DoctorReport result;
    output.progress("looking for driver, GPUs and NVRTC");
    result.driver = probe_driver();
    result.gpus = probe_gpus(result.driver);
    const int newest_major = result.driver.version / 10;
    result.nvrtc = probe_nvrtc(options, newest_major);
    result.wheel = nvrtc_wheel(newest_major);
    result.cache = probe_cache(options);
    result.tuning = probe_tuning(options);

    const GpuModel gpu = trial_gpu(result.gpus);
    output.progress("trying to generate, compile and run");
    result.checks = {check_driver(result.driver), check_gpus(result.gpus, no_gpu_text(result.driver)),
                     check_nvrtc(result), check_of("generate", try_to_generate(options, gpu)),
                     check_of("compile", try_to_compile(options, gpu, newest_major))};
    result.checks.push_back(check_run(result, options));
    result.checks.push_back(check_emulator(options, *gpu.arch));
    result.checks.push_back(check_cache(result.cache));
    if (!options.readonly_cache_directory.empty())
        result.checks.push_back(check_readonly_cache(options.readonly_cache_directory));
    result.checks.push_back(check_tuning(result.tuning));
    const Trial disassembler = find_disassembler(options);
    result.checks.push_back({"sass", disassembler.ok, false, disassembler.detail});
    return result;
}

/// Continuation lines stand under the first.
std::string indented(const std::string& text) {
    std::string result;
    for (const char letter : text) result.append(letter == '\n' ? "\n                      " : std::string(1, letter));
    return result;
}

std::string verdict(const Check& check) { return check.ok ? "ok" : check.required ? "MISSING" : "absent"; }

std::string conclusion(const DoctorReport& report) {
    if (report.healthy()) return "Kernels can be generated, compiled and run here.\n";
    if (report.passes("emulator"))
        return "Kernels can be generated, compiled and run on the emulator here. A GPU also needs each part marked "
               "MISSING.\n";
    return "Kernels cannot be generated, compiled and run here: install each part marked MISSING.\n";
}

std::string to_text(const DoctorReport& report) {
    std::string text = fmt::format("jitgemm {}\n", kVersion);
    for (const Check& check : report.checks)
        text += fmt::format("  {:<8}  {:<10}{}\n", verdict(check), check.name, indented(check.detail));
    return text + conclusion(report);
}

Json gpu_json(const GpuProbe& gpu) {
    return {{"ordinal", gpu.ordinal},
            {"name", gpu.name},
            {"arch", gpu.arch == nullptr ? Json() : Json(gpu.arch->name)},
            {"sm_count", gpu.sm_count},
            {"memory_bytes", gpu.memory_bytes},
            {"reason", gpu.reason}};
}

Json nvrtc_json(const NvrtcProbe& nvrtc) {
    return {{"candidate", nvrtc.candidate}, {"path", nvrtc.path}, {"version", nvrtc.version}, {"reason", nvrtc.reason}};
}

Json check_json(const Check& check) {
    return {{"name", check.name}, {"ok", check.ok}, {"required", check.required}, {"detail", check.detail}};
}

Json document_of(const DoctorReport& report) {
    const DriverProbe& driver = report.driver;
    const CacheProbe& cache = report.cache;
    const TuningProbe& tuning = report.tuning;
    return {
        {"version", kVersion},
        {"ok", report.healthy()},
        {"checks", json_array(report.checks, check_json)},
        {"driver",
         {{"found", driver.found}, {"cuda_version", driver.version}, {"path", driver.path}, {"reason", driver.reason}}},
        {"gpus", json_array(report.gpus, gpu_json)},
        {"nvrtc", json_array(report.nvrtc, nvrtc_json)},
        {"wheel", report.wheel},
        {"cache",
         {{"directory", cache.directory},
          {"usable", cache.usable},
          {"state", cache.state},
          {"entry_count", cache.entries},
          {"total_bytes", cache.bytes}}},
        {"tuning",
         {{"directory", tuning.directory},
          {"usable", tuning.usable},
          {"state", tuning.state},
          {"winner_count", tuning.winners}}}};
}

int run_doctor(Output& output) {
    const DoctorReport report = examine(tool_options(), output);
    output.text(to_text(report));
    output.document(document_of(report));
    return report.healthy() ? kExitFine : kExitFailed;
}

}  // namespace

Action declare_doctor(CLI::App&) { return run_doctor; }

}  // namespace jitgemm::cli
