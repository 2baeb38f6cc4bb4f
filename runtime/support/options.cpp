#include "jitgemm/options.hpp"
#include "generator/base/gemm_spec_fields.hpp"
#include "generator/text/nearest_name.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/support/absolute_name.hpp"
#include "runtime/support/default_device.hpp"
#include "runtime/support/launch_rank.hpp"
#include "runtime/support/on_miss_name.hpp"
#include "runtime/support/program_search.hpp"
#include "runtime/support/request_record.hpp"
#include "runtime/support/temporary_directory.hpp"
#include "runtime/support/visible_gpus.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <sstream>

namespace jitgemm {
namespace {

/// The only place of the project that reads the environment.
std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

/// The first of the variables that is set and not empty.
std::string first_of(std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const std::optional<std::string> value = variable(name);
        if (value && !value->empty()) return *value;
    }
    return {};
}

/// Empty where HOME is not absolute: a relative one would be another folder in every working directory.
std::string home_folder() {
    const std::string home = first_of({"HOME"});
    return home.starts_with('/') ? home : std::string();
}

/// The first of the variables that names a path.
std::string path_in(std::initializer_list<const char*> names) { return with_home(first_of(names)); }

/// JITGEMM_CACHE_DIR set to nothing turns the cache off. XDG_CACHE_HOME must be absolute (XDG base directory
/// specification).
std::string cache_directory() {
    if (const std::optional<std::string> own = variable("JITGEMM_CACHE_DIR")) return absolute_path(with_home(*own));
    const std::string xdg = first_of({"XDG_CACHE_HOME"});
    if (xdg.starts_with('/')) return xdg + "/jitgemm";
    const std::string home = home_folder();
    return home.empty() ? home : absolute_path(home + "/.cache/jitgemm");
}

/// Tuning results are no cache: they cost hours, and lie where data lies, but for a cache folder set by hand (XDG base
/// directory specification).
std::string tuning_directory() {
    if (const std::string own = path_in({"JITGEMM_TUNING_DIR"}); !own.empty()) return absolute_path(own);
    if (const std::string cache = path_in({"JITGEMM_CACHE_DIR"}); !cache.empty())
        return absolute_path(cache + "/tuning");
    const std::string xdg = first_of({"XDG_DATA_HOME"});
    if (xdg.starts_with('/')) return xdg + "/jitgemm";
    const std::string home = home_folder();
    return home.empty() ? home : absolute_path(home + "/.local/share/jitgemm");
}

/// JITGEMM_WHEELS, else the folder the build was told of (quickstart puts wheels there when no toolkit is installed).
std::string wheel_directory() {
    const std::string own = path_in({"JITGEMM_WHEELS"});
#ifdef JITGEMM_WHEEL_DIRECTORY
    if (own.empty()) return JITGEMM_WHEEL_DIRECTORY;
#endif
    return absolute_path(own);
}

/// 0 or 1; `usual` where it is not set or empty.
bool flag(const char* name, bool usual) {
    const std::string value = first_of({name});
    if (value.empty()) return usual;
    if (value == "0" || value == "1") return value == "1";
    throw Error(fmt::format("{} is '{}': expected 0 or 1", name, value));
}

OnMiss on_miss_from_environment() {
    const std::string name = first_of({"JITGEMM_ON_MISS"});
    if (name.empty()) return OnMiss::wait;
    if (const std::optional<OnMiss> known = parse_on_miss(name)) return *known;
    throw Error(fmt::format("JITGEMM_ON_MISS is '{}': expected {}", name, join_names(kOnMissNames)));
}

Math math_from_environment() {
    const std::string name = first_of({"JITGEMM_MATH"});
    if (name.empty()) return Math::ieee;
    if (const std::optional<Math> known = parse_math(name)) return *known;
    throw Error(fmt::format("JITGEMM_MATH is '{}': expected {}", name, join_names(kMathNames)));
}

std::optional<int> number(const char* name) { return parse_number<int>(first_of({name})); }

/// How a launcher tells a process its place.
struct RankVariables {
    const char* rank;
    const char* size;
    const char* local_rank;
};
constexpr std::array kLaunchers{
    RankVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    RankVariables{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    RankVariables{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
};

}  // namespace

std::string with_home(const std::string& path) {
    const bool is_below_home = path == "~" || path.starts_with("~/");
    const std::string home = home_folder();
    return is_below_home && !home.empty() ? home + path.substr(1) : path;
}

std::optional<LaunchRank> launch_rank_from_environment() {
    for (const RankVariables& launcher : kLaunchers) {
        const std::optional<int> rank = number(launcher.rank);
        const std::optional<int> size = number(launcher.size);
        if (rank && size && *rank >= 0 && *rank < *size)
            return LaunchRank{*rank, *size, number(launcher.local_rank).value_or(*rank)};
    }
    return std::nullopt;
}

std::optional<std::string> visible_gpus_from_environment() { return variable("CUDA_VISIBLE_DEVICES"); }

std::vector<std::string> program_folders_from_environment() {
    std::istringstream path(first_of({"PATH"}));
    std::vector<std::string> folders;
    for (std::string folder; std::getline(path, folder, ':');)
        if (folder.starts_with('/')) folders.push_back(folder);
    return folders;
}

TemporaryRoot temporary_root_from_environment() {
    for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
        if (const std::string folder = path_in({name}); !folder.empty()) return {absolute_path(folder), name};
    return {"/tmp", {}};
}

std::string record_file_from_environment() { return absolute_path(path_in({"JITGEMM_RECORD"})); }

std::optional<std::string> device_from_environment() {
    const std::string name = first_of({"JITGEMM_DEVICE"});
    if (name.empty()) return std::nullopt;
    try {
        return to_string(parse_device_name(name));
    } catch (const Error& error) {
        throw Error(fmt::format("JITGEMM_DEVICE: {}", error.what()));
    }
}

Options Options::from_environment() {
    Options options;
    options.device = device_from_environment().value_or(options.device);
    options.cache_directory = jitgemm::cache_directory();
    options.readonly_cache_directory = absolute_path(path_in({"JITGEMM_CACHE_READONLY"}));
    options.tuning_directory = jitgemm::tuning_directory();
    options.wisdom = absolute_path(path_in({"JITGEMM_WISDOM"}));
    options.installed_wisdom = flag("JITGEMM_INSTALLED_WISDOM", true);
    options.on_miss = on_miss_from_environment();
    options.math = math_from_environment();
    options.nvrtc_library = absolute_unless_bare(path_in({"JITGEMM_NVRTC"}));
    options.cuda_path = absolute_path(path_in({"CUDA_PATH", "CUDA_HOME"}));
    options.wheel_directory = jitgemm::wheel_directory();
    options.template_directory = absolute_path(path_in({"JITGEMM_TEMPLATES"}));
    options.tool = absolute_unless_bare(path_in({"JITGEMM_TOOL"}));
    if (const std::string level = first_of({"JITGEMM_LOG"}); !level.empty()) options.log_level = level;
    return options;
}

}  // namespace jitgemm
