#pragma once

#include "runtime/support/file_lock.hpp"

#include <optional>
#include <string>

namespace jitgemm {

/// A private folder (0700) below the system's folder for temporary files, removed with all it holds when the object
/// goes. A lock in it tells that its owner lives. The next one of the same prefix removes the folders that killed
/// owners left.
class TemporaryDirectory {
public:
    /// `prefix`: how its name begins. Throws Error, naming the place, where none could be made.
    explicit TemporaryDirectory(const std::string& prefix);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::optional<FileLock> lock_;  ///< nothing where the file system has no locks
};

/// The system's folder for temporary files as the environment names it.
struct TemporaryRoot {
    std::string path;
    std::string variable;  ///< that names it; empty: none does, and it is /tmp
};
[[nodiscard]] TemporaryRoot temporary_root_from_environment();

}  // namespace jitgemm
