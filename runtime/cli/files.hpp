#pragma once

#include <string>
#include <string_view>

namespace jitgemm::cli {

/// The whole file. Throws Error naming the file and what the system said.
[[nodiscard]] std::string read_file(const std::string& path);

/// Writes beside `path` and renames, so that the file is either what it was or whole. Throws Error as above.
void write_file(const std::string& path, std::string_view bytes);

/// A folder of the process's own, gone with the object.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace jitgemm::cli
