#include "tests/fuzz/guarded_run.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
/// The sanitizer's shadow is terabytes of address space, so that it has to watch over the memory itself.
extern "C" const char* __asan_default_options() {  // NOLINT: its name
    return "hard_rss_limit_mb=2048:max_allocation_size_mb=2048:allocator_may_return_null=0";
}
#endif

namespace jitgemm::fuzz {
namespace {

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
    const rlim_t bytes = rlim_t{kMostMegabytes} << 20U;
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &limit);
#endif
}

/// A counter that parent and child share: the input at hand.
class SharedPosition {
public:
    using Counter = std::atomic<std::size_t>;
    SharedPosition() {
        void* page = ::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) throw Error("no memory to share");
        counter_ = new (page) Counter(0);
    }
    SharedPosition(const SharedPosition&) = delete;
    SharedPosition& operator=(const SharedPosition&) = delete;
    ~SharedPosition() { ::munmap(counter_, sizeof(Counter)); }
    [[nodiscard]] Counter& operator*() const { return *counter_; }

private:
    Counter* counter_;
};

[[noreturn]] void run_child(const Target& target, std::size_t count,
                            const std::function<std::string(std::size_t)>& input, std::atomic<std::size_t>& position) {
    limit_memory();
    for (; position < count; ++position) {
        ::alarm(kMostSeconds);
        read(target, input(position));
    }
    ::_exit(0);
}

std::string description(int status) {
    if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    return signal == SIGALRM ? fmt::format("more than {} seconds", kMostSeconds) : std::string(::strsignal(signal));
}

}  // namespace

int run_guarded(const Target& target, std::size_t count, const std::function<std::string(std::size_t)>& input,
                const std::function<void(std::size_t, const std::string&)>& failed) {
    const SharedPosition position;
    int failures = 0;
    for (; *position < count; ++*position) {
        const pid_t child = ::fork();
        if (child < 0) throw Error("no process can be made");
        if (child == 0) run_child(target, count, input, *position);
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status == 0) break;
        failed(*position, description(status));
        ++failures;
    }
    return failures;
}

}  // namespace jitgemm::fuzz
