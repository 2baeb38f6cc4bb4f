#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/worker_messages.hpp"

#include <functional>
#include <memory>

/// \file The worker's end of the conversation: what a worker process does besides its work.

namespace jitgemm::tuning {

/// What a compile worker does. Failures of the job are outcomes; an exception means that the worker cannot work.
class CompileWork {
public:
    virtual ~CompileWork() = default;
    [[nodiscard]] virtual CompileOutcome compile(const CompileJob& job) = 0;
};

/// Told what a measuring worker is about to do and what it found, as it does.
class TimingObserver {
public:
    virtual ~TimingObserver() = default;
    virtual void turn(std::size_t kernel) = 0;  ///< index into TimeJob::kernels: launched next
    virtual void sample(const TimedSample& sample) = 0;
    virtual void round_ended(const RoundEnd& end) = 0;
    [[nodiscard]] virtual bool stopped() = 0;  ///< to be asked before each turn: whether nobody wants another
};

/// What a measuring worker does, on one device. Failures of the job are outcomes, as far as the process survives them.
class MeasureWork {
public:
    virtual ~MeasureWork() = default;
    [[nodiscard]] virtual const DeviceFacts& facts() const = 0;
    /// Called after the hello: time for what the first request will need, while the first kernels compile. Never
    /// throws.
    virtual void warm_up() {}
    [[nodiscard]] virtual VerifyOutcome verify(const VerifyJob& job) = 0;
    [[nodiscard]] virtual TimeOutcome time(const TimeJob& job, TimingObserver& observer) = 0;
};

using MakeCompileWork = std::function<std::unique_ptr<CompileWork>()>;
using MakeMeasureWork = std::function<std::unique_ptr<MeasureWork>()>;

/// Makes the work, says hello, warms up, then answers requests from stdin on stdout until stdin ends, which ends the
/// process at once, whatever it does then. Work that cannot be made, or a request it does not know, is a refusal and
/// ends the loop. Returns the exit code. What others print on stdout goes to stderr.
[[nodiscard]] int serve_compiling(const MakeCompileWork& make);
[[nodiscard]] int serve_measuring(const MakeMeasureWork& make);

}  // namespace jitgemm::tuning
