#include "runtime/support/fork.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace jitgemm {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr std::chrono::milliseconds kPatience{10'000};

// Waits look again and again: a child could not use a condition variable that its parent's threads wait on.
std::atomic<std::chrono::milliseconds> patience{kPatience};
std::atomic<int> guarded_threads{0};
std::atomic<int> forks_in_progress{0};
std::atomic<unsigned> generation{0};
std::atomic<bool> is_cut{false};  // a fork of a process in which a guard was alive
thread_local int guards = 0;      // of this thread

int own_guards() { return guards > 0 ? 1 : 0; }

void before_fork() {
    ++forks_in_progress;
    const auto deadline = steady_clock::now() + patience.load();
    while (guarded_threads > own_guards() && steady_clock::now() < deadline) std::this_thread::sleep_for(kBetweenLooks);
    hold_log();
}

void after_fork_in_parent() {
    release_log(false);
    --forks_in_progress;
}

void after_fork_in_child() {
    release_log(true);
    if (guarded_threads > own_guards()) is_cut = true;
    guarded_threads = own_guards();
    forks_in_progress = 0;
    ++generation;
}

// From the moment that the library is loaded: a handler that is set later might come after the fork.
[[maybe_unused]] const int kRegistered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

void enter() {
    while (true) {
        while (forks_in_progress > 0) std::this_thread::sleep_for(kBetweenLooks);
        ++guarded_threads;
        if (forks_in_progress == 0) return;
        --guarded_threads;
    }
}

[[noreturn]] void throw_cut() {
    throw CompileError(
        fmt::format("process {} cannot make a kernel: its parent was making one when it forked, and for more than {} "
                    "ms before, "
                    "so its locks are never released here. Fork while no kernel is being made, or start a new process "
                    "(exec; in Python, multiprocessing's \"spawn\")",
                    ::getpid(), patience.load().count()),
        {});
}

}  // namespace

void set_fork_patience(std::chrono::milliseconds most) { patience = most; }

unsigned process_generation() { return generation.load(std::memory_order_relaxed); }

ForkGuard::ForkGuard() {
    if (is_cut) throw_cut();
    if (guards == 0) enter();
    ++guards;
}

ForkGuard::~ForkGuard() {
    if (--guards == 0) --guarded_threads;
}

ForkPause::ForkPause() : depth_(std::exchange(guards, 0)) {
    if (depth_ > 0) --guarded_threads;
}

ForkPause::~ForkPause() {
    if (depth_ > 0) enter();
    guards = depth_;
}

}  // namespace jitgemm
