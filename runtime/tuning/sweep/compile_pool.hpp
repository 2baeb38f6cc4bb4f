#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/worker_command.hpp"

#include <chrono>
#include <memory>

namespace jitgemm::tuning {

struct CompilePoolOptions {
    WorkerCommand command;
    int workers = 0;                                               ///< 0: one per core this process may use
    std::chrono::milliseconds timeout = std::chrono::seconds(60);  ///< of one compile
};

/// Compiles in worker processes: NVRTC lets one thread of a process compile at a time, and a compiler that crashes or
/// never returns takes no more with it than its worker. Such an end is that kernel's outcome (compile_failed with the
/// signal and the last lines of stderr, compile_timeout), and a fresh worker goes on. A worker that somebody else
/// killed (was_killed) is no kernel's fault: its job is tried once more, and is then `no_memory`. Jobs are taken in the
/// order they came. Where no worker can be started, a job's future throws Error: that is no kernel's outcome. Binaries
/// lie in `command.options.cache_directory` when a job's future is ready.
class CompilePool final : public CompileService {
public:
    /// Starts one worker; throws Error with its words when it cannot work here (no NVRTC, no such program), or how
    /// many of how many there could be where the machine allows no more.
    explicit CompilePool(const CompilePoolOptions& options);
    /// Ends the workers without waiting for what they compile; futures of jobs not done say so.
    ~CompilePool() override;

    [[nodiscard]] std::shared_future<CompileOutcome> compile(const CompileJob& job) override;
    [[nodiscard]] int waiting() const override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Cores this process may run on (its affinity, as job schedulers set it), at least one.
[[nodiscard]] int usable_cores();

}  // namespace jitgemm::tuning
