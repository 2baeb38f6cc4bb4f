#include "runtime/emulator/launch.hpp"

#include "jitgemm/error.hpp"
#include "runtime/emulator/cluster.hpp"
#include "runtime/emulator/launch_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

namespace jitgemm::emulator {
namespace {

constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();

std::int64_t product(const std::array<std::int64_t, 3>& extents, std::string_view what) {
    std::int64_t all = 1;
    for (const std::int64_t extent : extents) {
        if (extent < 1 || extent > kMaxBlocks)
            throw Error(fmt::format("a {} extent of {} is not from 1 to 2^31-1", what, extent));
        all *= extent;
        if (all > kMaxBlocks * kMaxThreads) throw Error(fmt::format("the {} has more than 2^41 parts", what));
    }
    return all;
}

void check_block(const Function& entry, const LaunchConfig& config) {
    const std::int64_t threads = product(config.block, "block");
    const std::int64_t most = entry.max_threads > 0 ? entry.max_threads : kMaxThreads;
    if (threads > std::min(most, kMaxThreads)) {
        throw Error(fmt::format("a block of {} threads is more than the {} that {} takes", threads,
                                std::min(most, kMaxThreads), entry.name));
    }
    if (entry.required_threads > 0 && threads != entry.required_threads) {
        throw Error(
            fmt::format("a block of {} threads, where {} needs {}", threads, entry.name, entry.required_threads));
    }
}

void check_launch(const Function& entry, const LaunchConfig& config, std::span<const std::byte> parameters) {
    product(config.grid, "grid");
    check_block(entry, config);
    if (config.shared_bytes < 0) throw Error(fmt::format("dynamic shared memory of {} bytes", config.shared_bytes));
    if (static_cast<std::int64_t>(parameters.size()) != entry.formal_bytes) {
        throw Error(
            fmt::format("{} takes {} bytes of parameters, not {}", entry.name, entry.formal_bytes, parameters.size()));
    }
}

std::vector<std::uint64_t> link(const Program& program, GlobalMemory& memory) {
    const std::vector<DeviceAddress> variables = memory.variables_of(program);
    std::vector<std::uint64_t> constants = program.decoded().constant_doublewords;
    for (const Relocation& relocation : program.decoded().relocations) {
        const auto row = constants.begin() + std::ptrdiff_t{relocation.row} * kLanes;
        std::fill(row, row + kLanes, variables[relocation.variable] + static_cast<std::uint64_t>(relocation.addend));
    }
    return constants;
}

int capability_of(const Program& program, const LaunchConfig& config) {
    return config.compute_capability == 0 ? program.compute_capability() : config.compute_capability;
}

TensorCoreModel model_of(int compute_capability) {
    constexpr int kFirstWithModel = 75;
    return tensor_core_model(std::max(compute_capability, kFirstWithModel));
}

/// Clusters in the order they are started: shuffled by a seed as i ↦ (a·i + b) mod n with a prime to n.
class ClusterOrder {
public:
    ClusterOrder(std::int64_t clusters, std::uint64_t seed) : clusters_(static_cast<std::uint64_t>(clusters)) {
        if (seed == 0) return;
        factor_ = seed % clusters_ + clusters_ / 2 + 1;
        while (std::gcd(factor_, clusters_) != 1) ++factor_;
        shift_ = seed / 7 % clusters_;
    }
    [[nodiscard]] std::int64_t operator[](std::int64_t position) const {
        return static_cast<std::int64_t>((static_cast<std::uint64_t>(position) * factor_ + shift_) % clusters_);
    }

private:
    std::uint64_t clusters_;
    std::uint64_t factor_ = 1;
    std::uint64_t shift_ = 0;
};

/// Host threads that take one cluster after another.
class ClusterPool {
public:
    ClusterPool(LaunchContext& launch, std::int64_t clusters)
        : launch_(launch),
          clusters_(clusters),
          order_(clusters, launch.config.blocks_in_order ? 0 : launch.config.order_seed),
          totals_(launch.program.code().size()) {}

    Counters run() {
        run_first();
        {
            const std::vector<std::jthread> helpers = start_helpers();
            work();
        }
        if (failure_) std::rethrow_exception(failure_);
        return make_counters(launch_.program, totals_,
                             static_cast<std::uint64_t>(clusters_ * launch_.cluster.blocks()));
    }

private:
    /// The first cluster alone says what all of them will take.
    void run_first() {
        const auto begin = std::chrono::steady_clock::now();
        Cluster first(launch_, order_[next_++], totals_);
        first.run();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        const double estimate = static_cast<double>(first.lane_instructions()) * static_cast<double>(clusters_);
        const auto limit = static_cast<double>(launch_.config.work_limit);
        if (limit == 0 || estimate <= limit) return;
        throw EmulatorFault(FaultKind::work_limit,
                            fmt::format("the launch is too large for the emulator: {} {} like the first take about "
                                        "{:.3g} lane-instructions, or {:.0f} seconds of one core; the limit is {:.3g}",
                                        clusters_, first.is_one_block() ? "blocks" : "clusters", estimate,
                                        seconds.count() * static_cast<double>(clusters_), limit));
    }

    /// As many as the system grants. This thread does what they leave.
    std::vector<std::jthread> start_helpers() {
        const std::int64_t cores =
            launch_.config.threads > 0 ? launch_.config.threads : std::thread::hardware_concurrency();
        std::vector<std::jthread> helpers;
        try {
            for (std::int64_t i = 1; i < std::min(cores, clusters_); ++i) helpers.emplace_back([this] { work(); });
        } catch (const std::system_error&) {
            return helpers;  // a limit of the user's or the container's
        }
        return helpers;
    }

    void work() {
        try {
            add(tallies_of_work());
        } catch (...) {  // no memory
            keep_failure(clusters_, std::current_exception());
        }
    }

    std::vector<Tally> tallies_of_work() {
        std::vector<Tally> tallies(totals_.size());
        for (std::int64_t position = next_++; position < clusters_ && !launch_.cancelled; position = next_++) {
            try {
                Cluster(launch_, order_[position], tallies).run();
            } catch (...) {
                keep_failure(position, std::current_exception());
            }
        }
        return tallies;
    }

    void add(const std::vector<Tally>& tallies) {
        const std::scoped_lock lock(mutex_);
        for (std::size_t i = 0; i < tallies.size(); ++i) totals_[i] += tallies[i];
    }

    /// The failure of the cluster that comes first in order is the one told; one that only stopped because of another
    /// is none.
    void keep_failure(std::int64_t position, const std::exception_ptr& failure) {
        const std::scoped_lock lock(mutex_);
        const bool echo = launch_.cancelled && failure_ != nullptr;
        launch_.cancelled = true;
        if (echo && (position > failed_at_ || is_stop(failure))) return;
        failure_ = failure;
        failed_at_ = position;
    }

    static bool is_stop(const std::exception_ptr& failure) {
        try {
            std::rethrow_exception(failure);
        } catch (const EmulatorStopped&) {
            return true;
        } catch (...) {
            return false;
        }
    }

    LaunchContext& launch_;
    std::int64_t clusters_;
    ClusterOrder order_;
    std::atomic<std::int64_t> next_{0};
    std::mutex mutex_;
    std::vector<Tally> totals_;
    std::exception_ptr failure_;
    std::int64_t failed_at_ = 0;
};

}  // namespace

Counters launch(const Program& program, const LaunchConfig& config, GlobalMemory& memory,
                std::span<const std::byte> parameters, const StopRequest& stop) {
    const Function& entry = program.entry(config.entry);
    check_launch(entry, config, parameters);
    const int compute_capability = capability_of(program, config);
    const ClusterShape cluster = cluster_of(entry, config, compute_capability);
    std::vector<std::uint64_t> constants = link(program, memory);
    LaunchContext context{.program = program,
                          .config = config,
                          .entry = entry,
                          .cluster = cluster,
                          .memory = memory.map(),
                          .constant_doublewords = std::move(constants),
                          .parameters = {parameters.begin(), parameters.end()},
                          .tensor_core_model = model_of(compute_capability),
                          .stop = stop};
    return ClusterPool(context, product(config.grid, "grid") / cluster.blocks()).run();
}

}  // namespace jitgemm::emulator
