#pragma once

#include <string>
#include <string_view>

namespace jitgemm::cli {

/// The whole file, also of a pipe. Throws UsageError when there is none.
[[nodiscard]] std::string file_text(const std::string& path);

/// Writes beside `path` and renames, so that the file is what it was or whole; a pipe or device is written through.
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
