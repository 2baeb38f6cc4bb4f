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
/// It may hold other things: only what has a name of cache_names.hpp, and is what that name stands for, is touched.
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
    /// An empty root is a folder that can neither be read nor written, and says nothing of it.
    explicit CacheFolder(std::string root, Durability durability = Durability::synced)
        : root_(std::move(root)), durability_(durability) {}

    [[nodiscard]] const std::string& root() const { return root_; }
    [[nodiscard]] Durability durability() const { return durability_; }
    [[nodiscard]] std::string path(const std::string& entry) const { return root_ + "/" + entry; }

    /// Why what lies there cannot be trusted (it is somebody else's, or others may write to it) and what the user can
    /// do; empty when it can be, or is not there.
    [[nodiscard]] std::string distrusted() const;
    [[nodiscard]] bool readable() const { return !root_.empty() && distrusted().empty(); }
    /// Makes what is missing of the folder. False, and said once on the log, when it cannot be used.
    [[nodiscard]] bool prepare();

    [[nodiscard]] std::string lock_path(std::string_view key) const { return fmt::format("{}/locks/{}", root_, key); }
    /// Nothing when it is held for longer, or the folder takes no locks.
    [[nodiscard]] std::optional<FileLock> lock(std::string_view key, std::chrono::milliseconds patience) const;
    [[nodiscard]] std::string temporary(std::string_view key) const;
    /// Renames a finished temporary folder into place; false, and nothing changed, where something lies there already.
    /// Throws std::system_error.
    [[nodiscard]] bool publish(const std::string& temporary, const std::string& entry) const;
    /// Takes an entry away: in one step, or file by file where the file system cannot move it (a folder of a lower
    /// layer of overlayfs). Nothing happens when it is not there. Throws Error when somebody put a file of their own
    /// into it, std::system_error when it cannot be moved or removed.
    void drop(const std::string& entry) const;
    /// Removes what killed processes left of this key; its lock must be held.
    void remove_leftovers(std::string_view key) const;
    /// The same for every key whose lock is free; returns how many folders.
    int remove_all_leftovers() const;
    void remove_failed_sources() const;
    void remove_records() const;

    /// Notes which compiler made an entry; failures are only logged.
    void remember_compiler(int nvrtc_version, const std::string& build) const;

    /// Keeps a source the compiler refused; its path, empty when that was not possible.
    [[nodiscard]] std::string keep_failed_source(const std::string& entry, const std::string& body) const;

    /// Names of all entries, sorted.
    [[nodiscard]] std::vector<std::string> entries() const;

    /// Says once, for the life of this object, that kernels are not kept.
    void report(const std::string& reason);

private:
    std::string root_;
    Durability durability_;
    std::atomic<bool> reported_ = false;
};

/// Names of the entries in any folder (also the read-only layer) that begin so, sorted; empty when it cannot be listed.
[[nodiscard]] std::vector<std::string> entries_in(const std::string& root, std::string_view prefix = {});

/// The compilers that made entries of any folder, newest first, as far as they were noted.
[[nodiscard]] std::vector<NamedCompiler> compilers_in(const std::string& root);

}  // namespace jitgemm
