#include "runtime/support/file_lock.hpp"

#include "runtime/support/log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace jitgemm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::error_code lock_error() { return {errno, std::generic_category()}; }

struct LockFile {
    FileDescriptor file;
    bool is_new = false;  ///< made here
};

LockFile open_lock_file(const std::string& path) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    FileDescriptor made(::open(path.c_str(), kFlags | O_EXCL, 0600));
    if (made || errno != EEXIST) return {std::move(made), true};
    return {FileDescriptor(::open(path.c_str(), kFlags, 0600)), false};
}

/// Polls instead of blocking: a holder that was stopped (SIGSTOP, a debugger) must not stop others for ever.
bool lock_by(int file, steady_clock::time_point deadline, std::error_code& hindrance) {
    for (milliseconds pause{1};; pause = std::min(2 * pause, milliseconds{8})) {
        if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        const bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (!held) hindrance = lock_error();
        if (!held || steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(pause);
    }
}

void log_no_locks(const std::string& path, const std::error_code& error) {
    static std::atomic_flag logged;
    if (logged.test_and_set()) return;
    log().warn("{} cannot be locked ({}): processes that use this folder at once may repeat each other's work", path,
               error.message());
}

}  // namespace

bool FileLock::still_linked(int file, const std::string& path) {
    struct stat mine {};
    struct stat theirs {};
    if (::fstat(file, &mine) != 0 || ::stat(path.c_str(), &theirs) != 0) return false;
    return mine.st_ino == theirs.st_ino && mine.st_dev == theirs.st_dev;
}

std::optional<FileLock> FileLock::acquire(const std::string& path, milliseconds patience, std::error_code& hindrance,
                                          StillLinked linked) {
    hindrance.clear();
    const auto deadline = steady_clock::now() + patience;
    do {
        LockFile lock = open_lock_file(path);
        if (!lock.file) {
            hindrance = lock_error();
            return std::nullopt;
        }
        if (lock_by(lock.file.number(), deadline, hindrance)) {
            if (linked(lock.file.number(), path)) return FileLock(std::move(lock.file), path);
            continue;
        }
        if (hindrance) {
            if (lock.is_new) ::unlink(path.c_str());
            log_no_locks(path, hindrance);
        }
        return std::nullopt;
    } while (steady_clock::now() < deadline);
    return std::nullopt;
}

FileLock::~FileLock() {
    if (!file_) return;
    ::unlink(path_.c_str());
    ::flock(file_.number(), LOCK_UN);  // closing it would not do while a fork of this process has it open, too
}

}  // namespace jitgemm
