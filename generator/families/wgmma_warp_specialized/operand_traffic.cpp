#include "generator/families/wgmma_warp_specialized/operand_traffic.hpp"

#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/wgmma_warp_specialized/piece_sharing.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

/// Bytes of the panels of A and B that the tiles in flight read.
double panel_bytes(const GemmSpec& spec, const Config& c, const StreamK& deal) {
    const Panels panels = panels_of(c, deal.clusters);
    const std::int64_t lines = std::min(panels.rows, spec.m) + std::min(panels.columns, spec.n);
    return static_cast<double>(lines) * static_cast<double>(spec.k) * bytes(spec.a);
}

/// Bytes of A and B for a tile of each cluster if clusters share nothing.
double bytes_apart(const GemmSpec& spec, const Config& c, const StreamK& deal) {
    return static_cast<double>(deal.clusters_at_work()) * (c.block.m * c.cluster.m + c.block.n * c.cluster.n) *
           static_cast<double>(spec.k) * bytes(spec.a);
}

/// Clusters would share some bytes. This part of them has left L2 when the second cluster asks for them. `lateness` is
/// how late it asks, over the time that L2 holds bytes.
double lost_share(double lateness) { return lateness * lateness / (1 + lateness * lateness); }

/// Bytes of A and B for the pieces of stream-K, where L2 has dropped this part of what those share that began at
/// different times.
double bytes_of_pieces(const GemmSpec& spec, const Config& c, const StreamK& deal, double lost) {
    if (deal.streamed == 0) return 0;
    const TileShape tile{c.block.m * c.cluster.m, c.block.n * c.cluster.n, c.block.k};
    const LinesOfPieces lines = lines_of_pieces(deal, c, dealt_tiles(spec, c));
    const auto fetched = [&](double first, double later) {
        return first + later + lost * (lines.late_clusters - later);
    };
    const double of_tile = static_cast<double>(deal.streamed) / static_cast<double>(deal.clusters);
    return of_tile * static_cast<double>(spec.k) * bytes(spec.a) *
           (fetched(lines.first.rows, lines.later.rows) * tile.m +
            fetched(lines.first.columns, lines.later.columns) * tile.n);
}

}  // namespace

Panels panels_of(const Config& c, std::int64_t clusters) {
    return {std::int64_t{c.group} * c.block.m * c.cluster.m,
            ceil_div<std::int64_t>(clusters, c.group) * c.block.n * c.cluster.n};
}

double refetched_bytes(const GemmSpec& spec, const Config& c, const StreamK& deal, const GpuModel& gpu,
                       const WgmmaCosts& costs) {
    const double panels = panel_bytes(spec, c, deal);
    const double held = costs["l2_share"] * static_cast<double>(gpu.l2_bytes);
    if (panels <= held) return 0;
    const double waves = static_cast<double>(deal.tiles - deal.streamed) / static_cast<double>(deal.clusters);
    const double apart = bytes_apart(spec, c, deal);
    const double after_piece = costs["piece_lateness"] * apart / held;
    const double after_pieces =
        deal.streamed == 0 ? 0 : costs["streamed_lateness"] * apart / static_cast<double>(deal.k_tiles) / held;
    const double after_waves =
        std::hypot(costs["wave_lateness"] * std::sqrt(std::max(0.0, waves - 1) * apart / held), after_pieces);
    const double of_wave = panels + lost_share(after_waves) * std::max(0.0, apart - panels);
    const double fetched = waves * of_wave + bytes_of_pieces(spec, c, deal, lost_share(after_piece));
    return (1 - held / panels) * std::max(0.0, fetched - operand_bytes(spec));
}

}  // namespace jitgemm
