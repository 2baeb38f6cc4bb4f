#include "runtime/support/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

namespace jitgemm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Polls instead of blocking: a holder that was stopped (SIGSTOP, a debugger) must not stop others for ever.
bool lock_by(int file, steady_clock::time_point deadline) {
    for (milliseconds pause{1};; pause = std::min(2 * pause, milliseconds{8})) {
        if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        const bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (!held || steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(pause);
    }
}

}  // namespace

bool FileLock::still_linked(int file, const std::string& path) {
    struct stat mine {};
    struct stat theirs {};
    if (::fstat(file, &mine) != 0 || ::stat(path.c_str(), &theirs) != 0) return false;
    return mine.st_ino == theirs.st_ino && mine.st_dev == theirs.st_dev;
}

std::optional<FileLock> FileLock::acquire(const std::string& path, milliseconds patience, StillLinked linked) {
    const auto deadline = steady_clock::now() + patience;
    do {
        FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file || !lock_by(file.number(), deadline)) return std::nullopt;
        if (linked(file.number(), path)) return FileLock(std::move(file), path);
    } while (steady_clock::now() < deadline);
    return std::nullopt;
}

FileLock::~FileLock() {
    if (file_) ::unlink(path_.c_str());
}

}  // namespace jitgemm
