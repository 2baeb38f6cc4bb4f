#include "runtime/tuning/store/tuned_sets.hpp"

#include "generator/base/renderer.hpp"
#include "generator/kernel_set_check.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/record_json.hpp"

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

constexpr std::string_view kTunedSetFormat = "tuned-kernel-set-v1";
constexpr std::size_t kHashDigits = 16;

std::string short_hash(const std::string& text) { return hash_hex(text).substr(0, kHashDigits); }

std::string set_folder(const std::string& directory) { return directory + "/kernel-sets"; }

/// The beginning of the names of all files with sets of a request.
std::string request_name(GemmSpec spec, std::int64_t first_m, std::int64_t last_m, const std::string& narrowed) {
    spec.m = 0;
    return short_hash(fmt::format("{} {}:{} {}", to_string(spec), first_m, last_m, narrowed)) + "-";
}

Json json_of(const TunedSet& tuned) {
    return {{"format", kTunedSetFormat},
            {"device_class", tuned.device_class},
            {"versions", tuned.versions},
            {"narrowed", tuned.narrowed},
            {"set", parse_json(to_json(tuned.set))}};
}

TunedSet tuned_set_of(const Json& json) {
    const auto format = json.value("format", std::string());
    if (format != kTunedSetFormat)
        throw Error(fmt::format("its format is '{}', this version reads {}", format, kTunedSetFormat));
    return {json.at("device_class"), json.at("versions").get<Versions>(), json.at("narrowed"),
            parse_kernel_set(json.at("set").dump())};
}

bool is_stale_set(const TunedSet& tuned, const Versions& today) {
    Winner stamp;
    stamp.versions = tuned.versions;
    return is_stale(stamp, today);
}

std::vector<std::string> files_of_request(const std::string& folder, const std::string& name) {
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

TunedSets::TunedSets(std::string directory, ClassFilter serves, std::function<Versions()> today)
    : directory_(std::move(directory)), serves_(std::move(serves)), today_(std::move(today)) {}

std::optional<KernelSet> TunedSets::find(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                         const GpuModel& gpu, const Selection& selection) const {
    if (directory_.empty()) return std::nullopt;
    const std::string narrowed = narrowing(selection);
    GemmSpec any_m = spec;
    any_m.m = 0;
    for (const std::string& file :
         files_of_request(set_folder(directory_), request_name(spec, first_m, last_m, narrowed))) {
        std::optional<TunedSet> tuned = read_set(file);
        if (!tuned || !serves_(tuned->device_class)) continue;
        const bool is_asked = tuned->set.spec == any_m && tuned->set.first_m == first_m &&
                              tuned->set.last_m == last_m && tuned->narrowed == narrowed;
        if (!is_asked || !is_sound(*tuned, *gpu.arch, file)) continue;
        if (is_stale_set(*tuned, today_())) {
            log().info("{} is passed over: other versions measured it", file);
            continue;
        }
        return std::move(tuned->set);
    }
    return std::nullopt;
}

TunedSets tuned_sets(const Options& options, const Device& device, const TemplateSet& templates, Compiler& compiler) {
    const auto facts = [&device, &compiler, templates] { return device_facts(device, templates, compiler); };
    const auto serves = [facts](std::string_view name) { return name == device_class(facts()); };
    return {options.tuning_directory, serves, [facts] { return facts().versions; }};
}

TunedSets tuned_sets(const Options& options, const GpuModel& gpu, const TemplateSet& templates) {
    return {options.tuning_directory, [gpu](std::string_view name) { return may_be_of_class(gpu, name); },
            [templates] { return own_versions(templates); }};
}

}  // namespace jitgemm::tuning
