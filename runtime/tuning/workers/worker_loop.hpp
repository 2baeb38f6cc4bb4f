#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/worker_messages.hpp"

#include <functional>
#include <memory>

/// \file The worker's end of the conversation: the duties of a worker process beside its work.

namespace jitgemm::tuning {

/// The work of a compile worker. Failures of the job are outcomes. An exception means that the worker cannot work.
class CompileWork {
public:
    virtual ~CompileWork() = default;
    [[nodiscard]] virtual CompileOutcome compile(const CompileJob& job) = 0;
};

/// Receives a measuring worker's steps and results as they happen.
class TimingObserver {
public:
    virtual ~TimingObserver() = default;
    virtual void turn(std::size_t kernel) = 0;  ///< index into TimeJob::kernels: the next launch
    virtual void sample(const TimedSample& sample) = 0;
    virtual void round_ended(const RoundEnd& end) = 0;
    [[nodiscard]] virtual bool stopped() = 0;  ///< asked before each turn: whether the job should end
};

/// The work of a measuring worker on one device. Failures of the job are outcomes, if the process survives them.
class MeasureWork {
public:
    virtual ~MeasureWork() = default;
    [[nodiscard]] virtual const DeviceFacts& facts() const = 0;
    /// Called after the hello: time to prepare for the first request while the first kernels compile. Never throws.
    virtual void warm_up() {}
    [[nodiscard]] virtual VerifyOutcome verify(const VerifyJob& job) = 0;
    [[nodiscard]] virtual TimeOutcome time(const TimeJob& job, TimingObserver& observer) = 0;
};

using MakeCompileWork = std::function<std::unique_ptr<CompileWork>()>;
using MakeMeasureWork = std::function<std::unique_ptr<MeasureWork>()>;

/// Makes the work, says hello, warms up, and answers requests from stdin on stdout. The end of stdin ends the process
/// at once, whatever it does. If the work cannot be made, or a request is unknown, the worker refuses and the loop
/// ends. Returns the exit code. Other output to stdout goes to stderr.
[[nodiscard]] int serve_compiling(const MakeCompileWork& make);
[[nodiscard]] int serve_measuring(const MakeMeasureWork& make);

}  // namespace jitgemm::tuning
