#pragma once

#include <cstddef>
#include <functional>

namespace jitgemm::warm {

/// Calls work(0) ... work(count - 1) on that many threads, each index once, in this order. No further call begins once
/// `stopped` says so or a call has thrown; the first exception is thrown again when all threads have ended.
void on_threads(int threads, std::size_t count, const std::function<bool()>& stopped,
                const std::function<void(std::size_t)>& work);

}  // namespace jitgemm::warm
