#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/simt_long_k/family.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = SimtLongKConfig;

constexpr std::array<ConfigParameter<Config>, 8> kLongKParameters{{
    shape_2d_parameter<&Config::thread>("thread", "thread"),
    shape_parameter<&Config::lanes>("lanes", "lanes"),
    number_parameter<&Config::block_k>("block_k", "k"),
    number_parameter<&Config::warps>("warps", "warps"),
    number_parameter<&Config::stages>("stages", "stages"),
    number_parameter<&Config::min_blocks_per_sm>("min_blocks_per_sm", "occ", "1"),
    number_parameter<&Config::split_k>("split_k", "split"),
    dependent_launch_parameter<Config>(),
}};

}  // namespace

std::span<const ConfigParameter<SimtLongKConfig>> SimtLongK::parameter_table() { return kLongKParameters; }

}  // namespace jitgemm
