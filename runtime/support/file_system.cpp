#include "runtime/support/file_system.hpp"

#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/trust.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <random>

namespace jitgemm {
namespace {

/// Beyond any source, cubin, record or wisdom there is; a sparse file claims terabytes.
constexpr std::int64_t kLargestFileRead = std::int64_t{1} << 30;

std::string read_all(int file, std::size_t size, const std::string& path) {
    std::string text(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
        const ssize_t got = ::read(file, text.data() + filled, size - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_system_error("cannot read", path);
        if (got == 0) break;  // shrank meanwhile; the caller's checksum will tell
        filled += static_cast<std::size_t>(got);
    }
    text.resize(filled);
    return text;
}

mode_t link_mode(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

void make_private_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
    throw_system_error("cannot make", path);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not block
    if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    if (!file) throw_system_error("cannot open", path);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) throw_system_error("cannot read", path);
    if (!S_ISREG(status.st_mode)) throw std::system_error(EINVAL, std::generic_category(), "not a file: " + path);
    if (status.st_size > kLargestFileRead)
        throw std::system_error(
            EFBIG, std::generic_category(),
            fmt::format("{} bytes, more than {} are not read: {}", status.st_size, kLargestFileRead, path));
    return read_all(file.number(), static_cast<std::size_t>(status.st_size), path);
}

void write_all(int file, std::string_view data, const std::string& path) {
    while (!data.empty()) {
        const ssize_t written = ::write(file, data.data(), data.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_system_error("cannot write", path);
        data.remove_prefix(static_cast<std::size_t>(written));
    }
}

void sync_file(int file, const std::string& path) {
    if (::fsync(file) != 0) throw_system_error("cannot sync", path);
}

void write_new_file(const std::string& path, std::string_view data, mode_t mode, Durability durability) {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file) throw_system_error("cannot create", path);
    try {
        write_all(file.number(), data, path);
        if (durability == Durability::synced) sync_file(file.number(), path);
    } catch (...) {
        ::unlink(path.c_str());
        throw;
    }
}

std::string name_beside(const std::string& path) {
    constexpr std::size_t kMostNameLetters = 200;  // `path` may already be as long as a file name can be
    const std::filesystem::path target = path;
    const std::string name = target.filename().string().substr(0, kMostNameLetters);
    return (target.parent_path() / fmt::format(".{}.tmp-{}", name, unique_suffix())).string();
}

void write_file_atomically(const std::string& path, std::string_view data, mode_t mode) {
    const std::string aside = name_beside(path);
    write_new_file(aside, data, mode);
    if (::rename(aside.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    ::unlink(aside.c_str());
    throw std::system_error(error, std::generic_category(), "cannot rename to " + path);
}

void sync_directory(const std::string& path) {
    const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) throw_system_error("cannot open", path);
    // Some network file systems cannot sync a folder; the rename itself is atomic on them all the same.
    if (::fsync(directory.number()) != 0 && errno != EINVAL) throw_system_error("cannot sync", path);
}

void make_private_directories(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return;
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    if (!parent.empty() && parent != path) make_private_directories(parent.string());
    make_private_directory(path);
    if (!std::filesystem::is_directory(path, ignored)) {
        throw std::system_error(ENOTDIR, std::generic_category(), "cannot make " + path);
    }
}

void remove_tree(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) log().debug("cannot remove {}: {}", path, error.message());
}

std::string unique_suffix() {
    static std::atomic<std::uint32_t> counter{0};
    // A forked child shares the parent's counter, so process and random device speak too.
    const std::uint32_t random = std::random_device{}();
    const auto process = static_cast<std::uint32_t>(::getpid());
    return fmt::format("{:08x}{:08x}", random ^ (process << 8U), (process << 16U) ^ counter.fetch_add(1));
}

bool is_folder(const std::string& path) { return S_ISDIR(link_mode(path)); }

bool is_file(const std::string& path) { return S_ISREG(link_mode(path)); }

std::optional<FileStamp> file_stamp(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    const std::int64_t nanoseconds = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    return FileStamp{static_cast<std::uint64_t>(status.st_size), nanoseconds};
}

std::string distrust(const std::string& path) {
    const std::string reason = foreign_folder(path);
    return reason.empty() ? open_to_all(path) : reason;
}

}  // namespace jitgemm
