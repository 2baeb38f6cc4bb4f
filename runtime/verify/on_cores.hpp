#pragma once

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace jitgemm {

/// Calls `work(share, shares)` for each share of some rows: one per core, on threads where the process may have them.
/// Returns when all are done.
template <typename Work>
void on_cores(std::int64_t rows, const Work& work) {
    const std::int64_t shares =
        std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, std::max<std::int64_t>(rows, 1));
    std::vector<std::jthread> workers;
    for (std::int64_t share = 0; share < shares; ++share) {
        try {
            workers.emplace_back(work, share, shares);
        } catch (const std::system_error&) {  // the process may have no more threads
            work(share, shares);
        }
    }
}

}  // namespace jitgemm
