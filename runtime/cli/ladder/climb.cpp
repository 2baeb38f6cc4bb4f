#include "runtime/cli/ladder/climb.hpp"

#include "generator/base/sector.hpp"
#include "generator/global_traffic.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "runtime/bench/rotating_operands.hpp"
#include "runtime/cli/emulated_run.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/ladder/cpu_loop.hpp"
#include "runtime/cli/ladder/peer.hpp"
#include "runtime/verify/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace jitgemm::cli {
namespace {

constexpr std::string_view kOutOfMemory = "CUDA_ERROR_OUT_OF_MEMORY";
constexpr double kBudgetUs = 1.5e6;  // of a rung's timing: less than Ctrl-C waits for
constexpr int kFewestRounds = 3;
constexpr int kWarmUpReplays = 3;  // of time_candidates, before its rounds

/// Of the kernel's mainloop, the loads of fragments that ptxas makes included.
std::optional<double> conflicts_of(const Problem& problem, const KernelConfig& config) {
    KernelAnatomy anatomy = family_of(config).anatomy(problem, config);
    std::vector<SharedAccess> accesses = std::move(anatomy.accesses);
    std::ranges::move(anatomy.assumed_accesses, std::back_inserter(accesses));
    if (accesses.empty()) return std::nullopt;
    return mainloop_slowdown(accesses);
}

/// Facts of a kernel that are known without running it.
RungKernel facts_of(const GemmKernel& kernel) {
    const KernelState& state = state_of(kernel);
    RungKernel facts;
    facts.name = state.info().name;
    facts.body = state.source().body;
    facts.unit = family_of(state.source().id.config).math_unit;
    facts.global_bytes = global_traffic(state.problem, state.source().id.config).total();
    facts.conflicts = conflicts_of(state.problem, state.source().id.config);
    facts.registers = state.info().registers;
    facts.spill_bytes = state.info().spill_bytes;
    facts.shared_bytes = state.info().shared_bytes;
    facts.threads = state.info().threads;
    facts.blocks = state.info().blocks;
    facts.tile = family_of(state.source().id.config).anatomy(state.problem, state.source().id.config).block;
    return facts;
}

RungTime time_of(const Timing& timing, std::string protocol) {
    return {timing.median_us,    timing.low_us, timing.high_us, static_cast<int>(timing.rounds_us.size()),
            std::move(protocol), false};
}

RungCounts counts_of(const emulator::Counters& counters) {
    const emulator::Tally& all = counters.total;
    return {all.warps, all.sectors, all.wavefronts, all.ideal_wavefronts, all.operations};
}

/// One ladder being climbed.
class Climb {
public:
    Climb(ContextState& context, const ProblemRequest& request, const ClimbOptions& options, Output& output,
          LadderReport& report)
        : context_(context),
          request_(request),
          options_(options),
          output_(output),
          report_(report),
          problem_(problem_of(report.spec)) {}

    void find_peer() {
        if (report_.emulated) return;
        output_.progress("cuBLASLt: looking for its best algorithm");
        peer_ = best_of_cublaslt(context_, report_.spec, timing_options(options_.rounds), report_.peer);
    }

    [[nodiscard]] RungReport try_rung(const Rung& rung) {
        RungReport result;
        result.rung = rung;
        result.command = dump_command(rung, problem_, *report_.gpu.arch);
        const auto give_up = [&](RungStatus status, std::string reason) {
            result.status = status;
            result.reason = std::move(reason);
        };
        try {
            rung.kind == RungKind::cpu ? run_loop(result) : run_kernel(result);
        } catch (const Interrupted&) {
            throw;
        } catch (const emulator::EmulatorStopped&) {
            throw;
        } catch (const ConfigError& error) {
            give_up(RungStatus::refused, fmt::format("{}", fmt::join(error.reasons(), "\n")));
        } catch (const CudaError& error) {
            if (error.result_name() != kOutOfMemory) throw;
            give_up(RungStatus::failed, error.what());
        } catch (const Error& error) {
            give_up(RungStatus::failed, error.what());
        }
        return result;
    }

private:
    void step(const RungReport& rung, std::string_view what) const {
        stop_if_interrupted();
        output_.progress(fmt::format("[{}/{}] {}: {}", report_.rungs.size() + 1, ladder_rungs(report_.spec.a).size(),
                                     rung.rung.name, what));
    }

    [[nodiscard]] TimingOptions timing_options(int rounds, Protocol protocol = Protocol::steady) const {
        TimingOptions timing;
        timing.protocol = protocol;
        timing.rounds = rounds;
        timing.alpha = request_.alpha;
        timing.beta = request_.beta;
        return timing;
    }

    // ---- the CPU's rung ---------------------------------------------------------------------------------------------

    void run_loop(RungReport& rung) const {
        if (options_.cpu_limit_seconds <= 0) {
            rung.status = RungStatus::skipped;
            rung.reason = "skipped: --cpu-limit 0";
            return;
        }
        if (const double bytes = cpu_loop_bytes(report_.spec); bytes > kCpuLoopMemory) {
            rung.status = RungStatus::refused;
            rung.reason = fmt::format("its operands take {:.1f} GiB in f32, the limit is {:.0f} GiB",
                                      bytes / (1LL << 30), kCpuLoopMemory / (1LL << 30));
            return;
        }
        step(rung, "running");
        const CpuLoopRun run =
            time_cpu_loop(report_.spec, request_.alpha, request_.beta, options_.cpu_limit_seconds, interrupted);
        stop_if_interrupted();
        const double us = run.extrapolated_microseconds(report_.spec);
        rung.time = RungTime{us, us, us, 1, "loop", !run.whole};
        rung.reason = run.whole ? fmt::format("It took {:.3g} s.", run.seconds)
                                : fmt::format("It computed {} of {} elements of D in {:.2f} s: extrapolated.",
                                              run.elements, report_.spec.m * report_.spec.n, run.seconds);
    }

    // ---- kernels ----------------------------------------------------------------------------------------------------

    void run_kernel(RungReport& rung) {
        step(rung, "choosing and compiling");
        const KernelConfig config = choose_config(problem_, report_.gpu, selection_of(rung.rung));
        if (const auto twin = rung_with(config)) return copy_figures(rung, *twin);
        const GemmKernel kernel = context_.build(problem_, config);
        rung.kernel = facts_of(kernel);
        report_.emulated ? count(rung, kernel) : measure(rung, kernel);
    }

    [[nodiscard]] std::optional<std::size_t> rung_with(const KernelConfig& config) const {
        const std::string name = kernel_name(problem_, config);
        for (std::size_t i = 0; i < report_.rungs.size(); ++i)
            if (report_.rungs[i].kernel && report_.rungs[i].kernel->name == name) return i;
        return std::nullopt;
    }

    void copy_figures(RungReport& rung, std::size_t twin) const {
        const RungReport& other = report_.rungs[twin];
        rung.status = other.status;
        rung.reason = other.reason;
        rung.kernel = other.kernel;
        rung.time = other.time;
        rung.peer_us = other.peer_us;
        rung.counts = other.counts;
        rung.same_as = twin;
    }

    static void judge(RungReport& rung, const Verification& verdict) {
        if (verdict.ok) return;
        rung.status = RungStatus::wrong;
        rung.reason = verdict.message;
    }

    void count(RungReport& rung, const GemmKernel& kernel) const {
        step(rung, "running on the emulator");
        const EmulatedRun run = run_emulated(context_, kernel, request_, output_);
        judge(rung, run.measurement.verification);
        rung.counts = counts_of(run.counters);
        rung.kernel->global_bytes = kSectorBytes * static_cast<double>(run.counters.total.sectors);
    }

    void measure(RungReport& rung, const GemmKernel& kernel) const {
        step(rung, "verifying");
        judge(rung, verify(context_, kernel, {.alpha = request_.alpha, .beta = request_.beta}));
        if (rung.status != RungStatus::ok) return;
        step(rung, "timing");
        std::vector<BenchCandidate> candidates;
        candidates.push_back(candidate_of(rung.kernel->name, kernel));
        if (peer_) candidates.push_back(*peer_);
        time(rung, candidates);
    }

    /// A single launch shows how many rounds there is time for; for the slowest it is the figure itself.
    void time(RungReport& rung, const std::vector<BenchCandidate>& candidates) const {
        std::vector<Timing> timings =
            time_candidates(context_, report_.spec, candidates, timing_options(1, Protocol::cold));
        double launch_us = 0;
        for (const Timing& timing : timings) launch_us += timing.median_us;
        const std::optional<int> rounds = rounds_within_budget(launch_us, copies(), options_.rounds);
        stop_if_interrupted();
        if (rounds) timings = time_candidates(context_, report_.spec, candidates, timing_options(*rounds));
        rung.time = time_of(timings.front(), rounds ? "steady" : "cold");
        if (peer_) rung.peer_us = timings.back().median_us;
    }

    /// Of the operands that a steady timing rotates through.
    [[nodiscard]] std::int64_t copies() const {
        const std::int64_t wanted = std::max(TimingOptions{}.rotating_bytes, 4 * context_.device->model().l2_bytes);
        return rotation_plan(report_.spec, wanted, static_cast<std::int64_t>(context_.device->free_memory())).copies;
    }

    ContextState& context_;
    const ProblemRequest& request_;
    const ClimbOptions& options_;
    Output& output_;
    LadderReport& report_;
    Problem problem_;
    std::optional<BenchCandidate> peer_;
};

}  // namespace

std::optional<int> rounds_within_budget(double launch_us, std::int64_t copies, int wanted_rounds) {
    const double replay_us = std::max(launch_us * static_cast<double>(copies), TimingOptions{}.minimum_graph_us);
    const int rounds = static_cast<int>(std::min(kBudgetUs / replay_us - kWarmUpReplays, 1e6));
    if (rounds < std::min(kFewestRounds, wanted_rounds)) return std::nullopt;
    return std::min(rounds, wanted_rounds);
}

void climb(ContextState& context, const ProblemRequest& request, const ClimbOptions& options, Output& output,
           const std::function<void(const LadderReport&)>& begun, const RungDone& done, LadderReport& report) {
    Climb climb(context, request, options, output, report);
    try {
        climb.find_peer();
        begun(report);
        for (const Rung& rung : ladder_rungs(report.spec.a)) {
            report.rungs.push_back(climb.try_rung(rung));
            done(report, report.rungs.size() - 1);
        }
    } catch (const Interrupted&) {
        report.interrupted = true;
    } catch (const emulator::EmulatorStopped&) {
        report.interrupted = true;
    }
}

}  // namespace jitgemm::cli
