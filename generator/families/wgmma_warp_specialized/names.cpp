#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr int kUsualGroup = 8;

// In the order of the enumerations.
constexpr std::array<std::string_view, 3> kSchedules{"cooperative", "pingpong", "overlapped"};
constexpr std::array<std::string_view, 2> kStores{"tma", "smem"};
constexpr std::array<std::string_view, 2> kScaleSources{"tma", "threads"};
constexpr std::array<std::string_view, 2> kSources{"smem", "rmem"};

/// Rows of the block tile, as few as a wgmma has where consumers share them, and all its columns.
std::string usual_warpgroup(const Config& config) {
    switch (config.schedule) {
        case WarpgroupSchedule::cooperative: return shape_text_2d({kWgmmaM, config.block.n, 0});
        case WarpgroupSchedule::pingpong: return shape_text_2d(config.block);
        case WarpgroupSchedule::overlapped: return shape_text_2d({config.block.m / 2, config.block.n, 0});
    }
    std::abort();
}

constexpr std::array<std::string_view, 4> kEarlyNames{"none", "a", "b", "ab"};

std::string early_name(const Config& config) {
    return std::string(kEarlyNames[(config.early_a ? 1 : 0) + (config.early_b ? 2 : 0)]);
}

bool read_early(TextReader& reader, Config& config) {
    const auto found = std::ranges::find(kEarlyNames, reader.rest());
    if (found == kEarlyNames.end()) return false;
    config.early_a = *found == "a" || *found == "ab";
    config.early_b = *found == "b" || *found == "ab";
    return reader.take(*found);
}

constexpr ConfigParameter<Config> warpgroup_parameter() {
    ConfigParameter<Config> row = shape_2d_parameter<&Config::warpgroup>("warpgroup", "wg");
    row.derived_default = usual_warpgroup;
    return row;
}

constexpr std::array<ConfigParameter<Config>, 19> kParameters{{
    shape_parameter<&Config::block>("block", ""),
    shape_2d_parameter<&Config::cluster>("cluster", "", "1x1"),
    word_parameter<&Config::schedule, kSchedules>("schedule", "", "cooperative, pingpong or overlapped", "cooperative"),
    warpgroup_parameter(),
    flag_parameter<&Config::swap_ab>("swap_ab", "swapab", "0"),
    number_parameter<&Config::stages>("stages", "stages"),
    word_parameter<&Config::a_source, kSources>("a_source", "a-", "smem or rmem", "smem"),
    number_parameter<&Config::promote>("promote", "promote", "0"),
    word_parameter<&Config::scales, kScaleSources>("scales", "scales-", "tma or threads", "tma"),
    rasterization_parameter<&Config::rasterization>("grouped_m"),
    number_parameter<&Config::group>("group", "group", "8"),
    word_parameter<&Config::store, kStores>("store", "", "tma or smem", "tma"),
    number_parameter<&Config::slices>("slices", "slices", "2"),
    flag_parameter<&Config::broadcast_c>("broadcast_c", "broadcastc", "0"),
    flag_parameter<&Config::persistent>("persistent", "persistent", "1"),
    flag_parameter<&Config::warp_specialized>("warp_specialized", "warpspecialized", "1"),
    stream_k_parameter<Config>(),
    dependent_launch_parameter<Config>("1"),
    {"early", "early", "none, a, b or ab", read_early, early_name, "none"},
}};

}  // namespace

std::span<const ConfigParameter<Config>> WgmmaWarpSpecialized::parameter_table() { return kParameters; }

void WgmmaWarpSpecialized::settle(Config& config, const ParameterMap& given) {
    config.warpgroup.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
