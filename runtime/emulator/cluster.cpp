#include "runtime/emulator/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace jitgemm::emulator {

Cluster::Cluster(LaunchContext& launch, std::int64_t number, std::vector<Tally>& tallies)
    : launch_(launch),
      id_(unflatten(number, launch.clusters())),
      order_(launch.agents_per_block() * launch.cluster.blocks()),
      global_order_(order_, launch.strong_words, static_cast<std::uint32_t>(number) * agents(), agents()),
      barrier_(*this),
      turns_(static_cast<std::size_t>(launch.cluster.blocks())),
      random_(launch.config.order_seed ^ static_cast<std::uint64_t>(number)) {
    for (int rank = 0; rank < launch.cluster.blocks(); ++rank) {
        blocks_.push_back(std::make_unique<Block>(*this, rank, tallies));
    }
    std::iota(turns_.begin(), turns_.end(), std::size_t{0});
}

std::uint64_t Cluster::lane_instructions() const {
    std::uint64_t sum = 0;
    for (const auto& block : blocks_) sum += block->lane_instructions();
    return sum;
}

std::string Cluster::name() const {
    return is_one_block() ? blocks_.front()->name() : fmt::format("cluster ({},{},{})", id_[0], id_[1], id_[2]);
}

const Warp& Cluster::warp(int number) const {
    const auto agents = static_cast<std::size_t>(launch_.agents_per_block());
    const auto index = static_cast<std::size_t>(number);
    return *blocks_[index / agents]->warps()[index % agents];
}

std::string Cluster::name_of_warp(int number) const {
    const int index = number % launch_.agents_per_block();
    std::string warp = index == launch_.warps_per_block() ? "an asynchronous copy" : fmt::format("warp {}", index);
    if (is_one_block()) return warp;
    const auto rank = static_cast<std::size_t>(number / launch_.agents_per_block());
    return fmt::format("{} of {}", warp, blocks_[rank]->name());
}

std::string Cluster::name_in_launch(std::uint32_t number) const {
    const auto of_block = static_cast<std::uint32_t>(launch_.agents_per_block());
    const std::array<std::int64_t, 3> cluster = unflatten(number / agents(), launch_.clusters());
    const std::array<std::int64_t, 3> place = unflatten(number % agents() / of_block, launch_.cluster.extents);
    std::array<std::int64_t, 3> block{};
    for (std::size_t axis = 0; axis < block.size(); ++axis)
        block[axis] = cluster[axis] * launch_.cluster.extents[axis] + place[axis];
    return fmt::format("warp {} of block ({},{},{})", number % of_block, block[0], block[1], block[2]);
}

void Cluster::run() {
    while (run_round()) check_limits();
}

/// Every block has a turn; false when all have ended.
bool Cluster::run_round() {
    if (launch_.config.order_seed != 0 && !is_one_block()) std::shuffle(turns_.begin(), turns_.end(), random_);
    bool progress = false;
    for (const std::size_t rank : turns_) progress |= blocks_[rank]->run_round();
    const bool alive = !std::ranges::all_of(blocks_, [](const auto& block) { return block->has_ended(); });
    if (alive && !progress && !finish_copies()) report_deadlock();
    return alive;
}

/// Finishes the late copies that somebody waits for. Returns false if there are none.
bool Cluster::finish_copies() {
    return std::ranges::any_of(blocks_, [](const auto& block) { return block->mbarriers().finish_copies(); });
}

void Cluster::check_limits() {
    if (launch_.stop && launch_.stop()) launch_.cancelled = true;
    if (launch_.cancelled) throw EmulatorStopped();
    const std::uint64_t limit = launch_.config.work_limit;
    if (limit == 0 || lane_instructions() <= limit) return;
    throw EmulatorFault(FaultKind::work_limit,
                        fmt::format("{} has executed {} lane-instructions and has not ended; the launch's limit is {}",
                                    name(), lane_instructions(), limit));
}

void Cluster::report_deadlock() const {
    std::string text = fmt::format("deadlock: every warp of {} that has not ended waits", name());
    for (const auto& block : blocks_) {
        if (const std::string waits = block->describe_waits(); !waits.empty()) {
            text += (is_one_block() ? "" : "\n " + block->name()) + "\n" + waits;
        }
    }
    if (const std::string cluster = barrier_.describe(); !cluster.empty()) text += "\n" + cluster;
    throw EmulatorFault(FaultKind::deadlock, text);
}

}  // namespace jitgemm::emulator
