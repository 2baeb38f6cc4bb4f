#include "runtime/bench/prepared_timing.hpp"

#include "jitgemm/error.hpp"
#include "runtime/bench/rotating_operands.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/support/log.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace jitgemm {

class PreparedTiming::Method {
public:
    virtual ~Method() = default;
    virtual void add(std::size_t number, const BenchCandidate& candidate) = 0;
    virtual void drop(std::size_t number) = 0;
    [[nodiscard]] virtual double microseconds(std::size_t number) = 0;
    [[nodiscard]] virtual double sustained_microseconds(std::size_t /*number*/) {
        throw Error("the sustained protocol cannot flush L2 between launches");
    }

    std::size_t candidates = 0;  ///< added so far
};

namespace {

constexpr std::int64_t kFlushBytes = 512LL << 20;
constexpr std::int64_t kMostGraphLaunches = 1 << 16;

RotatingOperands make_operands(ContextState& context, const GemmSpec& spec, const TimingOptions& options) {
    return {context,
            spec,
            rotating_bytes(context.device->model(), options),
            options.seed,
            options.alpha,
            options.beta,
            options.group_sizes};
}

// ---- steady and sustained: graphs of launches -----------------------------------------------------------------------

/// A candidate's launches over all copies, as often as the shortest replay asks for.
struct Replay {
    BenchCandidate candidate;  ///< keeps the code loaded that the graph launches
    CudaGraph graph;
    std::int64_t launches = 0;
};

struct Stopwatch {
    CudaStream stream;
    CudaEvent start;
    CudaEvent stop;

    [[nodiscard]] double microseconds(const CudaGraph& graph, std::int64_t times = 1) const {
        start.record(stream);
        for (std::int64_t i = 0; i < times; ++i) graph.launch(stream);
        stop.record(stream);
        return CudaEvent::microseconds(start, stop);
    }
};

Replay record(const Stopwatch& watch, const BenchCandidate& candidate, const RotatingOperands& operands,
              std::int64_t launches) {
    return {candidate,
            CudaGraph(watch.stream,
                      [&](CUstream stream) {
                          for (std::int64_t i = 0; i < launches; ++i) candidate.launch(operands.arguments(i), stream);
                      }),
            launches};
}

/// Whole turns through the copies: otherwise the next replay would begin with operands that the last one left in the
/// cache.
Replay record_long_enough(const Stopwatch& watch, const BenchCandidate& candidate, const RotatingOperands& operands,
                          double minimum_us) {
    candidate.launch(operands.arguments(0), watch.stream.handle());  // whatever is loaded or set up on first use
    watch.stream.synchronize();
    Replay replay = record(watch, candidate, operands, operands.copies());
    static_cast<void>(watch.microseconds(replay.graph));  // first replays are slow
    const double measured_us = std::max(watch.microseconds(replay.graph), 0.1);
    if (measured_us >= minimum_us) return replay;
    const auto turns = static_cast<std::int64_t>(std::ceil(1.1 * minimum_us / measured_us));
    const std::int64_t most_turns = std::max<std::int64_t>(1, kMostGraphLaunches / operands.copies());
    replay = record(watch, candidate, operands, operands.copies() * std::min(turns, most_turns));
    static_cast<void>(watch.microseconds(replay.graph));
    return replay;
}

/// Steady: one replay. Sustained: as many as the times ask for, which the candidate has alone.
class ReplayMethod final : public PreparedTiming::Method {
public:
    ReplayMethod(ContextState& context, const GemmSpec& spec, const TimingOptions& options)
        : operands_(make_operands(context, spec, options)), options_(options) {}

    void add(std::size_t number, const BenchCandidate& candidate) override {
        for (std::int64_t i = 0; candidate.prepare && i < operands_.copies(); ++i)
            candidate.prepare(operands_.arguments(i));
        replays_[number] = record_long_enough(watch_, candidate, operands_, options_.minimum_graph_us);
    }
    void drop(std::size_t number) override { replays_.erase(number); }
    [[nodiscard]] double microseconds(std::size_t number) override {
        return options_.protocol == Protocol::sustained ? sustained_microseconds(number)
                                                        : time_replays(replays_.at(number), 1);
    }
    [[nodiscard]] double sustained_microseconds(std::size_t number) override {
        const Replay& replay = replays_.at(number);
        const double once_us = std::max(watch_.microseconds(replay.graph), 1.0);
        static_cast<void>(watch_.microseconds(replay.graph, replays_in(options_.warm_up_us, once_us)));
        return time_replays(replay, replays_in(options_.sustained_us, once_us));
    }

private:
    [[nodiscard]] static std::int64_t replays_in(double us, double once_us) {
        return static_cast<std::int64_t>(std::ceil(us / once_us));
    }
    [[nodiscard]] double time_replays(const Replay& replay, std::int64_t times) const {
        return watch_.microseconds(replay.graph, times) / static_cast<double>(times * replay.launches);
    }

    RotatingOperands operands_;
    TimingOptions options_;
    Stopwatch watch_;
    std::map<std::size_t, Replay> replays_;
};

// ---- cold: one launch after a flush ---------------------------------------------------------------------------------

/// Leaves the L2 cache full of clean lines of nothing that matters. Writing alone would leave dirty lines, whose
/// write-back the next launch pays for.
class CacheFlush {
public:
    explicit CacheFlush(ContextState& context) : kernels_(context), memory_(context.device, kFlushBytes) {}

    void enqueue(const CudaStream& stream) const {
        JITGEMM_CHECK(driver().cuMemsetD8Async(memory_.data().address, 0, static_cast<std::size_t>(kFlushBytes),
                                               stream.handle()));
        kernels_.read(memory_.data(), kFlushBytes, stream.handle());
    }

private:
    ReferenceKernels kernels_;
    DeviceMemory memory_;
};

class ColdMethod final : public PreparedTiming::Method {
public:
    ColdMethod(ContextState& context, const GemmSpec& spec, const TimingOptions& options)
        : flush_(context), operands_(make_operands(context, spec, options)) {}

    void add(std::size_t number, const BenchCandidate& candidate) override {
        candidates_[number] = candidate;
        if (candidate.prepare) candidate.prepare(operands_.arguments(0));
        static_cast<void>(microseconds(number));  // whatever is loaded or set up on first use
    }
    void drop(std::size_t number) override { candidates_.erase(number); }
    [[nodiscard]] double microseconds(std::size_t number) override {
        flush_.enqueue(watch_.stream);
        watch_.start.record(watch_.stream);
        candidates_.at(number).launch(operands_.arguments(0), watch_.stream.handle());
        watch_.stop.record(watch_.stream);
        return CudaEvent::microseconds(watch_.start, watch_.stop);
    }

private:
    CacheFlush flush_;
    RotatingOperands operands_;
    Stopwatch watch_;
    std::map<std::size_t, BenchCandidate> candidates_;
};

std::unique_ptr<PreparedTiming::Method> make_method(ContextState& context, const GemmSpec& spec,
                                                    const TimingOptions& options) {
    if (options.protocol == Protocol::cold) return std::make_unique<ColdMethod>(context, spec, options);
    return std::make_unique<ReplayMethod>(context, spec, options);
}

}  // namespace

std::int64_t rotating_bytes(const GpuModel& gpu, const TimingOptions& options) {
    if (options.hot || options.protocol == Protocol::cold) return 1;
    return std::max(options.rotating_bytes, 4 * gpu.l2_bytes);
}

// Streams, events and graphs are made, used and destroyed with the device's context current.

PreparedTiming::PreparedTiming(ContextState& context, const GemmSpec& spec, const TimingOptions& options)
    : device_(context.device) {
    const ScopedContext current(cuda_context(*device_));
    method_ = make_method(context, spec, options);
}

PreparedTiming::~PreparedTiming() {
    if (method_ == nullptr) return;
    try {
        const ScopedContext current(cuda_context(*device_));
        method_.reset();
    } catch (const Error& error) {
        log().error("timing: {}", error.what());
        static_cast<void>(method_.release());  // its context is lost, and all it held with it
    }
}

PreparedTiming::PreparedTiming(PreparedTiming&&) noexcept = default;

PreparedTiming& PreparedTiming::operator=(PreparedTiming&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(method_, other.method_);
    return *this;
}

std::size_t PreparedTiming::add(const BenchCandidate& candidate) {
    const ScopedContext current(cuda_context(*device_));
    const std::size_t number = method_->candidates++;
    method_->add(number, candidate);
    return number;
}

void PreparedTiming::drop(std::size_t candidate) {
    const ScopedContext current(cuda_context(*device_));
    method_->drop(candidate);
}

double PreparedTiming::microseconds(std::size_t candidate) {
    const ScopedContext current(cuda_context(*device_));
    return method_->microseconds(candidate);
}

double PreparedTiming::sustained_microseconds(std::size_t candidate) {
    const ScopedContext current(cuda_context(*device_));
    return method_->sustained_microseconds(candidate);
}

}  // namespace jitgemm
