#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace jitgemm::testing {

/// Runs the steps in a child process, where limits may be set and rights be given up; their result, 99 after an
/// exception.
template <typename Steps>
int in_child(Steps steps) {
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
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace jitgemm::testing
