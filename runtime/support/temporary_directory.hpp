#pragma once

#include <string>

namespace jitgemm {

/// A private folder (0700) below the system's folder for temporary files, removed with all it holds when the object goes.
class TemporaryDirectory {
public:
    /// `prefix`: how its name begins. Throws std::system_error, naming the place, where none could be made.
    explicit TemporaryDirectory(const std::string& prefix);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace jitgemm
