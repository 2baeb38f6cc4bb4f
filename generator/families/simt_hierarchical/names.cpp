#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/simt_hierarchical/family.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

constexpr int kUsualGroup = 8;
// In the order of the enumerations.
constexpr std::array<std::string_view, 2> kCopyPaths{"async", "reg"};
constexpr std::array<std::string_view, 3> kOrders{"left", "right", "even"};
constexpr std::array<std::string_view, 2> kStores{"smem", "reg"};

constexpr std::array<ConfigParameter<Config>, 17> kParameters{{
    shape_parameter<&Config::block>("block", ""),
    shape_2d_parameter<&Config::warp>("warp", ""),
    shape_2d_parameter<&Config::thread>("thread", ""),
    number_parameter<&Config::stages>("stages", "stages"),
    word_parameter<&Config::copy, kCopyPaths>("copy", "", "async or reg", "async"),
    flag_parameter<&Config::double_buffer>("double_buffer", "db", "1"),
    word_parameter<&Config::order, kOrders>("order", "", "left, right or even", "left"),
    number_parameter<&Config::k_lanes>("k_lanes", "kl", "8"),
    number_parameter<&Config::copy_slices>("copy_slices", "sl", "8"),
    flag_parameter<&Config::predicated>("predicated", "pred", "1"),
    number_parameter<&Config::min_blocks_per_sm>("min_blocks_per_sm", "occ", "1"),
    word_parameter<&Config::store, kStores>("store", "store-", "smem or reg", "reg"),
    rasterization_parameter<&Config::rasterization>("grouped_m"),
    number_parameter<&Config::group>("group", "group", "8"),
    number_parameter<&Config::split_k>("split_k", "split", "1"),
    number_parameter<&Config::blocks_per_wave>("blocks_per_wave", "wave", "0"),
    dependent_launch_parameter<Config>(),
}};

}  // namespace

std::span<const ConfigParameter<Config>> SimtHierarchical::parameter_table() { return kParameters; }

void SimtHierarchical::settle(Config& config, const ParameterMap& given) {
    config.warp.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
    if (config.split_k > 1 && !given.contains("store")) config.store = EpilogueStore::registers;
}

}  // namespace jitgemm
