#pragma once

#include "runtime/cache/cache_names.hpp"
#include "runtime/support/file_lock.hpp"
#include "runtime/support/file_system.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The user's own cache folder: its places, whether it can be trusted and written, and how entries come into it and go.
/// It may hold other files. Only files with names of cache_names.hpp, and of the kind that the name says, are touched.
///
///     <root>/<kernel name>-<key>/     entries, only ever renamed into place
///     <root>/tmp/<key>-<unique>/      entries being written or removed; left-overs of a killed process
///     <root>/locks/<key>              held while a key is looked up again, compiled and stored
///     <root>/failed/<...>.cu          sources the compiler refused
///     <root>/compilers/<...>          one empty file for each NVRTC that made an entry
///     <root>/nvrtc-<hash>.json        see nvrtc_record.hpp
///     <root>/tuning/                  not the cache's: never touched
class CacheFolder {
public:
    /// An empty root is a folder that can neither be read nor written. It reports nothing.
    explicit CacheFolder(std::string root, Durability durability = Durability::synced)
        : root_(std::move(root)), durability_(durability) {}

    [[nodiscard]] const std::string& root() const { return root_; }
    [[nodiscard]] Durability durability() const { return durability_; }
    [[nodiscard]] std::string path(const std::string& entry) const { return root_ + "/" + entry; }

    /// Why the folder cannot be trusted (somebody else owns it, or others may write to it), and what the user can do.
    /// Empty if it can be trusted, or if there is no folder.
    [[nodiscard]] std::string distrusted() const;
    [[nodiscard]] bool readable() const { return !root_.empty() && distrusted().empty(); }
    /// Makes the missing parts of the folder. Returns false, and logs it once, if the folder cannot be used.
    [[nodiscard]] bool prepare();

    [[nodiscard]] std::string lock_path(std::string_view key) const { return fmt::format("{}/locks/{}", root_, key); }
    /// Nothing if another process holds it for longer, or if the folder takes no locks.
    [[nodiscard]] std::optional<FileLock> lock(std::string_view key, std::chrono::milliseconds patience) const;
    [[nodiscard]] std::string temporary(std::string_view key) const;
    /// Renames a finished temporary folder to its final name. Returns false, and changes nothing, if that name exists.
    /// Throws std::system_error.
    [[nodiscard]] bool publish(const std::string& temporary, const std::string& entry) const;
    /// Removes an entry: in one step, or file by file if the file system cannot move it (a folder of a lower layer of
    /// overlayfs). Does nothing if there is none. Throws Error if somebody put another file into it, and
    /// std::system_error if it cannot be moved or removed.
    void drop(const std::string& entry) const;
    /// Removes the left-overs of killed processes for this key. Its lock must be held.
    void remove_leftovers(std::string_view key) const;
    /// The same for every key whose lock is free. Returns the number of folders.
    int remove_all_leftovers() const;
    void remove_failed_sources() const;
    void remove_records() const;

    /// Notes the compiler that made an entry. Failures are only logged.
    void remember_compiler(int nvrtc_version, const std::string& build) const;

    /// Keeps a source that the compiler refused. Returns its path, or "" if it could not be kept.
    [[nodiscard]] std::string keep_failed_source(const std::string& entry, const std::string& body) const;

    /// Names of all entries, sorted.
    [[nodiscard]] std::vector<std::string> entries() const;

    /// Logs once in the life of this object that kernels are not kept.
    void report(const std::string& reason);

private:
    std::string root_;
    Durability durability_;
    std::atomic<bool> reported_ = false;
};

/// Names of the entries in any folder (also the read-only one) that begin with a prefix, sorted. Empty if the folder
/// cannot be listed.
[[nodiscard]] std::vector<std::string> entries_in(const std::string& root, std::string_view prefix = {});

/// The compilers that made a folder's entries, as far as they were noted. The newest is first.
[[nodiscard]] std::vector<NamedCompiler> compilers_in(const std::string& root);

}  // namespace jitgemm
