#include "runtime/compiler/nvrtc_search.hpp"

#include "jitgemm/options.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

constexpr int kNewestKnownMajor = 13;
constexpr int kOldestMajor = kOldestNvrtc / 10;

/// Sonames in order of preference. The unversioned one only exists where a development package is installed; what it
/// leads to is known after loading.
std::vector<std::string> library_names(int newest_major) {
    std::vector<std::string> names;
    for (int major = newest_major == 0 ? kNewestKnownMajor : newest_major; major >= kOldestMajor; --major) {
        names.push_back(fmt::format("libnvrtc.so.{}", major));
    }
    names.emplace_back("libnvrtc.so");
    return names;
}

void add_folder(std::vector<std::string>& list, const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) list.push_back(fmt::format("{}/{}", folder, name));
}

/// Library folders of one toolkit: NVIDIA's installers use lib64, conda and some distributions lib.
void add_toolkit(std::vector<std::string>& list, const std::string& toolkit, const std::vector<std::string>& names) {
    add_folder(list, toolkit + "/lib64", names);
    add_folder(list, toolkit + "/lib", names);
}

/// /usr/local/cuda first, then its versioned siblings (a CUDA 12 beside the default 13 serves an older driver).
std::vector<std::string> installed_toolkits() {
    std::vector<std::string> siblings;
    std::error_code error;
    for (fs::directory_iterator entry("/usr/local", error), end; !error && entry != end; entry.increment(error)) {
        const std::string path = entry->path().string();
        if (path.starts_with("/usr/local/cuda-")) siblings.push_back(path);
    }
    std::sort(siblings.begin(), siblings.end(), std::greater<>());
    siblings.insert(siblings.begin(), "/usr/local/cuda");
    return siblings;
}

/// The wheels nvidia-cuda-nvrtc (13) and nvidia-cuda-nvrtc-cu12 unpack to different folders.
void add_wheels(std::vector<std::string>& list, const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const std::string major = name.substr(name.rfind('.') + 1);
        if (major == "12")
            list.push_back(fmt::format("{}/nvidia/cuda_nvrtc/lib/{}", folder, name));
        else if (major != "so")
            list.push_back(fmt::format("{}/nvidia/cu{}/lib/{}", folder, major, name));
    }
}

/// LD_LIBRARY_PATH and the default folders, as the dynamic linker itself tells them.
std::string system_search_path() {
    Dl_serinfo size{};
    void* self = dlopen(nullptr, RTLD_LAZY);
    if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
    std::vector<std::byte> storage(size.dls_size);
    auto* info = reinterpret_cast<Dl_serinfo*>(storage.data());
    std::string path;
    if (dlinfo(self, RTLD_DI_SERINFOSIZE, info) == 0 && dlinfo(self, RTLD_DI_SERINFO, info) == 0) {
        for (unsigned i = 0; i < info->dls_cnt; ++i) path.append(info->dls_serpath[i].dls_name).append(":");
    }
    dlclose(self);
    return path;
}

/// Each candidate once, at its first place (CUDA_PATH is often /usr/local/cuda).
std::vector<std::string> without_repeats(const std::vector<std::string>& list) {
    std::vector<std::string> unique;
    for (const std::string& candidate : list) {
        if (std::find(unique.begin(), unique.end(), candidate) == unique.end()) unique.push_back(candidate);
    }
    return unique;
}

std::string stamp_text(const std::string& path) {
    const std::optional<FileStamp> stamp = file_stamp(path);
    return stamp ? fmt::format("{} {} {}\n", path, stamp->size, stamp->mtime_ns) : path + " absent\n";
}

}  // namespace

std::string nvrtc_version_text(int version) { return fmt::format("{}.{}", version / 10, version % 10); }

std::string nvrtc_wheel(int newest_major) {
    return newest_major == 12 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc";
}

std::vector<std::string> nvrtc_search_list(const Options& options, int newest_major) {
    if (!options.nvrtc_library.empty()) return {options.nvrtc_library};
    const std::vector<std::string> names = library_names(newest_major);
    std::vector<std::string> list;
    if (!options.cuda_path.empty()) add_toolkit(list, options.cuda_path, names);
    list.insert(list.end(), names.begin(), names.end());
    for (const std::string& toolkit : installed_toolkits()) add_toolkit(list, toolkit, names);
    if (!options.wheel_directory.empty()) add_wheels(list, options.wheel_directory, names);
    return without_repeats(list);
}

std::string search_fingerprint(const std::vector<std::string>& candidates, int newest_major) {
    std::string text = fmt::format("newest major {}\n{}\n", newest_major, system_search_path());
    text += stamp_text("/etc/ld.so.cache");
    for (const std::string& candidate : candidates) {
        text += candidate.find('/') == std::string::npos ? candidate + "\n" : stamp_text(candidate);
    }
    return hash_hex(text);
}

}  // namespace jitgemm
