#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/shared/dependent_launch.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

constexpr std::array<ConfigParameter<Config>, 5> kParameters{{
    {"block", "", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"swap_ab", "swapab", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.swap_ab); },
     [](const Config& c) { return flag_text(c.swap_ab); }, "0"},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    dependent_launch_parameter<Config>("1"),
    {"early", "early", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.early); },
     [](const Config& c) { return flag_text(c.early); }, "0"},
}};

}  // namespace

std::span<const ConfigParameter<Config>> MmaSlicedK::parameter_table() { return kParameters; }

}  // namespace jitgemm
