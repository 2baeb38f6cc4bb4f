#pragma once

#include "runtime/support/file_descriptor.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace jitgemm {

/// An exclusive lock between threads and processes: flock on a lock file. It dies with its process, however that ends.
/// The file is removed on release, so that no folder fills with lock files.
class FileLock {
public:
    /// Waits at most `patience` for the holder. Nothing when it did not let go or the file cannot be made (errno says
    /// why).
    [[nodiscard]] static std::optional<FileLock> acquire(const std::string& path, std::chrono::milliseconds patience) {
        return acquire(path, patience, still_linked);
    }
    /// The same with another word on whether an open file is the one at its path; for tests.
    using StillLinked = bool (*)(int file, const std::string& path);
    [[nodiscard]] static std::optional<FileLock> acquire(const std::string& path, std::chrono::milliseconds patience,
                                                         StillLinked linked);
    /// The previous holder unlinks the file as it lets go: a lock on an unlinked file excludes nobody.
    [[nodiscard]] static bool still_linked(int file, const std::string& path);

    FileLock(FileLock&& other) noexcept = default;
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

private:
    FileLock(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
    FileDescriptor file_;
    std::string path_;
};

}  // namespace jitgemm
