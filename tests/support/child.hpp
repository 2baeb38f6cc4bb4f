#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace jitgemm::testing {

/// Starts a child process that runs the steps. It ends with their result, or with 99 after an exception. No other
/// thread may run: it might hold the lock of the sanitizers' allocator, which the child would wait for.
template <typename Steps>
pid_t start_child(Steps steps) {
    std::fflush(nullptr);  // or the child might print the parent's lines again
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 99;
        try {
            status = steps();
        } catch (...) {
        }
        ::_exit(status);
    }
    return child;
}

/// Waits for the child. The result is -1 after a signal.
inline int result_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Runs the steps in a child process, where limits may be set and rights be given up.
template <typename Steps>
int in_child(Steps steps) {
    return result_of(start_child(steps));
}

}  // namespace jitgemm::testing
