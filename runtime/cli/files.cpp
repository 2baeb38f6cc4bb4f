#include "runtime/cli/files.hpp"

#include "generator/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jitgemm::cli {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
    throw Error(fmt::format("{} '{}': {}", what, path, std::strerror(errno)));
}

/// A file beside the one to be written; removed unless it was renamed.
class FileBeside {
public:
    explicit FileBeside(const std::string& path) : path_(path), beside_(path + ".XXXXXX"), descriptor_(mkstemp(beside_.data())) {
        if (descriptor_ < 0) fail("cannot write", path_);
    }
    ~FileBeside() {
        if (descriptor_ >= 0) close(descriptor_);
        if (!renamed_) unlink(beside_.c_str());
    }
    FileBeside(const FileBeside&) = delete;
    FileBeside& operator=(const FileBeside&) = delete;

    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail("cannot write", path_);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void take_place() {
        const mode_t mask = umask(0);
        umask(mask);
        if (fchmod(descriptor_, 0666 & ~mask) != 0) fail("cannot write", path_);
        if (rename(beside_.c_str(), path_.c_str()) != 0) fail("cannot write", path_);
        renamed_ = true;
    }

private:
    std::string path_;
    std::string beside_;
    int descriptor_;
    bool renamed_ = false;
};

/// /dev/stdout, a pipe: written through, as there is nothing to put a file beside.
bool is_special_file(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_through(const std::string& path, std::string_view bytes) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail("cannot write", path);
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (std::fclose(file) != 0 || !written) fail("cannot write", path);
}

}  // namespace

std::string read_file(const std::string& path) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) fail("cannot read", path);
    std::string text;
    char buffer[1 << 16];
    std::size_t count = 0;
    while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, count);
    const bool failed = std::ferror(file) != 0;
    std::fclose(file);
    if (failed) fail("cannot read", path);
    return text;
}

void write_file(const std::string& path, std::string_view bytes) {
    if (is_special_file(path)) return write_through(path, bytes);
    FileBeside file(path);
    file.write(bytes);
    file.take_place();
}

TemporaryDirectory::TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "jitgemm-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) fail("cannot create a folder", path_);
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace jitgemm::cli
