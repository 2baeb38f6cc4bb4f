#pragma once

#include "runtime/file_lock.hpp"
#include "runtime/file_system.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The user's own cache folder: its places, whether it can be trusted and written, and how entries come into it and go.
///
///     <root>/<kernel name>-<key>/     entries, only ever renamed into place
///     <root>/tmp/<key>-<unique>/      entries being written or removed; left-overs of a killed process
///     <root>/locks/<key>              held while a key is looked up again, compiled and stored
///     <root>/failed/<...>.cu          sources the compiler refused
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

    /// Whether what lies there is this user's own.
    [[nodiscard]] bool readable() const;
    /// Makes what is missing of the folder. False, and said once on the log, when it cannot be used.
    [[nodiscard]] bool prepare();

    [[nodiscard]] std::optional<FileLock> lock(std::string_view key, std::chrono::milliseconds patience) const;
    [[nodiscard]] std::string temporary(std::string_view key) const;
    /// Renames a finished temporary folder into place. Throws std::system_error.
    void publish(const std::string& temporary, const std::string& entry) const;
    /// Takes an entry away in one step; nothing happens when it is not there. Throws std::system_error.
    void drop(const std::string& entry) const;
    /// Removes what killed processes left of this key; its lock must be held.
    void remove_leftovers(std::string_view key) const;
    /// The same for every key whose lock is free; returns how many folders.
    int remove_all_leftovers() const;
    void remove_failed_sources() const;
    void remove_records() const;

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

/// Names of the entries in any folder (also the read-only layer), sorted; empty when it cannot be listed.
[[nodiscard]] std::vector<std::string> entries_in(const std::string& root);

}  // namespace jitgemm
