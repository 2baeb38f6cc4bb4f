#include "runtime/tuning/workers/worker_command.hpp"

#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/program_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace jitgemm::tuning {
namespace {

struct Setting {
    std::string_view name;
    std::string Options::*value;
};

// All of Options that a worker heeds. What it compiles is named by each job, so no choice of a kernel is among them.
constexpr std::array kSettings{Setting{"device", &Options::device},
                               Setting{"cache", &Options::cache_directory},
                               Setting{"readonly-cache", &Options::readonly_cache_directory},
                               Setting{"nvrtc", &Options::nvrtc_library},
                               Setting{"cuda-path", &Options::cuda_path},
                               Setting{"wheels", &Options::wheel_directory},
                               Setting{"templates", &Options::template_directory},
                               Setting{"log", &Options::log_level}};
constexpr std::string_view kNewestMajor = "newest-cuda-major";
constexpr std::string_view kEmulatorLimit = "emulator-gflop";

template <typename Number>
Number number_in(std::string_view name, std::string_view text) {
    if (const std::optional<Number> number = parse_number<Number>(text)) return *number;
    throw Error(fmt::format("the setting {} is '{}': expected a number", name, text));
}

void add_setting(std::vector<std::string>& words, std::string_view name, const std::string& value) {
    words.insert(words.end(), {"--setting", fmt::format("{}={}", name, value)});
}

std::vector<std::string> worker_words(const WorkerCommand& command, const char* role) {
    std::vector<std::string> words = command.program;
    words.insert(words.end(), {"worker", role});
    for (const Setting& setting : kSettings) add_setting(words, setting.name, command.options.*setting.value);
    add_setting(words, kNewestMajor, std::to_string(command.newest_cuda_major));
    add_setting(words, kEmulatorLimit, fmt::format("{}", command.options.emulator_gflop));
    return words;
}

}  // namespace

std::string own_executable() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string tool_program(const Options& options) {
    const std::string name = options.tool.empty() ? "jitgemm" : options.tool;
    const std::vector<std::string> folders = program_folders_from_environment();
    if (std::optional<std::string> path = find_program(name, folders)) return *std::move(path);
    const bool is_path = name.find('/') != std::string::npos;
    const std::string places = is_path ? "there is no executable file of that name"
                                       : fmt::format("looked for it in PATH: {}", fmt::join(folders, ", "));
    throw Error(fmt::format(
        "cannot tune without the program '{}': {}; set the option tool, or JITGEMM_TOOL, to its path", name, places));
}

std::vector<std::string> compile_worker_words(const WorkerCommand& command) { return worker_words(command, "compile"); }

std::vector<std::string> measure_worker_words(const WorkerCommand& command) { return worker_words(command, "measure"); }

void apply_setting(std::string_view text, WorkerCommand& command) {
    const std::string_view name = text.substr(0, text.find('='));
    if (name.size() == text.size()) throw Error(fmt::format("'{}' is no setting: expected name=value", text));
    const std::string_view value = text.substr(name.size() + 1);
    const auto found = std::ranges::find(kSettings, name, &Setting::name);
    if (found != kSettings.end()) {
        command.options.*found->value = value;
    } else if (name == kNewestMajor) {
        command.newest_cuda_major = number_in<int>(name, value);
    } else if (name == kEmulatorLimit) {
        command.options.emulator_gflop = number_in<double>(name, value);
    } else {
        throw Error(fmt::format("a worker has no setting '{}'", name));
    }
}

}  // namespace jitgemm::tuning
