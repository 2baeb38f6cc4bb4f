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
    /// The time limit of a verification, and of one turn of a kernel (its preparation, a launch or graph of launches),
    /// for a small problem. The time that a slow kernel needs for the problem's flops is added (watchdog()).
    std::chrono::milliseconds patience = std::chrono::seconds(30);
};

/// Measures in a child process that may die. Its end by a fault's signal, an exit, or a CUDA error that spoils the
/// context is the kernel's verdict `crashed`. A child that does not answer in time is killed: `hung`. If somebody else
/// killed a child (was_killed), the verdict is `no_memory`, which blames no kernel. The next call starts a fresh child.
/// Throws Error only if no child can be started.
class MeasuringProcess final : public MeasureService {
public:
    /// Starts the child and waits for its hello. Throws Error with its message if there is none (no such device).
    explicit MeasuringProcess(MeasuringOptions options);

    [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
    void revive() override;
    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job) override;
    [[nodiscard]] TimeOutcome time(const TimeJob& job, const TimingEvents& events) override;

    /// Children started so far, including the first one.
    [[nodiscard]] int children() const { return children_; }

private:
    using Clock = WorkerProcess::Clock;
    using Answer = std::variant<WorkerReply, WorkerEnd>;

    void start();
    WorkerProcess& ask(const WorkerRequest& request);
    [[nodiscard]] Clock::time_point deadline(const GemmSpec& spec, double launches) const;
    /// The answer is complete. A child that ended, `crashed` or `hung` is not used further.
    void conclude(Verdict verdict, const std::string& message);
    [[nodiscard]] static std::optional<TimeOutcome> take(const Answer& answer, const TimeJob& job,
                                                         const TimingEvents& events, std::size_t& turn);

    MeasuringOptions options_;
    std::unique_ptr<WorkerProcess> child_;
    DeviceFacts facts_;
    int children_ = 0;
    bool answering_ = false;
};

/// `patience` plus the time of `launches` of the problem at the slowest sensible pace: 100 GFLOP/s on a GPU; on the
/// emulator 2 MFLOP/s, the pace of a checked launch on one busy core.
[[nodiscard]] std::chrono::milliseconds watchdog(std::chrono::milliseconds patience, const GemmSpec& spec,
                                                 double launches, bool emulator);

}  // namespace jitgemm::tuning
