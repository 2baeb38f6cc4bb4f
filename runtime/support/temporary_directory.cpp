#include "runtime/support/temporary_directory.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <stdlib.h>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kOwnersLock = "jitgemm-owner.lock";
constexpr std::size_t kRandomLetters = 6;  // mkdtemp's
constexpr int kAttempts = 3;
constexpr auto kLockPatience = 1s;  // somebody who looks whether the owner lives holds it for a moment

std::string lock_in(const std::string& folder) { return fmt::format("{}/{}", folder, kOwnersLock); }

std::string existing_root() {
    const TemporaryRoot root = temporary_root_from_environment();
    std::error_code error;
    if (fs::is_directory(root.path, error)) return root.path;
    if (root.variable.empty()) throw Error(fmt::format("there is no folder {}: set TMPDIR to a folder", root.path));
    throw Error(fmt::format("{} is '{}', which is no folder: set it to a folder that exists, or unset it for /tmp",
                            root.variable, root.path));
}

std::string make_folder(const std::string& root, const std::string& prefix) {
    std::string path = fmt::format("{}/{}-{}", root, prefix, std::string(kRandomLetters, 'X'));
    if (mkdtemp(path.data()) == nullptr)
        throw Error(fmt::format("no folder can be made in {}: {}; set TMPDIR to a folder where it can", root,
                                std::generic_category().message(errno)));
    return path;
}

bool is_own_folder(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

bool is_name_of(const std::string& name, const std::string& prefix) {
    const auto is_letter = [](unsigned char letter) { return std::isalnum(letter) != 0; };
    return name.size() == prefix.size() + 1 + kRandomLetters && name.starts_with(prefix + '-') &&
           std::all_of(name.end() - kRandomLetters, name.end(), is_letter);
}

/// The lock goes last: whoever is killed meanwhile leaves a folder that the next one knows.
void remove_with_lock(const std::string& folder) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename() != kOwnersLock) remove_tree(entry->path().string());
    remove_tree(folder);
}

/// Without a lock file it may be a folder that is being made just now, or one whose file system has no locks.
void remove_if_abandoned(const std::string& folder) {
    if (!is_own_folder(folder) || !is_file(lock_in(folder))) return;
    const std::optional<FileLock> lock = FileLock::acquire(lock_in(folder), 0ms);
    if (!lock) return;
    log().info("removing {}, left by a killed process", folder);
    remove_with_lock(folder);
}

void remove_abandoned(const std::string& root, const std::string& prefix) {
    std::vector<std::string> folders;
    std::error_code error;
    for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error))
        if (is_name_of(entry->path().filename().string(), prefix)) folders.push_back(entry->path().string());
    for (const std::string& folder : folders) remove_if_abandoned(folder);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(const std::string& prefix) {
    const std::string root = existing_root();
    remove_abandoned(root, prefix);
    // Another process may take a folder for abandoned before it is locked, and remove it.
    for (int attempt = 0; attempt < kAttempts && !is_folder(path_); ++attempt) {
        path_ = make_folder(root, prefix);
        if (std::optional<FileLock> lock = FileLock::acquire(lock_in(path_), kLockPatience))
            lock_.emplace(*std::move(lock));
    }
}

TemporaryDirectory::~TemporaryDirectory() { remove_with_lock(path_); }

}  // namespace jitgemm
