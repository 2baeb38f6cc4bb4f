#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/shared/dependent_launch.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

constexpr std::array<ConfigParameter<Config>, 5> kParameters{{
    shape_parameter<&Config::block>("block", ""),
    flag_parameter<&Config::swap_ab>("swap_ab", "swapab", "0"),
    number_parameter<&Config::stages>("stages", "stages"),
    dependent_launch_parameter<Config>("1"),
    flag_parameter<&Config::early>("early", "early", "0"),
}};

}  // namespace

std::span<const ConfigParameter<Config>> MmaSlicedK::parameter_table() { return kParameters; }

}  // namespace jitgemm
