#pragma once

#include "runtime/support/file_lock.hpp"

#include <optional>
#include <string>

namespace jitgemm {

/// A private folder (0700) below the system's folder for temporary files. It is removed with its contents when the
/// object ends. A lock in it shows that its owner lives. The next object with the same prefix removes the folders of
/// killed owners.
class TemporaryDirectory {
public:
    /// `prefix` begins its name. Throws Error with the place if no folder could be made.
    explicit TemporaryDirectory(const std::string& prefix);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::optional<FileLock> lock_;  ///< unset if the file system has no locks
};

/// The system's folder for temporary files, from the environment.
struct TemporaryRoot {
    std::string path;
    std::string variable;  ///< the variable that names it; empty: none does, and it is /tmp
};
[[nodiscard]] TemporaryRoot temporary_root_from_environment();

}  // namespace jitgemm
