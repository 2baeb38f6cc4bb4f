#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/worker_command.hpp"

#include <chrono>
#include <memory>

namespace jitgemm::tuning {

struct CompilePoolOptions {
    WorkerCommand command;
    int workers = 0;                                               ///< 0: one per core that this process may use
    std::chrono::milliseconds timeout = std::chrono::seconds(60);  ///< of one compile
};

/// Compiles in worker processes, because NVRTC compiles in one thread of a process at a time, and because a compiler
/// that crashes or hangs then only takes its worker with it. This end is the kernel's outcome (compile_failed with the
/// signal and the last lines of stderr, compile_timeout), and a fresh worker goes on. If somebody else killed a worker
/// (was_killed), the kernel is not to blame: its job is tried once more, and is then `no_memory`. Jobs are taken in
/// their order. If no worker can be started, a job's future throws Error. A binary lies in
/// `command.options.cache_directory` when its job's future is ready.
class CompilePool final : public CompileService {
public:
    /// Starts one worker. Throws Error with its message if it cannot work here (no NVRTC, no such program), or with the
    /// numbers if the machine allows fewer workers.
    explicit CompilePool(const CompilePoolOptions& options);
    /// Ends the workers without waiting for their compiles. The futures of unfinished jobs report it.
    ~CompilePool() override;

    [[nodiscard]] std::shared_future<CompileOutcome> compile(const CompileJob& job) override;
    [[nodiscard]] int waiting() const override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Cores on which this process may run (its affinity, which job schedulers set), at least one.
[[nodiscard]] int usable_cores();

}  // namespace jitgemm::tuning
