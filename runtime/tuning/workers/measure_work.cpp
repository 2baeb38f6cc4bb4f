#include "runtime/tuning/workers/measure_work.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/tuned_records.hpp"
#include "runtime/tuning/workers/problem_benches.hpp"
#include "runtime/tuning/workers/timed_round.hpp"
#include "runtime/verify/emulated_time.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "runtime/verify/reference_kernels.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <thread>

namespace jitgemm::tuning {
namespace {

using namespace std::chrono_literals;

constexpr auto kCoolDown = 500ms;

/// Results after which a context goes on working: what was asked for could not be done (cuda.h, CUresult).
constexpr std::array<std::string_view, 7> kHarmlessResults{
    "CUDA_ERROR_OUT_OF_MEMORY",          "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    "CUDA_ERROR_NO_BINARY_FOR_GPU",      "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_NOT_SUPPORTED",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"};

bool is_want_of_memory(const std::exception& error) {
    const auto* cuda = dynamic_cast<const CudaError*>(&error);
    return cuda != nullptr && cuda->result_name() == "CUDA_ERROR_OUT_OF_MEMORY";
}

/// Passes on what a timing does, and remembers whose turn it is.
class CurrentTurn final : public TimingObserver {
public:
    explicit CurrentTurn(TimingObserver& listener) : listener_(listener) {}
    void turn(std::size_t kernel) override {
        current_ = kernel;
        listener_.turn(kernel);
    }
    void sample(const TimedSample& sample) override { listener_.sample(sample); }
    void round_ended(const RoundEnd& end) override { listener_.round_ended(end); }
    [[nodiscard]] bool stopped() override { return listener_.stopped(); }
    [[nodiscard]] std::size_t current() const { return current_; }

private:
    TimingObserver& listener_;
    std::size_t current_ = 0;
};

// ---- on a GPU -------------------------------------------------------------------------------------------------------

GemmKernel kernel_of(const Context& context, const VerifyJob& job) {
    const Problem problem = problem_of(job.spec);
    return state_of(context).build(problem, config_of_kernel(problem, job.kernel));
}

class GpuWork final : public MeasureWork {
public:
    explicit GpuWork(Context context)
        : context_(std::move(context)), facts_(device_facts(state_of(context_))), benches_(state_of(context_)) {}

    [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }

    /// The reference kernels take three times as long to compile as a candidate.
    void warm_up() override {
        try {
            static_cast<void>(ReferenceKernels(state_of(context_)));
        } catch (const Error& error) {
            log().debug("measuring worker: {}", error.what());  // the first verification says it again
        }
    }

    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job) override {
        try {
            ExactVerifier& verifier = benches_.verifier(job);
            const GemmKernel kernel = kernel_of(context_, job);
            const Verification found = verifier.verify(kernel);
            return found.ok ? VerifyOutcome{} : VerifyOutcome{Verdict::wrong, found.message};
        } catch (const std::exception& error) {
            return {verdict_here(error), error.what()};
        }
    }

    [[nodiscard]] TimeOutcome time(const TimeJob& job, TimingObserver& listener) override {
        CurrentTurn observer(listener);
        TimeOutcome outcome;
        try {
            TimingBench& bench = benches_.timing(job);
            prepare(bench, job, observer);
            for (int i = 0; i < job.rounds && !observer.stopped(); ++i)
                outcome.repeated_rounds += measure_round(job, i, round_device(bench, job), observer);
        } catch (const std::exception& error) {
            outcome.verdict = verdict_here(error);
            outcome.culprit = observer.current();
            outcome.message = error.what();
        }
        return outcome;
    }

private:
    void prepare(TimingBench& bench, const TimeJob& job, TimingObserver& observer) {
        bench.keep_only(job.kernels);
        for (std::size_t i = 0; i < job.kernels.size() && !observer.stopped(); ++i) {
            observer.turn(i);
            bench.add(job.kernels[i]);
        }
    }

    /// Memory that somebody else holds is no kernel's fault; that it does not fit into what there is, is.
    [[nodiscard]] Verdict verdict_here(const std::exception& error) {
        if (is_want_of_memory(error) && benches_.others_hold_the_memory()) return Verdict::no_memory;
        return verdict_of(error);
    }

    [[nodiscard]] RoundDevice round_device(TimingBench& bench, const TimeJob& job) const {
        return {[this] { return read_device(facts_.ordinal); },
                [&bench, &job](std::size_t i) { return bench.microseconds(job.kernels[i]); },
                [&bench, &job](std::size_t i) { return bench.sustained_microseconds(job.kernels[i]); },
                [] { std::this_thread::sleep_for(kCoolDown); }};
    }

    Context context_;
    DeviceFacts facts_;
    ProblemBenches benches_;
};

// ---- on the emulator ------------------------------------------------------------------------------------------------

class EmulatorWork final : public MeasureWork {
public:
    explicit EmulatorWork(Context context) : context_(std::move(context)), facts_(device_facts(state_of(context_))) {}

    [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }

    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job) override {
        try {
            const Verification found = run(job);
            return found.ok ? VerifyOutcome{} : VerifyOutcome{Verdict::wrong, found.message};
        } catch (const std::exception& error) {
            return {verdict_of(error), error.what()};
        }
    }

    [[nodiscard]] TimeOutcome time(const TimeJob& job, TimingObserver& listener) override {
        CurrentTurn observer(listener);
        TimeOutcome outcome;
        const auto estimate = [&](std::size_t i) { return estimated_us(job, i); };
        const RoundDevice device{[] { return DeviceReading{}; }, estimate, estimate, [] {}};
        try {
            for (int i = 0; i < job.rounds && !observer.stopped(); ++i) measure_round(job, i, device, observer);
        } catch (const std::exception& error) {
            outcome = {verdict_of(error), observer.current(), error.what(), 0};
        }
        return outcome;
    }

private:
    [[nodiscard]] static std::string key(const VerifyJob& job) { return job.kernel + ' ' + to_string(job.spec); }

    /// Verifies, and remembers the time that the launch's counters give.
    [[nodiscard]] Verification run(const VerifyJob& job) {
        require_emulable(job.spec, as_emulator(*state_of(context_).device)->gflop_limit());
        const GemmKernel kernel = kernel_of(context_, job);
        const EmulatedVerification found =
            verify_emulated(state_of(context_), kernel, {.alpha = job.alpha, .beta = job.beta});
        if (found.verification.ok)
            estimates_us_[key(job)] = estimate_time(found.counters, kernel, job.alpha, job.beta).total_us;
        return found.verification;
    }

    [[nodiscard]] double estimated_us(const TimeJob& job, std::size_t kernel) {
        const VerifyJob one{job.spec, job.kernels[kernel], job.alpha, job.beta};
        if (!estimates_us_.contains(key(one))) {
            const Verification found = run(one);  // the child that verified it was another
            if (!found.ok) throw Error(found.message);
        }
        return estimates_us_.at(key(one));
    }

    Context context_;
    DeviceFacts facts_;
    std::map<std::string, double> estimates_us_;
};

}  // namespace

DeviceFacts device_facts(ContextState& context) {
    return device_facts(*context.device, context.templates, *context.compiler);
}

Verdict verdict_of(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return Verdict::no_memory;
    const auto* cuda = dynamic_cast<const CudaError*>(&error);
    if (cuda == nullptr) return Verdict::unfit;
    return std::ranges::find(kHarmlessResults, cuda->result_name()) != kHarmlessResults.end() ? Verdict::unfit
                                                                                              : Verdict::crashed;
}

std::unique_ptr<MeasureWork> make_measure_work(const WorkerCommand& command) {
    Context context(command.options);
    if (state_of(context).device->kind() == DeviceKind::emulator)
        return std::make_unique<EmulatorWork>(std::move(context));
    return std::make_unique<GpuWork>(std::move(context));
}

}  // namespace jitgemm::tuning
