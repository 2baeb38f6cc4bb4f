#pragma once

#include "runtime/file_descriptor.hpp"

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
    [[nodiscard]] static std::optional<FileLock> acquire(const std::string& path, std::chrono::milliseconds patience);

    FileLock(FileLock&& other) noexcept = default;
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

private:
    FileLock(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
    FileDescriptor file_;
    std::string path_;
};

}  // namespace jitgemm
