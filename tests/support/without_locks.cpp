#include "tests/support/without_locks.hpp"

#include <cerrno>

#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

std::atomic<int> jitgemm::testing::WithoutLocks::answer{0};

/// A program's own function stands before the C library's.
extern "C" int flock(int file, int operation) noexcept {
    if (const int error = jitgemm::testing::WithoutLocks::answer; error != 0) {
        errno = error;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_flock, file, operation));
}
