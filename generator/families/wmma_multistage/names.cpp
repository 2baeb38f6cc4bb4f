#include "generator/families/wmma_multistage/family.hpp"

#include "generator/families/shared/parameter_table.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = WmmaMultistageConfig;

constexpr int kUsualGroup = 16;

constexpr std::array<std::string_view, 2> kCaches{"ca", "cg"};  // in the order of the enumeration

constexpr std::array<ConfigParameter<Config>, 11> kParameters{{
    shape_parameter<&Config::block>("block", ""),
    shape_2d_parameter<&Config::warp>("warp", "warp"),
    shape_parameter<&Config::mma>("mma", "mma", "16x16x16"),
    number_parameter<&Config::stages>("stages", "stages"),
    number_parameter<&Config::padding>("padding", "pad", "8"),
    flag_parameter<&Config::async>("async", "async", "1"),
    word_parameter<&Config::cache, kCaches>("cache", "cache-", "ca or cg", "cg"),
    number_parameter<&Config::l2_prefetch>("l2_prefetch", "l2-", "128"),
    flag_parameter<&Config::double_buffer>("double_buffer", "db", "1"),
    rasterization_parameter<&Config::rasterization>("zigzag"),
    number_parameter<&Config::group>("group", "group", "16"),
}};

}  // namespace

std::span<const ConfigParameter<Config>> WmmaMultistage::parameter_table() { return kParameters; }

void WmmaMultistage::settle(Config& config, const ParameterMap& given) {
    config.warp.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
