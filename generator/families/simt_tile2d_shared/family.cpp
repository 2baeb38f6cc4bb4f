#include "generator/families/simt_tile2d_shared/family.hpp"

#include "generator/families/shared/simt_parameters.hpp"

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr std::int64_t kPanelUnit = 32;  // what panel_k is a multiple of

/// How deep all of K is depends on the problem, so candidates say it: 0 leaves theirs.
bool read_panel_k(TextReader& reader, SimtTile2dSharedConfig& config) {
    int panel_k = 0;
    if (!reader.take_number(panel_k)) return false;
    if (panel_k > 0) config.panel_k = panel_k;
    return true;
}

constexpr std::array kTile2dSharedParameters{
    kSimtBlock2d<SimtTile2dSharedConfig>,
    ConfigParameter<SimtTile2dSharedConfig>{"panel_k", "panel", "a multiple of 32, or 0 for all of K", read_panel_k,
                                            [](const SimtTile2dSharedConfig& c) { return std::to_string(c.panel_k); }},
    kSimtGrid<SimtTile2dSharedConfig>,
};

}  // namespace

std::span<const ConfigParameter<SimtTile2dSharedConfig>> SimtTile2dShared::parameter_table() {
    return kTile2dSharedParameters;
}

SimtTiling SimtTile2dShared::tiling(const Config& config) {
    SimtTiling tiling;
    tiling.block = config.block;
    tiling.depth = config.panel_k;
    tiling.grid = config.grid;
    return tiling;
}

std::vector<SimtTile2dSharedConfig> SimtTile2dShared::candidates(const Problem& problem) {
    const std::int64_t panels = (std::max<std::int64_t>(problem.row_major().k, 1) + kPanelUnit - 1) / kPanelUnit;
    return {{.panel_k = static_cast<int>(panels * kPanelUnit)}};
}

}  // namespace jitgemm
