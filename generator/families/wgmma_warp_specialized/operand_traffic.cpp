#include "generator/families/wgmma_warp_specialized/operand_traffic.hpp"

#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

/// Of A and B, that the tiles at work at once lie in.
double panel_bytes(const GemmSpec& spec, const Config& c, const StreamK& deal) {
    const Panels panels = panels_of(c, deal.clusters);
    const std::int64_t lines = std::min(panels.rows, spec.m) + std::min(panels.columns, spec.n);
    return static_cast<double>(lines) * static_cast<double>(spec.k) * bytes(spec.a);
}

}  // namespace

Panels panels_of(const Config& c, std::int64_t clusters) {
    return {std::int64_t{c.group} * c.block.m * c.cluster.m,
            ceil_div<std::int64_t>(clusters, c.group) * c.block.n * c.cluster.n};
}

OperandTraffic operand_traffic(const GemmSpec& spec, const Config& c, const StreamK& deal, const GpuModel& gpu,
                               const WgmmaCosts& costs) {
    const double panels = panel_bytes(spec, c, deal);
    const double held = costs["l2_share"] * static_cast<double>(gpu.l2_bytes);
    if (panels <= held) return {};
    const double missed = 1 - held / panels;
    const double waves = static_cast<double>(deal.tiles - deal.streamed) / static_cast<double>(deal.clusters);
    const double drift =
        costs["most_drift"] * waves * waves / (waves * waves + costs["drifting_waves"] * costs["drifting_waves"]);
    const double of_cluster =
        static_cast<double>(c.block.m * c.cluster.m + c.block.n * c.cluster.n) * c.block.k * bytes(spec.a);
    return {
        .refetched = missed * std::max(0.0, waves * panels * (1 + drift) - operand_bytes(spec)),
        .per_streamed_k_tile = missed * static_cast<double>(deal.clusters) * of_cluster / costs["readers_of_pieces"]};
}

}  // namespace jitgemm
