#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/tuning/workers/worker_process.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace jitgemm::tuning {

struct MeasuringOptions {
    WorkerCommand command;  ///< on `command.options.device`
    /// How long a verification may take, and one turn of a kernel (its preparation, a launch or graph of launches),
    /// for a small problem; what a slow kernel needs for the problem's flops is added (watchdog()).
    std::chrono::milliseconds patience = std::chrono::seconds(30);
};

/// Measures in a child process that may die. Its death by a fault's signal, an exit, or a CUDA error that spoils the
/// context is the kernel's verdict `crashed`; one that does not answer in time is killed: `hung`. A child that somebody
/// else killed (was_killed) gives `no_memory`, which blames no kernel. The next call starts a fresh child. Throws Error
/// only when no child can be started.
class MeasuringProcess final : public MeasureService {
public:
    /// Starts the child and waits for its hello; throws Error with its words when there is none (no such device).
    explicit MeasuringProcess(MeasuringOptions options);

    [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
    void revive() override;
    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job) override;
    [[nodiscard]] TimeOutcome time(const TimeJob& job, const TimingEvents& events) override;

    /// Children started so far, the first included.
    [[nodiscard]] int children() const { return children_; }

private:
    using Clock = WorkerProcess::Clock;
    using Answer = std::variant<WorkerReply, WorkerEnd>;

    void start();
    WorkerProcess& ask(const WorkerRequest& request);
    [[nodiscard]] Clock::time_point deadline(const GemmSpec& spec, double launches) const;
    /// The answer is complete; a child that died, `crashed` or `hung` is not used further.
    void conclude(Verdict verdict, const std::string& message);
    [[nodiscard]] static std::optional<TimeOutcome> take(const Answer& answer, const TimeJob& job,
                                                         const TimingEvents& events, std::size_t& turn);

    MeasuringOptions options_;
    std::unique_ptr<WorkerProcess> child_;
    DeviceFacts facts_;
    int children_ = 0;
    bool answering_ = false;
};

/// `patience` and the time that `launches` of the problem take at a pace no kernel worth waiting for falls below:
/// 100 GFLOP/s on a GPU; on the emulator 2 MFLOP/s, the pace of a checked launch on one busy core.
[[nodiscard]] std::chrono::milliseconds watchdog(std::chrono::milliseconds patience, const GemmSpec& spec,
                                                 double launches, bool emulator);

}  // namespace jitgemm::tuning
