#include "runtime/emulator/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace jitgemm::emulator {
namespace {

/// Instructions a warp runs before the next has its turn; long, so that a warp's registers stay in the host's cache,
/// and odd, so that turns do not fall in step with loops.
constexpr std::uint64_t kTurn = 1021;
constexpr std::uint64_t kShortestTurn = 17;

std::array<std::int64_t, 3> unflatten(std::int64_t index, const std::array<std::int64_t, 3>& extents) {
    return {index % extents[0], index / extents[0] % extents[1], index / extents[0] / extents[1]};
}

std::int64_t product(const std::array<std::int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

}  // namespace

Block::Block(LaunchContext& launch, std::int64_t number, std::vector<Tally>& tallies)
    : launch_(launch),
      id_(unflatten(number, launch.config.grid)),
      threads_(static_cast<int>(product(launch.config.block))),
      shared_(launch.program.decoded().shared.dynamic_offset() + launch.config.shared_bytes, launch.config.checks,
              [&program = launch.program](std::uint32_t site) { return program.place(program.code()[site]); }),
      barriers_(*this),
      tallies_(tallies),
      random_(launch.config.order_seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(number)) {
    for (int first = 0; first < threads_; first += kLanes) {
        const int lanes = std::min(kLanes, threads_ - first);
        warps_.push_back(std::make_unique<Warp>(*this, first / kLanes, kAllLanes >> (kLanes - lanes)));
    }
    order_.resize(warps_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
}

std::array<std::int64_t, 3> Block::thread_id(int thread) const { return unflatten(thread, launch_.config.block); }

std::string Block::name() const { return fmt::format("block ({},{},{})", id_[0], id_[1], id_[2]); }

std::uint64_t Block::lane_instructions() const {
    std::uint64_t sum = 0;
    for (const auto& warp : warps_) sum += warp->lane_instructions();
    return sum;
}

void Block::run() {
    while (run_round()) check_limits();
}

void Block::shuffle_order() {
    if (launch_.config.order_seed != 0) std::shuffle(order_.begin(), order_.end(), random_);
}

/// Every ready warp has a turn; false when all have ended.
bool Block::run_round() {
    shuffle_order();
    bool progress = false;
    bool alive = false;
    for (const std::size_t index : order_) {
        Warp& warp = *warps_[index];
        const std::uint64_t turn =
            launch_.config.order_seed == 0 ? kTurn : kShortestTurn + random_() % (kTurn - kShortestTurn);
        if (warp.state() == Warp::State::ready) progress |= warp.run(turn) > 0;
        alive |= warp.state() != Warp::State::finished;
    }
    if (alive && !progress) report_deadlock();
    return alive;
}

void Block::check_limits() {
    if (launch_.stop && launch_.stop()) launch_.cancelled = true;
    if (launch_.cancelled) throw EmulatorStopped();
    const std::uint64_t limit = launch_.config.work_limit;
    if (limit == 0 || lane_instructions() <= limit) return;
    throw EmulatorFault(FaultKind::work_limit,
                        fmt::format("{} has executed {} lane-instructions and goes on; the launch's limit is {}",
                                    name(), lane_instructions(), limit));
}

void Block::report_deadlock() const {
    std::string ended;
    for (const auto& warp : warps_) {
        if (warp->state() == Warp::State::finished) ended += fmt::format(" {}", warp->index());
    }
    throw EmulatorFault(FaultKind::deadlock,
                        fmt::format("deadlock: every warp of {} that has not ended waits\n{}{}", name(),
                                    barriers_.describe(), ended.empty() ? "" : "\n  ended: warps" + ended));
}

}  // namespace jitgemm::emulator
