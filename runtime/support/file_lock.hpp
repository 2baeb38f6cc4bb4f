#pragma once

#include "runtime/support/file_descriptor.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <system_error>

namespace jitgemm {

/// An exclusive lock between threads and processes: flock on a lock file. It ends with its process, however that ends.
/// The file is removed on release, so that no folder fills with lock files.
class FileLock {
public:
    /// Waits at most `patience` for the holder. Nothing if the holder keeps it, or if there can be no lock here.
    /// `hindrance` separates the two cases: it is the reason why there can be none (the file cannot be made, the file
    /// system has no locks), else 0. The process's first file system without locks is logged.
    [[nodiscard]] static std::optional<FileLock> acquire(const std::string& path, std::chrono::milliseconds patience,
                                                         std::error_code& hindrance) {
        return acquire(path, patience, hindrance, still_linked);
    }
    /// For callers that treat both cases alike.
    [[nodiscard]] static std::optional<FileLock> acquire(const std::string& path, std::chrono::milliseconds patience) {
        std::error_code ignored;
        return acquire(path, patience, ignored);
    }
    /// With another function that tells whether an open file is still the one at its path; for tests.
    using StillLinked = bool (*)(int file, const std::string& path);
    [[nodiscard]] static std::optional<FileLock> acquire(const std::string& path, std::chrono::milliseconds patience,
                                                         std::error_code& hindrance, StillLinked linked);
    /// The previous holder unlinks the file when it releases it, and a lock on an unlinked file excludes nobody.
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
