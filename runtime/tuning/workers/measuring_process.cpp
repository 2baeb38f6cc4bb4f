#include "runtime/tuning/workers/measuring_process.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr const char* kNonsense = "the process gave an unexpected answer";

constexpr double kSlowestGpu = 1e11;  // flop/s
constexpr double kSlowestEmulator = 2e6;
constexpr double kVerifyLaunches = 4;  // the kernel, the reference, and both again for the first kernel of a problem
/// A turn prepares at most two graphs of this number of launches, if the problem is large. Small problems have more
/// launches, which take no time.
constexpr double kTurnLaunches = 64;
constexpr double kLongestPatienceMs = 24 * 3600e3;

Verdict verdict_of(const WorkerEnd& end) {
    if (end.tells_nothing) return Verdict::no_memory;
    return end.timed_out ? Verdict::hung : Verdict::crashed;
}

}  // namespace

std::chrono::milliseconds watchdog(std::chrono::milliseconds patience, const GemmSpec& spec, double launches,
                                   bool emulator) {
    const double pace = emulator ? kSlowestEmulator : kSlowestGpu;
    const double work_ms = std::min(1000 * launches * flops(spec) / pace, kLongestPatienceMs);
    return patience + std::chrono::milliseconds(static_cast<std::int64_t>(work_ms));
}

MeasuringProcess::MeasuringProcess(MeasuringOptions options) : options_(std::move(options)) { start(); }

MeasuringProcess::Clock::time_point MeasuringProcess::deadline(const GemmSpec& spec, double launches) const {
    return Clock::now() + watchdog(options_.patience, spec, launches, facts_.emulator);
}

void MeasuringProcess::start() {
    child_ = std::make_unique<WorkerProcess>(measure_worker_words(options_.command));
    ++children_;
    if (!child_->hello().facts) throw Error("the measuring worker did not report its device");
    facts_ = *child_->hello().facts;
}

/// A child in the midst of an answer is one whose listener threw: what else it says belongs to nobody.
void MeasuringProcess::revive() {
    if (answering_) child_.reset();
    answering_ = false;
    if (child_ == nullptr) start();
}

WorkerProcess& MeasuringProcess::ask(const WorkerRequest& request) {
    revive();
    answering_ = true;
    child_->send(request);
    return *child_;
}

void MeasuringProcess::conclude(Verdict verdict, const std::string& message) {
    answering_ = false;
    if (verdict != Verdict::crashed && verdict != Verdict::hung && !child_->has_ended()) return;
    log().info("measuring worker: {}", message);
    child_.reset();
}

VerifyOutcome MeasuringProcess::verify(const VerifyJob& job) {
    const Answer answer = ask(job).receive(deadline(job.spec, kVerifyLaunches));
    VerifyOutcome outcome{Verdict::crashed, kNonsense};
    if (const auto* end = std::get_if<WorkerEnd>(&answer))
        outcome = {verdict_of(*end), end->message};
    else if (const auto* said = std::get_if<VerifyOutcome>(&std::get<WorkerReply>(answer)))
        outcome = *said;
    conclude(outcome.verdict, outcome.message);
    return outcome;
}

/// The end of a timing that this answer is, if it is one; samples and rounds are passed on, turns are noted.
std::optional<TimeOutcome> MeasuringProcess::take(const Answer& answer, const TimeJob& job, const TimingEvents& events,
                                                  std::size_t& turn) {
    if (const auto* end = std::get_if<WorkerEnd>(&answer)) return TimeOutcome{verdict_of(*end), turn, end->message, 0};
    const WorkerReply& reply = std::get<WorkerReply>(answer);
    if (const auto* done = std::get_if<TimeOutcome>(&reply)) return *done;
    const auto* next = std::get_if<WorkerTurn>(&reply);
    const auto* sample = std::get_if<TimedSample>(&reply);
    if (next != nullptr && next->kernel < job.kernels.size()) {
        turn = next->kernel;
    } else if (sample != nullptr && sample->kernel < job.kernels.size()) {
        events.on_sample(*sample);
    } else if (const auto* end = std::get_if<RoundEnd>(&reply)) {
        events.on_round_end(*end);
    } else {
        return TimeOutcome{Verdict::crashed, turn, kNonsense, 0};
    }
    return std::nullopt;
}

/// A wish to stop is passed on once; the worker ends its turn and says its outcome as ever.
TimeOutcome MeasuringProcess::time(const TimeJob& job, const TimingEvents& events) {
    WorkerProcess& worker = ask(job);
    bool is_stopping = false;
    const auto pass_on_stop = [&] {
        if (is_stopping || !events.stopped()) return;
        is_stopping = true;
        worker.send(StopTiming{});
    };
    std::size_t turn = 0;
    std::optional<TimeOutcome> outcome;
    while (!outcome) outcome = take(worker.receive(deadline(job.spec, kTurnLaunches), pass_on_stop), job, events, turn);
    conclude(outcome->verdict, outcome->message);
    return *outcome;
}

}  // namespace jitgemm::tuning
