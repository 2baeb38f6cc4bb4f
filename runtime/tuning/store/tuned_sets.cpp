#include "runtime/tuning/store/tuned_sets.hpp"

#include "generator/base/renderer.hpp"
#include "generator/kernel_set_check.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/wisdom.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace jitgemm::tuning {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 16;

std::string short_hash(const std::string& text) { return hash_hex(text).substr(0, kHashDigits); }

std::string set_folder(const std::string& directory) { return directory + "/kernel-sets"; }

/// The beginning of the names of all files with sets of a request.
std::string request_name(GemmSpec spec, std::int64_t first_m, std::int64_t last_m, const std::string& narrowed) {
    spec.m = 0;
    return short_hash(fmt::format("{} {}:{} {}", to_string(spec), first_m, last_m, narrowed)) + "-";
}

/// In order; those whose names begin with `name`.
std::vector<std::string> files_of_sets(const std::string& folder, const std::string& name) {
    std::vector<std::string> files;
    std::error_code ignored;  // a folder that is not there holds none
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().filename().string().starts_with(name)) files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

std::optional<TunedSet> read_set(const std::string& file) {
    try {
        if (const std::optional<std::string> text = read_file(file)) return tuned_set_of(parse_json(*text));
    } catch (const std::exception& error) {
        log().warn("{} is no tuned kernel set and is passed over: {}", file, error.what());
    }
    return std::nullopt;
}

/// What can't be read is in the log where winners are read.
std::vector<TunedSet> sets_of_wisdom(const std::string& file) {
    if (file.empty()) return {};
    try {
        return read_wisdom(file, "\"set\":").sets;
    } catch (const WisdomError&) {
        return {};
    }
}

bool is_sound(const TunedSet& tuned, const Arch& arch, const std::string& file) {
    try {
        check_kernel_set(tuned.set, arch);
        return true;
    } catch (const Error& error) {
        log().warn("{} is passed over: {}", file, error.what());
        return false;
    }
}

}  // namespace

std::string store_set(const std::string& directory, const TunedSet& tuned) {
    const std::string folder = set_folder(directory);
    const std::string name = request_name(tuned.set.spec, tuned.set.first_m, tuned.set.last_m, tuned.narrowed) +
                             short_hash(tuned.device_class) + ".json";
    make_private_directories(folder);
    write_file_atomically(folder + "/" + name, json_of(tuned).dump(2) + "\n");
    return folder + "/" + name;
}

std::vector<TunedSet> stored_sets(const std::string& directory, std::string_view device_class) {
    std::vector<TunedSet> sets;
    for (const std::string& file : files_of_sets(set_folder(directory), {})) {
        std::optional<TunedSet> tuned = read_set(file);
        if (tuned && (device_class.empty() || tuned->device_class == device_class)) sets.push_back(*std::move(tuned));
    }
    return sets;
}

int forget_sets(const std::string& directory, std::string_view device_class) {
    int forgotten = 0;
    for (const std::string& file : files_of_sets(set_folder(directory), {})) {
        const std::optional<TunedSet> tuned = read_set(file);
        if (device_class.empty() || (tuned && tuned->device_class == device_class))
            forgotten += fs::remove(file) ? 1 : 0;
    }
    return forgotten;
}

TunedSets::TunedSets(std::string directory, std::string wisdom, ClassFilter serves, std::function<Versions()> today)
    : directory_(std::move(directory)),
      wisdom_(std::move(wisdom)),
      serves_(std::move(serves)),
      today_(std::move(today)) {}

std::optional<KernelSet> TunedSets::find(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                         const GpuModel& gpu, const Selection& selection) const {
    const std::string narrowed = narrowing(selection);
    GemmSpec any_m = spec;
    any_m.m = 0;
    const auto serves = [&](const TunedSet& tuned, const std::string& file) {
        const bool is_asked = tuned.set.spec == any_m && tuned.set.first_m == first_m && tuned.set.last_m == last_m &&
                              tuned.narrowed == narrowed && serves_(tuned.device_class);
        if (!is_asked || !is_sound(tuned, *gpu.arch, file)) return false;
        if (!is_stale(tuned, today_())) return true;
        log().info("a set of {} is passed over: other versions measured it", file);
        return false;
    };
    if (!directory_.empty())
        for (const std::string& file :
             files_of_sets(set_folder(directory_), request_name(spec, first_m, last_m, narrowed)))
            if (std::optional<TunedSet> tuned = read_set(file); tuned && serves(*tuned, file))
                return std::move(tuned->set);
    for (TunedSet& tuned : sets_of_wisdom(wisdom_))
        if (serves(tuned, wisdom_)) return std::move(tuned.set);
    return std::nullopt;
}

TunedSets tuned_sets(const Options& options, const Device& device, const TemplateSet& templates, Compiler& compiler) {
    const auto facts = [&device, &compiler, templates] { return device_facts(device, templates, compiler); };
    const auto serves = [facts](std::string_view name) { return name == device_class(facts()); };
    return {options.tuning_directory, options.wisdom, serves, [facts] { return facts().versions; }};
}

TunedSets tuned_sets(const Options& options, const GpuModel& gpu, const TemplateSet& templates) {
    return {options.tuning_directory, options.wisdom,
            [gpu](std::string_view name) { return may_be_of_class(gpu, name); },
            [templates] { return own_versions(templates); }};
}

}  // namespace jitgemm::tuning
