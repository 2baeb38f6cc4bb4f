#include "runtime/tuning/measuring_process.hpp"

#include "runtime/log.hpp"
#include "runtime/tuning/worker_process.hpp"

#include <fmt/format.h>

namespace jitgemm::tuning {
namespace {

using Clock = WorkerProcess::Clock;
using Answer = std::variant<WorkerReply, WorkerEnd>;

constexpr double kSlowestGpu = 1e11;  // flop/s
constexpr double kSlowestEmulator = 2e6;
constexpr double kVerifyLaunches = 4;  // the kernel, the reference, and both again for the first kernel of a problem
/// A turn prepares at most two graphs of so many launches of large problems; of small ones more, which take no time.
constexpr double kTurnLaunches = 64;
constexpr double kLongestPatienceMs = 24 * 3600e3;

Verdict verdict_of(const WorkerEnd& end) { return end.timed_out ? Verdict::hung : Verdict::crashed; }

}  // namespace

std::chrono::milliseconds watchdog(std::chrono::milliseconds patience, const GemmSpec& spec, double launches,
                                   bool emulator) {
    const double pace = emulator ? kSlowestEmulator : kSlowestGpu;
    const double work_ms = std::min(1000 * launches * flops(spec) / pace, kLongestPatienceMs);
    return patience + std::chrono::milliseconds(static_cast<std::int64_t>(work_ms));
}

struct MeasuringProcess::Impl {
    explicit Impl(const MeasuringOptions& given) : options(given) { start(); }

    void start();
    WorkerProcess& living_child();
    [[nodiscard]] Clock::time_point deadline(const GemmSpec& spec, double launches) const {
        return Clock::now() + watchdog(options.patience, spec, launches, facts.emulator);
    }
    /// The child is not used further.
    void bury(const std::string& what, const std::string& message);
    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job);
    [[nodiscard]] TimeOutcome time(const TimeJob& job, const std::function<void(const TimedSample&)>& sink);

    MeasuringOptions options;
    std::unique_ptr<WorkerProcess> child;
    DeviceFacts facts;
    int children = 0;
};

void MeasuringProcess::Impl::start() {
    child = std::make_unique<WorkerProcess>(measure_worker_words(options.command));
    ++children;
    if (!child->hello().facts) throw Error("the measuring worker says nothing of its device");
    facts = *child->hello().facts;
}

WorkerProcess& MeasuringProcess::Impl::living_child() {
    if (child == nullptr) start();
    return *child;
}

void MeasuringProcess::Impl::bury(const std::string& what, const std::string& message) {
    log().info("measuring worker: {}: {}", what, message);
    child.reset();
}

VerifyOutcome MeasuringProcess::Impl::verify(const VerifyJob& job) {
    WorkerProcess& worker = living_child();
    worker.send(job);
    const Answer answer = worker.receive(deadline(job.spec, kVerifyLaunches));
    VerifyOutcome outcome{Verdict::crashed, "the process answered something else"};
    if (const auto* end = std::get_if<WorkerEnd>(&answer))
        outcome = {verdict_of(*end), end->message};
    else if (const auto* said = std::get_if<VerifyOutcome>(&std::get<WorkerReply>(answer)))
        outcome = *said;
    if (outcome.verdict == Verdict::crashed || outcome.verdict == Verdict::hung) bury(job.kernel, outcome.message);
    return outcome;
}

TimeOutcome MeasuringProcess::Impl::time(const TimeJob& job, const std::function<void(const TimedSample&)>& sink) {
    WorkerProcess& worker = living_child();
    worker.send(job);
    TimeOutcome outcome;
    std::size_t turn = 0;
    while (true) {
        const Answer answer = worker.receive(deadline(job.spec, kTurnLaunches));
        if (const auto* end = std::get_if<WorkerEnd>(&answer)) {
            outcome = {verdict_of(*end), turn, end->message, 0};
            break;
        }
        const WorkerReply& reply = std::get<WorkerReply>(answer);
        if (const auto* next = std::get_if<WorkerTurn>(&reply)) {
            turn = next->kernel;
        } else if (const auto* sample = std::get_if<TimedSample>(&reply)) {
            sink(*sample);
        } else if (const auto* done = std::get_if<TimeOutcome>(&reply)) {
            outcome = *done;
            break;
        } else {
            outcome = {Verdict::crashed, turn, "the process answered something else", 0};
            break;
        }
    }
    if (outcome.verdict == Verdict::crashed || outcome.verdict == Verdict::hung)
        bury(job.kernels.at(outcome.culprit), outcome.message);
    return outcome;
}

MeasuringProcess::MeasuringProcess(const MeasuringOptions& options) : impl_(std::make_unique<Impl>(options)) {}

MeasuringProcess::~MeasuringProcess() = default;

const DeviceFacts& MeasuringProcess::facts() const { return impl_->facts; }

VerifyOutcome MeasuringProcess::verify(const VerifyJob& job) { return impl_->verify(job); }

TimeOutcome MeasuringProcess::time(const TimeJob& job, const std::function<void(const TimedSample&)>& sink) {
    return impl_->time(job, sink);
}

int MeasuringProcess::children() const { return impl_->children; }

}  // namespace jitgemm::tuning
