#include "runtime/benchmark.hpp"

#include "runtime/cuda_timing.hpp"
#include "runtime/rotating_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

constexpr std::int64_t kFlushBytes = 512LL << 20;
constexpr std::int64_t kMostGraphLaunches = 1 << 16;
constexpr double kNormalInputsLimit =
    0x1p38;  // multiply-adds up to which a contender is checked on normal inputs as well

/// Nearest-rank percentile of sorted values.
double percentile(const std::vector<double>& sorted, double part) {
    const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double median(const std::vector<double>& sorted) {
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<Timing> summaries(std::vector<std::vector<double>> rounds) {
    std::vector<Timing> timings;
    for (std::vector<double>& times : rounds) {
        std::vector<double> sorted = times;
        std::ranges::sort(sorted);
        timings.push_back({median(sorted), percentile(sorted, 0.1), percentile(sorted, 0.9), std::move(times)});
    }
    return timings;
}

/// One figure a contender and round. Every second round goes backwards, so that no contender always follows the same
/// one.
template <typename Measure>
std::vector<Timing> alternate(std::size_t contenders, int rounds, const Measure& measure) {
    std::vector<std::vector<double>> times(contenders);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < contenders; ++i) {
            const std::size_t turn = round % 2 == 0 ? i : contenders - 1 - i;
            times[turn].push_back(measure(turn));
        }
    }
    return summaries(std::move(times));
}

// ---- steady: graphs of launches -------------------------------------------------------------------------------------

/// A contender's launches over all copies, as often as the shortest replay asks for.
struct Replay {
    CudaGraph graph;
    std::int64_t launches = 0;
};

struct Stopwatch {
    CudaStream stream;
    CudaEvent start;
    CudaEvent stop;

    [[nodiscard]] double microseconds(const CudaGraph& graph) const {
        start.record(stream);
        graph.launch(stream);
        stop.record(stream);
        return CudaEvent::microseconds(start, stop);
    }
};

Replay record(const Stopwatch& watch, const Contender& contender, const RotatingOperands& operands,
              std::int64_t launches) {
    return {CudaGraph(watch.stream,
                      [&](CUstream stream) {
                          for (std::int64_t i = 0; i < launches; ++i) contender.launch(operands.arguments(i), stream);
                      }),
            launches};
}

/// Whole turns through the copies: otherwise the next replay would begin with operands that the last one left in the
/// cache.
Replay record_long_enough(const Stopwatch& watch, const Contender& contender, const RotatingOperands& operands,
                          double minimum_us) {
    contender.launch(operands.arguments(0), watch.stream.handle());  // whatever is loaded or set up on first use
    watch.stream.synchronize();
    Replay replay = record(watch, contender, operands, operands.copies());
    static_cast<void>(watch.microseconds(replay.graph));  // first replays are slow
    const double measured_us = std::max(watch.microseconds(replay.graph), 0.1);
    if (measured_us >= minimum_us) return replay;
    const auto turns = static_cast<std::int64_t>(std::ceil(1.1 * minimum_us / measured_us));
    const std::int64_t most_turns = std::max<std::int64_t>(1, kMostGraphLaunches / operands.copies());
    replay = record(watch, contender, operands, operands.copies() * std::min(turns, most_turns));
    static_cast<void>(watch.microseconds(replay.graph));
    return replay;
}

std::vector<Timing> time_steady(Context::Impl& context, const GemmSpec& spec, const std::vector<Contender>& contenders,
                                const TimingOptions& options) {
    const std::int64_t rotating = std::max(options.rotating_bytes, 4 * context.device->model().l2_bytes);
    const RotatingOperands operands(context, spec, rotating, options.seed, options.alpha, options.beta);
    const Stopwatch watch;
    std::vector<Replay> replays;
    for (const Contender& contender : contenders)
        replays.push_back(record_long_enough(watch, contender, operands, options.minimum_graph_us));
    return alternate(contenders.size(), options.rounds, [&](std::size_t i) {
        return watch.microseconds(replays[i].graph) / static_cast<double>(replays[i].launches);
    });
}

// ---- cold: one launch after a flush ---------------------------------------------------------------------------------

/// Leaves the L2 cache full of clean lines of nothing that matters. Writing alone would leave dirty lines, whose
/// write-back the next launch pays for.
class CacheFlush {
public:
    explicit CacheFlush(Context::Impl& context) : kernels_(context), memory_(context.device, kFlushBytes) {}

    void enqueue(const CudaStream& stream) const {
        JITGEMM_CHECK(driver().cuMemsetD8Async(memory_.data().address, 0, static_cast<std::size_t>(kFlushBytes),
                                               stream.handle()));
        kernels_.read(memory_.data(), kFlushBytes, stream.handle());
    }

private:
    ReferenceKernels kernels_;
    DeviceMemory memory_;
};

std::vector<Timing> time_cold(Context::Impl& context, const GemmSpec& spec, const std::vector<Contender>& contenders,
                              const TimingOptions& options) {
    const CacheFlush flush(context);
    const RotatingOperands operands(context, spec, 1, options.seed, options.alpha, options.beta);
    const Stopwatch watch;
    const auto measure = [&](std::size_t i) {
        flush.enqueue(watch.stream);
        watch.start.record(watch.stream);
        contenders[i].launch(operands.arguments(0), watch.stream.handle());
        watch.stop.record(watch.stream);
        return CudaEvent::microseconds(watch.start, watch.stop);
    };
    for (std::size_t i = 0; i < contenders.size(); ++i) static_cast<void>(measure(i));
    return alternate(contenders.size(), options.rounds, measure);
}

// ---- contenders -----------------------------------------------------------------------------------------------------

Verification verify_inputs(Context::Impl& context, const GemmSpec& spec, const Contender& contender, InputKind inputs,
                           const VerifyOptions& options) {
    const Problem problem(context, spec, inputs, options.seed, options.alpha, options.beta, Placement::generous);
    contender.launch(problem.arguments(), nullptr);
    context.device->synchronize(nullptr);
    return problem.check();
}

double multiply_adds(const GemmSpec& spec) { return flops(spec) / 2; }

}  // namespace

Verification verify_contender(Context::Impl& context, const GemmSpec& spec, const Contender& contender,
                              const VerifyOptions& options) {
    const ScopedContext current(cuda_context(*context.device));
    try {
        Verification verdict = verify_inputs(context, spec, contender, InputKind::integers, options);
        if (!verdict.ok || multiply_adds(spec) > kNormalInputsLimit) return verdict;
        return verify_inputs(context, spec, contender, InputKind::normal, options);
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        Verification verdict;
        verdict.message = error.what();
        return verdict;
    }
}

std::vector<Timing> time_contenders(Context::Impl& context, const GemmSpec& spec,
                                    const std::vector<Contender>& contenders, const TimingOptions& options) {
    if (options.rounds < 1) throw Error(fmt::format("{} rounds of timing: at least 1", options.rounds));
    const ScopedContext current(cuda_context(*context.device));
    return options.protocol == Protocol::steady ? time_steady(context, spec, contenders, options)
                                                : time_cold(context, spec, contenders, options);
}

}  // namespace jitgemm
