#pragma once

#include <atomic>

namespace jitgemm::testing {

/// While the object lives, no file of this process can be locked by flock, as on a file system that has no locks.
class WithoutLocks {
public:
    /// `error` is what flock answers: ENOLCK, ENOSYS, EOPNOTSUPP ...
    explicit WithoutLocks(int error) { answer = error; }
    WithoutLocks(const WithoutLocks&) = delete;
    WithoutLocks& operator=(const WithoutLocks&) = delete;
    ~WithoutLocks() { answer = 0; }

    static std::atomic<int> answer;  ///< 0: what the system says
};

}  // namespace jitgemm::testing
