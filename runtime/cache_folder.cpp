#include "runtime/cache_folder.hpp"

#include "generator/error.hpp"
#include "runtime/cache_entry.hpp"
#include "runtime/file_system.hpp"
#include "runtime/log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

/// Names in a folder, whatever they are; empty when it cannot be listed.
std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        names.push_back(entry->path().filename().string());
    }
    return names;
}

mode_t mode_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

bool others_may_write(const std::string& path) { return (mode_of(path) & (S_IWGRP | S_IWOTH)) != 0; }

/// A version record (nvrtc_record.hpp), or one a killed process left half written.
bool is_record(const std::string& name) {
    return (name.starts_with("nvrtc-") && name.ends_with(".json")) || name.starts_with(".tmp-");
}

bool is_ours(const std::string& name) {
    return is_entry_name(name) || name == "tmp" || name == "locks" || name == "failed" || name == "tuning" ||
           is_record(name);
}

/// Takes all rights from others. A folder that holds other things (a home, /tmp) keeps its mode: closing it would break
/// them.
void make_private(const std::string& root) {
    if ((mode_of(root) & (S_IRWXG | S_IRWXO)) == 0) return;
    const std::vector<std::string> names = names_in(root);
    if (std::all_of(names.begin(), names.end(), is_ours)) {
        if (::chmod(root.c_str(), S_IRWXU) != 0) throw_system_error("cannot make private", root);
    } else if (others_may_write(root)) {
        throw Error(fmt::format(
            "others may write to {}, which holds more than jitgemm's cache; choose a folder of its own", root));
    }
}

void rename_or_throw(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) throw_system_error("cannot rename to", to);
}

}  // namespace

std::vector<std::string> entries_in(const std::string& root) {
    std::vector<std::string> names = names_in(root);
    std::erase_if(
        names, [&](const std::string& name) { return !is_entry_name(name) || !S_ISDIR(mode_of(root + "/" + name)); });
    std::sort(names.begin(), names.end());
    return names;
}

bool CacheFolder::readable() const { return !root_.empty() && distrust(root_).empty() && !others_may_write(root_); }

bool CacheFolder::prepare() {
    if (root_.empty()) return false;
    try {
        make_private_directories(root_);
        if (const std::string reason = distrust(root_); !reason.empty()) throw Error(reason);
        make_private(root_);
        make_private_directories(root_ + "/tmp");
        make_private_directories(root_ + "/locks");
        return true;
    } catch (const std::exception& error) {
        report(error.what());
        return false;
    }
}

std::optional<FileLock> CacheFolder::lock(std::string_view key, std::chrono::milliseconds patience) const {
    return FileLock::acquire(fmt::format("{}/locks/{}", root_, key), patience);
}

std::string CacheFolder::temporary(std::string_view key) const {
    return fmt::format("{}/tmp/{}-{}", root_, key, unique_suffix());
}

void CacheFolder::publish(const std::string& temporary, const std::string& entry) const {
    const std::string final_path = path(entry);
    if (::rename(temporary.c_str(), final_path.c_str()) != 0) {
        // Only someone who got no lock can have put one there meanwhile; ours is as good.
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
            throw_system_error("cannot rename to", final_path);
        drop(entry);
        rename_or_throw(temporary, final_path);
    }
    if (durability_ == Durability::synced) sync_directory(root_);
}

void CacheFolder::drop(const std::string& entry) const {
    make_private_directories(root_ + "/tmp");
    const std::string aside = temporary(key_in_entry_name(entry));
    if (::rename(path(entry).c_str(), aside.c_str()) == 0) return remove_tree(aside);
    if (errno != ENOENT) throw_system_error("cannot take away", path(entry));
}

void CacheFolder::remove_leftovers(std::string_view key) const {
    for (const std::string& name : names_in(root_ + "/tmp")) {
        if (name.starts_with(key)) remove_tree(root_ + "/tmp/" + name);
    }
}

int CacheFolder::remove_all_leftovers() const {
    using namespace std::chrono_literals;
    int removed = 0;
    for (const std::string& name : names_in(root_ + "/tmp")) {
        if (!lock(name.substr(0, name.find('-')), 0ms)) continue;  // its writer is alive
        remove_tree(root_ + "/tmp/" + name);
        ++removed;
    }
    // A released lock takes its file along.
    for (const std::string& name : names_in(root_ + "/locks")) static_cast<void>(lock(name, 0ms));
    return removed;
}

void CacheFolder::remove_failed_sources() const { remove_tree(root_ + "/failed"); }

void CacheFolder::remove_records() const {
    for (const std::string& name : names_in(root_)) {
        if (is_record(name)) remove_tree(root_ + "/" + name);
    }
}

std::string CacheFolder::keep_failed_source(const std::string& entry, const std::string& body) const {
    const std::string directory = root_ + "/failed";
    std::string file = fmt::format("{}/{}.cu", directory, entry);
    try {
        make_private_directories(directory);
        write_file_atomically(file, body);
        return file;
    } catch (const std::exception& error) {
        log().debug("refused source not kept: {}", error.what());
        return {};
    }
}

std::vector<std::string> CacheFolder::entries() const {
    return readable() ? entries_in(root_) : std::vector<std::string>{};
}

void CacheFolder::report(const std::string& reason) {
    if (reported_.exchange(true)) return;
    log().warn("working without the kernel cache: {}", reason);
}

}  // namespace jitgemm
