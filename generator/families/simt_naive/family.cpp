#include "generator/families/simt_naive/family.hpp"

#include "generator/families/shared/simt_parameters.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array<ConfigParameter<SimtNaiveConfig>, 2> kNaiveParameters{{
    kSimtBlock2d<SimtNaiveConfig>,
    flag_parameter<&SimtNaiveConfig::coalesced>("coalesced", "coalesced", "1"),
}};

}  // namespace

std::span<const ConfigParameter<SimtNaiveConfig>> SimtNaive::parameter_table() { return kNaiveParameters; }

SimtTiling SimtNaive::tiling(const Config& config) {
    SimtTiling tiling;
    tiling.block = config.block;
    tiling.along_n = config.coalesced;
    return tiling;
}

std::vector<SimtNaiveConfig> SimtNaive::candidates(const Problem&) {
    return {{.block = {8, 32, 0}},
            {.block = {16, 16, 0}},
            {.block = {32, 32, 0}},
            {.block = {32, 8, 0}},
            {.block = {1, 256, 0}}};
}

}  // namespace jitgemm
