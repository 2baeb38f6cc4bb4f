#include "runtime/support/output_file.hpp"

#include "generator/text/parse_number.hpp"
#include "runtime/support/file_system.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <optional>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOrdinaryFile = 0666;  // less the umask
constexpr mode_t kModeBits = 07777;
constexpr int kMostLinks = 40;

/// The file that a name leads to.
struct OutputTarget {
    std::string path;                   ///< no link, but for those of /proc
    int descriptor = -1;                ///< of this process, where the name stands for one
    std::optional<struct stat> status;  ///< nothing: it is to be made

    [[nodiscard]] bool is_regular() const { return status && S_ISREG(status->st_mode); }
};

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

/// N of /proc/self/fd/N, which /dev/stdout leads to, and its other spellings; −1 of any other path. Opened by name, a
/// regular file behind it would be written from its start, over what was printed before.
int descriptor_of(std::string_view path) {
    for (const std::string& folder :
         {std::string("/proc/self/fd/"), std::string("/dev/fd/"), fmt::format("/proc/{}/fd/", ::getpid())}) {
        if (!path.starts_with(folder)) continue;
        if (const auto number = parse_number<int>(path.substr(folder.size()))) return *number;
    }
    return -1;
}

/// A link that nothing lies behind yet is followed too. Those of /proc are no names: the kernel alone can open them.
OutputTarget target_of(const std::string& name) {
    fs::path path = name;
    for (int links = 0; links < kMostLinks; ++links) {
        if (const int descriptor = descriptor_of(path.native()); descriptor >= 0) return {path, descriptor, {}};
        struct stat status {};
        std::error_code no_link;
        const fs::path next = path.native().starts_with("/proc/") ? fs::path() : fs::read_symlink(path, no_link);
        if (next.empty()) {
            const bool there = ::stat(path.c_str(), &status) == 0;
            return {path, -1, there ? std::optional(status) : std::nullopt};
        }
        path = path.parent_path() / next;
    }
    fail(ELOOP);
}

void require_may_write(const std::string& path) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail(errno);
}

FileDescriptor open_in_place(const OutputTarget& target) {
    const bool own = target.descriptor >= 0;
    if (own) std::fflush(nullptr);                   // what was printed before comes before
    const int create = target.status ? 0 : O_CREAT;  // asked to make one, the system refuses a pipe in a public folder
    FileDescriptor file(own ? ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0)
                            : ::open(target.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | create, kOrdinaryFile));
    if (!file) fail(errno);
    return file;
}

void write_in_place(const OutputTarget& target, std::string_view data) {
    const FileDescriptor file = open_in_place(target);
    write_all(file.number(), data, target.path);
    if (target.is_regular()) sync_file(file.number(), target.path);
}

/// Mode and owner of the file that is to be replaced; false where they cannot be given away.
bool take_over(int file, const struct stat& old) {
    struct stat now {};
    if (::fstat(file, &now) != 0) return false;
    const bool same_owner = now.st_uid == old.st_uid && now.st_gid == old.st_gid;
    if (!same_owner && ::fchown(file, old.st_uid, old.st_gid) != 0) return false;
    return ::fchmod(file, old.st_mode & kModeBits) == 0;  // last: a new owner clears bits
}

/// False, and nothing changed, where the target cannot be replaced by another file.
bool replace(const OutputTarget& target, std::string_view data) {
    const std::string aside = name_beside(target.path);
    const FileDescriptor file(
        ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOrdinaryFile));
    if (!file && target.status) return false;
    if (!file) fail(errno);
    try {
        bool replaced = !target.status || take_over(file.number(), *target.status);
        if (replaced) {
            write_all(file.number(), data, aside);
            sync_file(file.number(), aside);
            replaced = ::rename(aside.c_str(), target.path.c_str()) == 0;
            if (!replaced && !target.status) fail(errno);
        }
        if (!replaced) ::unlink(aside.c_str());
        return replaced;
    } catch (...) {
        ::unlink(aside.c_str());
        throw;
    }
}

void write_target(const OutputTarget& target, std::string_view data) {
    if (target.is_regular()) require_may_write(target.path);  // a rename would get round its mode
    const bool may_be_replaced = target.descriptor < 0 && (!target.status || target.is_regular()) &&
                                 (!target.status || target.status->st_nlink == 1);
    if (!may_be_replaced || !replace(target, data)) write_in_place(target, data);
}

void require_open(int descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags < 0) fail(errno);
    if ((flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
}

/// By making the file and taking it away again: rights alone do not tell (a read-only file system, /proc, root).
void require_makable(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOrdinaryFile));
    if (!file) fail(errno);
    ::unlink(path.c_str());
}

void require_writable_target(const OutputTarget& target) {
    if (target.descriptor >= 0) return require_open(target.descriptor);
    if (!target.status) return require_makable(target.path);
    if (S_ISDIR(target.status->st_mode)) fail(EISDIR);
    require_may_write(target.path);
}

/// The user's own name in place of what failed on the way.
template <typename Steps>
auto naming(const std::string& path, Steps steps) {
    try {
        return steps();
    } catch (const std::system_error& error) {
        throw std::system_error(error.code(), "cannot write " + path);
    }
}

}  // namespace

void write_output_file(const std::string& path, std::string_view data) {
    naming(path, [&] { write_target(target_of(path), data); });
}

FileDescriptor open_output_file(const std::string& path) {
    return naming(path, [&] { return open_in_place(target_of(path)); });
}

void require_writable(const std::string& path) {
    naming(path, [&] { require_writable_target(target_of(path)); });
}

}  // namespace jitgemm
