#include "runtime/emulator/block.hpp"

#include "runtime/emulator/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace jitgemm::emulator {
namespace {

/// Instructions a warp runs before the next has its turn; long, so that a warp's registers stay in the host's cache,
/// and odd, so that turns do not fall in step with loops.
constexpr std::uint64_t kTurn = 1021;
constexpr std::uint64_t kShortestTurn = 17;

/// Where the block of that rank lies in the grid.
std::array<std::int64_t, 3> block_id(const Cluster& cluster, int rank) {
    const std::array<std::int64_t, 3>& extents = cluster.launch().cluster.extents;
    std::array<std::int64_t, 3> id = unflatten(rank, extents);
    for (std::size_t axis = 0; axis < id.size(); ++axis) id[axis] += cluster.id()[axis] * extents[axis];
    return id;
}

std::uint64_t random_seed(const LaunchConfig& config, const std::array<std::int64_t, 3>& id) {
    return config.order_seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(flatten(id, config.grid));
}

}  // namespace

Block::Block(Cluster& cluster, int rank, std::vector<Tally>& tallies)
    : cluster_(cluster),
      launch_(cluster.launch()),
      rank_(rank),
      id_(block_id(cluster, rank)),
      shared_(launch_.program.decoded().shared.dynamic_offset() + launch_.config.shared_bytes, launch_.config.checks,
              cluster.order(), owner()),
      barriers_(*this),
      mbarriers_(*this),
      registers_(launch_.warps_per_block(), threads()),
      warpgroup_steps_(launch_.warps_per_block()),
      tallies_(tallies),
      random_(random_seed(launch_.config, id_)) {
    for (int first = 0; first < threads(); first += kLanes) {
        const int lanes = std::min(kLanes, threads() - first);
        warps_.push_back(std::make_unique<Warp>(*this, first / kLanes, kAllLanes >> (kLanes - lanes)));
    }
    alive_ = warps_.size();
    order_.resize(warps_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
}

SharedOwner Block::owner() {
    return {.first_warp = first_warp(),
            .warps = launch_.warps_per_block(),
            .block = cluster_.is_one_block() ? "" : name(),
            .describe_site = [&program =
                                  launch_.program](std::uint32_t site) { return program.place(program.code()[site]); },
            .describe_warp = [&cluster = cluster_](int number) { return cluster.name_of_warp(number); }};
}

std::array<std::int64_t, 3> Block::thread_id(int thread) const { return unflatten(thread, launch_.config.block); }

std::string Block::name() const { return fmt::format("block ({},{},{})", id_[0], id_[1], id_[2]); }

std::uint64_t Block::lane_instructions() const {
    std::uint64_t sum = 0;
    for (const auto& warp : warps_) sum += warp->lane_instructions();
    return sum;
}

void Block::shuffle_order() {
    if (launch_.config.order_seed != 0) std::shuffle(order_.begin(), order_.end(), random_);
}

void Block::registers_given_up() {
    for (Warp* warp : std::exchange(without_registers_, {})) warp->resume();
}

bool Block::run_round() {
    shuffle_order();
    bool progress = false;
    for (const std::size_t index : order_) {
        Warp& warp = *warps_[index];
        const std::uint64_t turn =
            launch_.config.order_seed == 0 ? kTurn : kShortestTurn + random_() % (kTurn - kShortestTurn);
        if (warp.state() == Warp::State::ready) progress |= warp.run(turn) > 0;
    }
    return progress;
}

void Block::warp_ended() {
    --alive_;
    barriers_.warp_ended();
    cluster_.barrier().warp_ended();
    if (!has_ended()) return;
    mbarriers_.check_end();
    shared_.check_end();
}

std::string Block::describe_waits() const {
    std::string ended;
    for (const auto& warp : warps_) {
        if (warp->state() == Warp::State::finished) ended += fmt::format(" {}", warp->index());
    }
    std::string text = barriers_.describe();
    if (const std::string waits = mbarriers_.describe(); !waits.empty()) text += (text.empty() ? "" : "\n") + waits;
    if (!ended.empty()) text += (text.empty() ? "" : "\n") + ("  ended: warps" + ended);
    return text;
}

}  // namespace jitgemm::emulator
