#pragma once

#include "runtime/tuning/store/records.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

/// \file The services that a sweep needs: one that compiles and one that measures. In the tool both are child processes
/// (compile_pool.hpp, measuring_process.hpp). Tests use scripted ones.

namespace jitgemm::tuning {

/// A wait for a compile, a worker or the device checks the clock and Ctrl-C in this interval.
inline constexpr std::chrono::milliseconds kLookInterval{100};

struct CompileJob {
    GemmSpec spec;
    std::string kernel;
    std::string arch;
    bool ptx = false;  ///< for the emulator
};

/// Compiles many kernels at once. Thread-safe.
class CompileService {
public:
    virtual ~CompileService() = default;
    /// Enqueues a job. A job with the same kernel and arch as an earlier one gives the same result without another
    /// compile. Failures of the job are outcomes and never exceptions. The future throws if no worker can do the job.
    [[nodiscard]] virtual std::shared_future<CompileOutcome> compile(const CompileJob& job) = 0;
    [[nodiscard]] virtual int waiting() const = 0;  ///< jobs not done yet
};

struct VerifyJob {
    GemmSpec spec;
    std::string kernel;
    float alpha = 1.0F;
    float beta = 0.0F;
};

/// The pseudo kernel that stands for cuBLASLt's best algorithm in a TimeJob.
inline constexpr std::string_view kCublasLt = "cublaslt";

struct TimeJob {
    GemmSpec spec;
    std::vector<std::string> kernels;    ///< they are verified
    std::vector<int> first_rounds = {};  ///< the number of each kernel's first round in the records
    int rounds = 3;                      ///< of each
    Protocol protocol = Protocol::steady;
    bool sustained = false;  ///< steady: each turn also times the kernel by the sustained protocol
    bool hot = false;        ///< one copy of the operands: all in L2 if they fit
    std::uint64_t seed = 7;
    float alpha = 1.0F;
    float beta = 0.0F;
    GroupSizes group_sizes = GroupSizes::uniform;
};

struct TimedSample {
    std::size_t kernel = 0;  ///< index into TimeJob::kernels
    Sample sample;           ///< without its `after` reading
};

/// The end of a round, or of the part that time allowed.
struct RoundEnd {
    DeviceReading after;  ///< of all samples of the round
    bool counts = true;   ///< false: a slowdown spoilt the round. Its samples are void, and it is measured again
};

/// Callbacks for the caller of a timing, in its own thread.
struct TimingEvents {
    std::function<void(const TimedSample&)> on_sample;                       ///< after each measurement
    std::function<void(const RoundEnd&)> on_round_end = [](const auto&) {};  ///< about the samples since the last end
    /// Asked at every turn and ten times per second. True ends the job after the current turn.
    std::function<bool()> stopped = [] { return false; };
};

struct TimeOutcome {
    Verdict verdict = Verdict::fine;  ///< fine, crashed, hung or unfit
    std::size_t culprit = 0;          ///< the kernel whose turn it was then
    std::string message;
    int repeated_rounds = 0;  ///< rounds that were discarded because of a thermal or hardware slowdown
};

/// Problems that are searched at once on one device, if its memory has room. While some wait for compiles, others
/// verify and time. Fewer would leave the device or the compilers idle, and more would only keep operands on the device
/// (docs/tuning-processes.md has figures).
inline constexpr int kProblemsInFlight = 12;

/// One device. It is not thread-safe; SharedDevice is. A child that ends is replaced before the next call.
class MeasureService {
public:
    virtual ~MeasureService() = default;
    [[nodiscard]] virtual const DeviceFacts& facts() const = 0;
    /// Starts a fresh child now if the last one has ended. Else the next call does it.
    virtual void revive() {}
    [[nodiscard]] virtual VerifyOutcome verify(const VerifyJob& job) = 0;
    /// Interleaved rounds. Samples without a round's end belong to a round that was cut short, and count.
    [[nodiscard]] virtual TimeOutcome time(const TimeJob& job, const TimingEvents& events) = 0;
};

}  // namespace jitgemm::tuning
