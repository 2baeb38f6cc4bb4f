#pragma once

#include "runtime/tuning/store/records.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

/// \file What a sweep needs of the world: someone who compiles and someone who measures. In the tool both are child
/// processes (compile_pool.hpp, measuring_process.hpp); tests put scripted ones in their place.

namespace jitgemm::tuning {

/// Whoever waits for a compile, a worker or the device looks up this often: at the clock and for Ctrl-C.
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
    /// Enqueues; a job asked for before (same kernel and arch) gives the same result again without another compile.
    /// Never throws for what the job does: failures are outcomes. The future throws where there is nobody to do it.
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
    std::vector<std::string> kernels;    ///< verified before
    std::vector<int> first_rounds = {};  ///< the number of the first round of each, as it will be recorded
    int rounds = 3;                      ///< of each
    Protocol protocol = Protocol::steady;
    bool sustained = false;  ///< steady: each turn times the kernel by the sustained protocol as well
    bool hot = false;        ///< one copy of the operands: all in L2 where it fits
    std::uint64_t seed = 7;
    float alpha = 1.0F;
    float beta = 0.0F;
};

struct TimedSample {
    std::size_t kernel = 0;  ///< index into TimeJob::kernels
    Sample sample;           ///< `after` is not read yet
};

/// The end of a round, or of as much of it as there was time for.
struct RoundEnd {
    DeviceReading after;  ///< of all its samples
    bool counts = true;   ///< false: a slowdown spoilt it, its samples are void, the round is measured again
};

/// What the one who asked for a timing is told and asked meanwhile, in their own thread.
struct TimingEvents {
    std::function<void(const TimedSample&)> on_sample;                       ///< as soon as it is measured
    std::function<void(const RoundEnd&)> on_round_end = [](const auto&) {};  ///< of the samples since the last one
    /// Asked at every turn and ten times per second: true ends the job after the turn under way.
    std::function<bool()> stopped = [] { return false; };
};

struct TimeOutcome {
    Verdict verdict = Verdict::fine;  ///< fine, crashed, hung or unfit
    std::size_t culprit = 0;          ///< whose turn it was when that happened
    std::string message;
    int repeated_rounds = 0;  ///< rounds thrown away because of a thermal or hardware slowdown
};

/// Problems that are searched at once on one device, as far as its memory has room. While some wait for compiles,
/// others verify and time: fewer leave the device or the compilers idle, more only keep operands on the device
/// (docs/tuning-processes.md has figures).
inline constexpr int kProblemsInFlight = 12;

/// One device. Not thread-safe (SharedDevice is). A child that dies is replaced before the next call.
class MeasureService {
public:
    virtual ~MeasureService() = default;
    [[nodiscard]] virtual const DeviceFacts& facts() const = 0;
    /// Starts a fresh child now where the last one died, and not with the next call.
    virtual void revive() {}
    [[nodiscard]] virtual VerifyOutcome verify(const VerifyJob& job) = 0;
    /// Interleaved rounds; samples without a round's end are of a round that was cut short, and count.
    [[nodiscard]] virtual TimeOutcome time(const TimeJob& job, const TimingEvents& events) = 0;
};

}  // namespace jitgemm::tuning
