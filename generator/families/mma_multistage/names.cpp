#include "generator/families/mma_multistage/family.hpp"

#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/parameter_table.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = MmaMultistageConfig;

constexpr int kUsualGroup = 8;
// In the order of the enumerations.
constexpr std::array<std::string_view, 2> kSharedLayouts{"swizzle", "padding"};
constexpr std::array<std::string_view, 2> kReductions{"workspace", "cluster"};
constexpr std::array<std::string_view, 4> kPacks{"none", "a", "b", "ab"};

constexpr std::array<ConfigParameter<Config>, 14> kParameters{{
    shape_parameter<&Config::block>("block", ""),
    shape_2d_parameter<&Config::warp>("warp", "warp"),
    shape_parameter<&Config::mma>("mma", "mma", "16x8x16"),
    number_parameter<&Config::stages>("stages", "stages"),
    number_parameter<&Config::ldmatrix_a>("ldsm_a", "ldsma", "4", "1, 2 or 4"),
    number_parameter<&Config::ldmatrix_b>("ldsm_b", "ldsmb", "4", "1, 2 or 4"),
    word_parameter<&Config::shared_layout, kSharedLayouts>("shared", "shared-", "swizzle or padding", "swizzle"),
    rasterization_parameter<&Config::rasterization>("grouped_m"),
    number_parameter<&Config::group>("group", "group", "8"),
    number_parameter<&Config::split_k>("split_k", "split", "1"),
    word_parameter<&Config::reduction, kReductions>("reduction", "", "workspace or cluster", "workspace"),
    word_parameter<&Config::pack, kPacks>("pack", "pack", "none, a, b or ab", "none"),
    number_parameter<&Config::promote>("promote", "promote", "0"),
    dependent_launch_parameter<Config>(),
}};

}  // namespace

std::span<const ConfigParameter<Config>> MmaMultistage::parameter_table() { return kParameters; }

void MmaMultistage::settle(Config& config, const ParameterMap& given) {
    config.warp.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
