#include "generator/draw/anatomy_views.hpp"

#include "jitgemm/data_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace jitgemm {
namespace {

constexpr std::int64_t kDrawnSide = 40;                         // tiles
constexpr std::int64_t kCountedTiles = std::int64_t{1} << 22U;  // whose order is looked through
constexpr int kDrawnK = 32;                                     // of A's and B's tiles, which may hold all of K

bool divides(const TileShape& part, const TileShape& whole) {
    return part.m > 0 && part.n > 0 && whole.m % part.m == 0 && whole.n % part.n == 0;
}

/// What is drawn as an atom: the mma or thread tile; a warp's tile where that would be single elements.
TileShape atom_of(const KernelAnatomy& anatomy, const TileShape& warp) {
    const bool single = anatomy.mma.m * anatomy.mma.n <= 1;
    return single || !divides(anatomy.mma, warp) ? warp : anatomy.mma;
}

std::string order_name(const KernelConfig& config) {
    const ParameterMap parameters = parameters_of(config);
    const auto order = parameters.find("rasterization");
    if (order == parameters.end()) return "as the grid numbers its blocks";
    const auto group = parameters.find("group");
    return group == parameters.end() || group->second == "1"
               ? order->second
               : fmt::format("{}, groups of {}", order->second, group->second);
}

std::int64_t block_of(const GemmSpec& spec, const KernelConfig& config, const TileShape& block, TileIndex tile) {
    return family_of(config).owner(spec, config, tile.m * block.m, tile.n * block.n).block;
}

/// Rows of A and columns of B that tiles read, each once.
class Footprint {
public:
    void add(TileIndex tile) {
        rows_.insert(tile.m);
        columns_.insert(tile.n);
    }
    [[nodiscard]] WaveFootprint bytes_of(const GemmSpec& spec, const TileShape& block) const {
        return {extent(rows_, block.m, spec.m) * spec.k * bytes(spec.a),
                extent(columns_, block.n, spec.n) * spec.k * bytes(spec.b)};
    }

private:
    static std::int64_t extent(const std::set<std::int64_t>& tiles, std::int64_t side, std::int64_t whole) {
        std::int64_t sum = 0;
        for (const std::int64_t tile : tiles) sum += std::min(side, whole - tile * side);
        return sum;
    }
    std::set<std::int64_t> rows_;
    std::set<std::int64_t> columns_;
};

/// The order in which `number_of(tile)` counts the tiles.
template <typename NumberOf>
TileOrder order_by(const GemmSpec& spec, const TileShape& block, const KernelRasterization& r,
                   const NumberOf& number_of) {
    TileOrder order;
    for (std::int64_t m = 0; m < r.drawn.m; ++m)
        for (std::int64_t n = 0; n < r.drawn.n; ++n) order.block_of.push_back(number_of(TileIndex{m, n}));
    if (r.tiles.m > kCountedTiles / std::max<std::int64_t>(r.tiles.n, 1)) return order;
    std::vector<std::pair<std::int64_t, TileIndex>> first;
    Footprint footprint;
    for (std::int64_t m = 0; m < r.tiles.m; ++m)
        for (std::int64_t n = 0; n < r.tiles.n; ++n)
            if (const std::int64_t number = number_of(TileIndex{m, n}); number < r.first_wave) {
                first.emplace_back(number, TileIndex{m, n});
                footprint.add({m, n});
            }
    std::ranges::sort(first, {}, &std::pair<std::int64_t, TileIndex>::first);  // no two have the same number
    for (const auto& [number, tile] : first) order.first_wave.push_back(tile);
    order.footprint = footprint.bytes_of(spec, block);
    return order;
}

}  // namespace

KernelTiling anatomy_tiling(const GemmSpec& spec, const KernelConfig& config, const KernelAnatomy& anatomy) {
    KernelTiling tiling;
    tiling.block = anatomy.block;
    tiling.warp = divides(anatomy.warp, anatomy.block) ? anatomy.warp : anatomy.block;
    tiling.mma = atom_of(anatomy, tiling.warp);
    tiling.mma.k = std::min(anatomy.block.k, kDrawnK);
    tiling.warps_m = tiling.block.m / tiling.warp.m;
    tiling.warps_n = tiling.block.n / tiling.warp.n;
    tiling.atoms_m = tiling.warp.m / tiling.mma.m;
    tiling.atoms_n = tiling.warp.n / tiling.mma.n;
    tiling.k_blocks = 1;
    for (int row = 0; row < tiling.block.m; row += tiling.mma.m)
        for (int column = 0; column < tiling.block.n; column += tiling.mma.n)
            tiling.warp_of_atom.push_back(family_of(config).owner(spec, config, row, column).warp);
    return tiling;
}

KernelRasterization anatomy_rasterization(const GemmSpec& spec, const KernelConfig& config,
                                          const KernelAnatomy& anatomy, const CostEstimate& cost, const GpuModel& gpu) {
    KernelRasterization r;
    const TileShape& block = anatomy.block;
    r.order = order_name(config);
    r.tiles = tiles_of(block, spec.m, spec.n);
    r.splits = anatomy.split_k;
    r.blocks = r.tiles.m * r.tiles.n * r.splits;
    r.sm_count = gpu.sm_count;
    r.blocks_per_sm = cost.blocks_per_sm;
    r.l2_bytes = gpu.l2_bytes;
    r.first_wave = std::min<std::int64_t>(r.blocks, std::int64_t{gpu.sm_count} * std::max(cost.blocks_per_sm, 1));
    r.drawn = {std::min(r.tiles.m, kDrawnSide), std::min(r.tiles.n, kDrawnSide)};
    r.own = order_by(spec, block, r, [&](TileIndex tile) { return block_of(spec, config, block, tile); });
    r.row_major = order_by(spec, block, r, [&](TileIndex tile) { return tile.m * r.tiles.n + tile.n; });
    return r;
}

KernelSharedMap anatomy_shared_map(const KernelAnatomy& anatomy, const Arch& arch, int blocks_per_sm) {
    KernelSharedMap map;
    for (int stage = 0; stage < anatomy.stages && anatomy.stage_bytes > 0; ++stage)
        map.mainloop.push_back(
            {fmt::format("A and B, stage {}", stage), stage * anatomy.stage_bytes, anatomy.stage_bytes});
    if (anatomy.epilogue_bytes > 0) map.epilogue.push_back({"D, all warps", 0, anatomy.epilogue_bytes});
    map.total_bytes = anatomy.shared_bytes;
    map.block_limit = arch.shared_bytes_per_block;
    map.sm_bytes = arch.shared_bytes_per_sm;
    map.reserved_bytes = arch.shared_reserved_per_block;
    map.blocks_per_sm = blocks_per_sm;
    return map;
}

}  // namespace jitgemm
