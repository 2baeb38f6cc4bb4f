#pragma once

/// \file The effects of a fork of the process on the library.

#include <chrono>

namespace jitgemm {

/// The number of forks between this process and the one that loaded the library. Objects that were made under another
/// number belong to the parent: threads of the parent may hold their locks for ever, and CUDA does not survive a fork.
[[nodiscard]] unsigned process_generation();

/// While one lives, a fork of the process waits for it, at most for the fork's patience. It is for work that holds
/// locks of the whole process (NVRTC, SQLite, tables that are filled on first use), which a child would find held for
/// ever. Guards nest.
class ForkGuard {
public:
    /// Waits while another thread forks. Throws CompileError in a child whose fork could not wait long enough.
    ForkGuard();
    ForkGuard(const ForkGuard&) = delete;
    ForkGuard& operator=(const ForkGuard&) = delete;
    ~ForkGuard();
};

/// While one lives, forks do not wait for this thread, whatever guards it has. It is for calls that may wait for the
/// forking thread.
class ForkPause {
public:
    ForkPause();
    ForkPause(const ForkPause&) = delete;
    ForkPause& operator=(const ForkPause&) = delete;
    ~ForkPause();

private:
    int depth_;  ///< of this thread's guards
};

/// By default 10 seconds, in which several kernels are compiled. Tests may set less.
void set_fork_patience(std::chrono::milliseconds patience);

}  // namespace jitgemm
