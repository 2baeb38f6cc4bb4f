#include "generator/families/shared/stream_k.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"

#include <fmt/format.h>

#include <cmath>

namespace jitgemm {
namespace {

constexpr std::int64_t kLeastPiece = 4;  // k-tiles; templates/scheduler/stream_k_walk.cuh

constexpr int kMaxStreamBlocks = 1024;
constexpr std::int64_t kMostStreamed = 0x7fffffff;

/// Stream-K is a candidate if blocks idle for more than this part of the last wave. This limits the number of
/// candidates. It is no term of a cost, so it is not fitted.
constexpr double kIdleShare = 0.04;

constexpr std::int64_t kCounterBytes = 4;
constexpr int kCountedRows = 16;

}  // namespace

StreamK whole_tiles(std::int64_t tiles, std::int64_t k_tiles, std::int64_t clusters) {
    StreamK deal;
    deal.clusters = std::max<std::int64_t>(clusters, 1);
    deal.tiles = tiles;
    deal.k_tiles = k_tiles;
    return deal;
}

StreamK streamed_tiles(StreamK whole) {
    const std::int64_t rest = whole.tiles % whole.clusters;
    if (rest != 0 && whole.k_tiles >= 2 * kLeastPiece) whole.streamed = std::min(whole.tiles, rest + whole.clusters);
    return whole;
}

std::int64_t StreamK::share_begin(std::int64_t cluster) const {
    const std::int64_t cut = streamed * k_tiles * cluster / clusters;
    const std::int64_t in_tile = cut % k_tiles;
    if (in_tile < kLeastPiece) return cut - in_tile;
    return k_tiles - in_tile < kLeastPiece ? cut - in_tile + k_tiles : cut;
}

std::int64_t StreamK::last_of(std::int64_t tile) const {
    const std::int64_t last = (tile + 1) * k_tiles - 1;
    std::int64_t cluster = last * clusters / (streamed * k_tiles);
    while (cluster > 0 && share_begin(cluster) > last) --cluster;
    while (share_begin(cluster + 1) <= last) ++cluster;
    return cluster;
}

std::int64_t StreamK::partial_sums() const {
    std::int64_t count = 0;
    for (std::int64_t cluster = 0; cluster < clusters && streamed != 0; ++cluster) {
        const std::int64_t end = share_begin(cluster + 1);
        if (end % k_tiles != 0 && end != share_begin(cluster)) ++count;
    }
    return count;
}

std::int64_t StreamK::most_partial_sums() const {
    return streamed == 0 ? 0 : ceil_div(clusters, streamed) + (clusters % streamed == 0 ? -1 : 0);
}

std::vector<std::int64_t> stream_k_choices(const StreamK& deal) {
    if (deal.streamed == 0) return {};
    const double waves = static_cast<double>(deal.tiles) / static_cast<double>(deal.clusters);
    if (std::ceil(waves) - waves < kIdleShare * std::ceil(waves)) return {};
    std::vector<std::int64_t> choices{deal.clusters};
    const std::int64_t shares = deal.tiles < deal.clusters ? deal.clusters / deal.tiles : 1;
    if (shares != 1 && deal.tiles * shares != deal.clusters) choices.push_back(deal.tiles * shares);
    return choices;
}

void check_stream_k(Reasons& reasons, int blocks, const StreamK& deal) {
    check_range(reasons, "stream_k", blocks, 1, kMaxStreamBlocks);
    if (deal.streamed * deal.k_tiles > kMostStreamed)
        reasons.push_back(fmt::format("stream_k = {} deals out {} k-tiles, {} at most", blocks,
                                      deal.streamed * deal.k_tiles, kMostStreamed));
}

void launch_streamed(KernelEntry& gemm, int blocks) {
    gemm.grid.splits = blocks;
    gemm.grid.blocks = CappedBlocks{blocks};
    gemm.blocks_in_order = true;
}

void describe_stream_k(KernelAnatomy& anatomy, int blocks, const StreamK& deal) {
    anatomy.stream_k_blocks = blocks;
    anatomy.streamed_tiles = deal.streamed * anatomy.cluster;
    anatomy.partial_tiles = deal.partial_sums() * anatomy.cluster;
}

std::int64_t stream_k_sum_bytes(int blocks, const TileShape& block, DataType accumulator) {
    return std::int64_t{blocks} * block.m * block.n * bytes(accumulator);
}

std::int64_t stream_k_counter_bytes(int blocks, const TileShape& block, int warp_n) {
    return kCounterBytes * blocks * (block.m / kCountedRows) * quotient_or_zero(block.n, warp_n);
}

}  // namespace jitgemm
