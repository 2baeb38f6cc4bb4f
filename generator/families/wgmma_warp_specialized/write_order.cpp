#include "generator/families/wgmma_warp_specialized/write_order.hpp"

#include "generator/base/roofline.hpp"
#include "generator/families/wgmma_warp_specialized/cost_terms.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"

#include <cstdint>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr double kShortRowBytes = 128;  // the length that short_row speaks of; longer rows lose less

double row_bytes(const GemmSpec& multiplied, const Config& c) {
    return static_cast<double>(c.swap_ab ? c.block.m : c.block.n) * bytes_per_sum(multiplied);
}

}  // namespace

bool is_bound_by_writes(const GemmSpec& spec, const GpuModel& gpu) {
    const double written = bytes_of_d(spec);
    return written > operand_bytes(spec) && written > static_cast<double>(gpu.l2_bytes) &&
           roofline(spec, gpu, MathInstruction::wgmma).bound_by_dram();
}

double row_in_flight(const GemmSpec& multiplied, const Config& c, const StreamK& deal) {
    const TileIndex tiles = dealt_tiles(multiplied, c);
    const std::int64_t of_row = c.swap_ab ? tiles.m : tiles.n;
    const auto is_in_flight = [&](std::int64_t at) {  // of the first row
        return block_of_tile(c, c.swap_ab ? TileIndex{at, 0} : TileIndex{0, at}, tiles) < deal.clusters;
    };
    // A binary search by hand: clang 14 does not compile libstdc++'s views::iota.
    std::int64_t in_flight = 0;
    for (std::int64_t end = of_row; in_flight < end;) {
        const std::int64_t middle = in_flight + (end - in_flight) / 2;
        if (is_in_flight(middle))
            in_flight = middle + 1;
        else
            end = middle;
    }
    return static_cast<double>(in_flight) / static_cast<double>(of_row);
}

double write_slowdown(const GemmSpec& multiplied, const Config& c, const StreamK& deal, const GpuModel& gpu,
                      const WgmmaCosts& costs) {
    if (!is_bound_by_writes(multiplied, gpu)) return 1;
    return costs["writes"] + costs["part_rows"] * (1 - row_in_flight(multiplied, c, deal)) +
           costs["short_row"] * kShortRowBytes / row_bytes(multiplied, c);
}

std::optional<Config> along_rows(const GemmSpec& multiplied, Config config, const GpuModel& gpu) {
    const std::int64_t columns = config.swap_ab ? multiplied.m : multiplied.n;
    const bool stays_in_l2 = columns * multiplied.k * bytes(multiplied.b) <= gpu.l2_bytes / 2;
    if (!stays_in_l2 || !is_bound_by_writes(multiplied, gpu)) return std::nullopt;
    const StreamK deal = tile_deal(multiplied, config, gpu);
    const double as_it_is = row_in_flight(multiplied, config, deal);
    config.rasterization = config.swap_ab ? Rasterization::grouped_n : Rasterization::grouped_m;
    config.group = 1;
    if (row_in_flight(multiplied, config, deal) <= as_it_is) return std::nullopt;
    return config;
}

}  // namespace jitgemm
