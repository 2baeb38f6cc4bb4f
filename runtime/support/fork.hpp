#pragma once

/// \file What a fork of the process means to the library.

#include <chrono>

namespace jitgemm {

/// How many forks lie between this process and the one that loaded the library. What was made under another number is
/// its parent's: threads of the parent may hold its locks for ever, and CUDA serves no fork.
[[nodiscard]] unsigned process_generation();

/// While one lives, a fork of the process waits for it, for the fork's patience at most. For work that holds locks of
/// the whole process, which a child would find held for ever: NVRTC, SQLite, tables that are filled when they are first
/// used. Guards nest.
class ForkGuard {
public:
    /// Waits while another thread forks. Throws CompileError in a child whose fork could not wait long enough.
    ForkGuard();
    ForkGuard(const ForkGuard&) = delete;
    ForkGuard& operator=(const ForkGuard&) = delete;
    ~ForkGuard();
};

/// While one lives, forks don't wait for this thread, whatever guards it has: it calls what may wait for the thread
/// that forks.
class ForkPause {
public:
    ForkPause();
    ForkPause(const ForkPause&) = delete;
    ForkPause& operator=(const ForkPause&) = delete;
    ~ForkPause();

private:
    int depth_;  ///< of this thread's guards
};

/// 10 seconds, in which several kernels are compiled, unless a test is in a hurry.
void set_fork_patience(std::chrono::milliseconds patience);

}  // namespace jitgemm
