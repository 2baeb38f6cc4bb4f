#pragma once

#include <atomic>
#include <cstddef>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace jitgemm::testing {

/// From now on this process may start `count` more threads. All others that it may have exist, and are idle. A limit of
/// its address space leaves no room for more stacks, and some MB for other things. It also holds for root, which a
/// limit of threads would not stop. For a child that ends by _exit().
inline void allow_threads(std::size_t count) {
    constexpr std::size_t kRoom = std::size_t{52} << 20U;  // for some stacks of 8 MB and a part of one
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + kRoom;
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &limit);
    static std::atomic<bool> is_over = false;
    std::vector<std::thread> ending;
    for (std::size_t i = 0; i < count; ++i)
        ending.emplace_back([] {
            while (!is_over) ::usleep(1000);
        });
    try {
        while (true) std::thread([] { ::pause(); }).detach();
    } catch (const std::system_error&) {
    }
    is_over = true;
    for (std::thread& thread : ending) thread.join();
}

}  // namespace jitgemm::testing
