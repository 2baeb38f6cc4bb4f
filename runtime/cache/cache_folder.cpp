#include "runtime/cache/cache_folder.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cache/cache_entry.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/trust.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

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

bool is_ours(const std::string& name) {
    constexpr std::array kPlaces{"tmp", "locks", "failed", "compilers", "tuning"};
    return is_entry_name(name) || is_record_name(name) ||
           std::find(kPlaces.begin(), kPlaces.end(), name) != kPlaces.end();
}

/// Takes all rights from others. The mount options of some file systems fix every mode.
void close_to_others(const std::string& root) {
    const std::string was_open = open_to_all(root);
    if (::chmod(root.c_str(), S_IRWXU) != 0) throw_system_error("cannot make private", root);
    if (others_may_write(root))
        throw Error(
            fmt::format("others may write to {}, and its file system ignores chmod: set "
                        "JITGEMM_CACHE_DIR to a folder on another file system",
                        root));
    if (!was_open.empty() && !entries_in(root).empty())
        log().warn(
            "all users could write to {}: it is private from now on, and entries that they could have changed "
            "are made again",
            root);
}

/// A folder that holds other things (a home, /tmp) keeps its mode: closing it would break them.
void make_private(const std::string& root) {
    if ((mode_of(root) & (S_IRWXG | S_IRWXO)) == 0) return;
    const std::vector<std::string> names = names_in(root);
    if (std::all_of(names.begin(), names.end(), is_ours)) return close_to_others(root);
    if (others_may_write(root))
        throw Error(fmt::format(
            "others may write to {}, which is not only jitgemm's cache: choose a folder for the cache alone", root));
}

bool may(const std::string& path, int rights) { return ::faccessat(AT_FDCWD, path.c_str(), rights, AT_EACCESS) == 0; }

/// Lists ways out for a user to whom the folder doesn't belong. Ways that don't work there are left out.
std::string ways_around(const std::string& root) {
    std::string ways = "set JITGEMM_CACHE_DIR to a folder of your own";
    if (fs::is_directory(root) && may(root, W_OK | X_OK)) ways += fmt::format(", for example {}/NAME", root);
    if (fs::is_directory(root) && may(root, R_OK | X_OK) && open_to_all(root).empty())
        ways += fmt::format("; JITGEMM_CACHE_READONLY={} reads what is there", root);
    return ways;
}

/// Why the folder is not the user's, and the way out; empty when it is, or is not there.
std::string foreign_cache(const std::string& root) {
    const std::string reason = foreign_folder(root);
    return reason.empty() ? reason : fmt::format("{}: {}", reason, ways_around(root));
}

/// A folder that is no more than an entry being written or removed.
bool is_leftover(const std::string& directory) { return is_folder(directory) && foreign_file_in(directory).empty(); }

/// Removes the files of these names, and their folder when nothing else was in it.
template <typename IsName>
void remove_files(const std::string& directory, IsName is_name) {
    bool removed = false;
    for (const std::string& name : names_in(directory)) {
        const std::string file = directory + "/" + name;
        if (is_name(name) && is_file(file)) removed = ::unlink(file.c_str()) == 0 || removed;
    }
    if (removed) ::rmdir(directory.c_str());
}

}  // namespace

std::vector<std::string> entries_in(const std::string& root, std::string_view prefix) {
    std::vector<std::string> names = names_in(root);
    std::erase_if(names, [&](const std::string& name) {
        return !name.starts_with(prefix) || !is_entry_name(name) || !holds_entry(root + "/" + name);
    });
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<NamedCompiler> compilers_in(const std::string& root) {
    std::vector<NamedCompiler> compilers;
    for (const std::string& name : names_in(root + "/compilers")) {
        if (NamedCompiler named = parse_compiler_name(name); named.nvrtc_version != 0)
            compilers.push_back(std::move(named));
    }
    std::sort(compilers.begin(), compilers.end(), [](const NamedCompiler& one, const NamedCompiler& other) {
        return std::pair(one.nvrtc_version, one.build) > std::pair(other.nvrtc_version, other.build);
    });
    return compilers;
}

std::string CacheFolder::distrusted() const {
    if (std::string reason = foreign_cache(root_); !reason.empty()) return reason;
    if (!others_may_write(root_)) return {};
    return fmt::format("others may write to {}: 'chmod go-w {}' forbids it", root_, root_);
}

bool CacheFolder::prepare() {
    if (root_.empty()) return false;
    try {
        make_private_directories(root_);
        if (const std::string reason = foreign_cache(root_); !reason.empty()) throw Error(reason);
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
    return FileLock::acquire(lock_path(key), patience);
}

std::string CacheFolder::temporary(std::string_view key) const {
    return fmt::format("{}/tmp/{}-{}", root_, key, unique_suffix());
}

bool CacheFolder::publish(const std::string& temporary, const std::string& entry) const {
    if (::rename(temporary.c_str(), path(entry).c_str()) != 0) {
        if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return false;
        throw_system_error("cannot rename to", path(entry));
    }
    if (durability_ == Durability::synced) sync_directory(root_);
    return true;
}

void CacheFolder::drop(const std::string& entry) const {
    if (const std::string foreign = foreign_file_in(path(entry)); !foreign.empty())
        throw Error(fmt::format("{} is not removed: the cache did not make {} in it", path(entry), foreign));
    make_private_directories(root_ + "/tmp");
    const std::string aside = temporary(key_in_entry_name(entry));
    if (::rename(path(entry).c_str(), aside.c_str()) == 0) return remove_entry_files(aside);
    if (errno == ENOENT) return;
    if (errno != EXDEV) throw_system_error("cannot take away", path(entry));
    remove_entry_files(path(entry));
    if (is_folder(path(entry)) && ::rmdir(path(entry).c_str()) != 0) throw_system_error("cannot remove", path(entry));
}

void CacheFolder::remove_leftovers(std::string_view key) const {
    for (const std::string& name : names_in(root_ + "/tmp")) {
        const std::string directory = root_ + "/tmp/" + name;
        if (is_temporary_name(name) && name.starts_with(key) && is_leftover(directory)) remove_entry_files(directory);
    }
}

int CacheFolder::remove_all_leftovers() const {
    using namespace std::chrono_literals;
    int removed = 0;
    for (const std::string& name : names_in(root_ + "/tmp")) {
        const std::string directory = root_ + "/tmp/" + name;
        if (!is_temporary_name(name) || !is_leftover(directory)) continue;
        if (!lock(name.substr(0, name.find('-')), 0ms)) continue;  // its writer is alive
        remove_entry_files(directory);
        ++removed;
    }
    // A released lock takes its file along. None of ours holds a byte.
    for (const std::string& name : names_in(root_ + "/locks")) {
        const std::string file = root_ + "/locks/" + name;
        if (is_lock_name(name) && is_file(file) && file_stamp(file).value_or(FileStamp{1, 0}).size == 0)
            static_cast<void>(lock(name, 0ms));
    }
    return removed;
}

void CacheFolder::remove_failed_sources() const { remove_files(root_ + "/failed", is_failed_source_name); }

void CacheFolder::remove_records() const {
    for (const std::string& name : names_in(root_)) {
        if (const std::string file = path(name); is_record_name(name) && is_file(file)) ::unlink(file.c_str());
    }
    remove_files(root_ + "/compilers",
                 [](const std::string& name) { return parse_compiler_name(name).nvrtc_version != 0; });
}

void CacheFolder::remember_compiler(int nvrtc_version, const std::string& build) const {
    const std::string directory = root_ + "/compilers";
    const std::string file = fmt::format("{}/{}", directory, compiler_name(nvrtc_version, build));
    if (is_file(file)) return;
    try {
        make_private_directories(directory);
        write_new_file(file, "");
    } catch (const std::exception& error) {
        log().debug("compiler not noted: {}", error.what());
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
