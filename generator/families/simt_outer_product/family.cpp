#include "generator/families/simt_outer_product/family.hpp"

#include "generator/families/shared/simt_parameters.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array kOuterProductParameters{
    kSimtBlock3d<SimtOuterProductConfig>,
};

}  // namespace

std::span<const ConfigParameter<SimtOuterProductConfig>> SimtOuterProduct::parameter_table() {
    return kOuterProductParameters;
}

SimtTiling SimtOuterProduct::tiling(const Config& config) {
    SimtTiling tiling;
    tiling.block = config.block;
    tiling.depth = config.block.k;
    return tiling;
}

std::vector<SimtOuterProductConfig> SimtOuterProduct::candidates(const Problem&) {
    return {{.block = {32, 32, 32}}, {.block = {16, 32, 32}}, {.block = {8, 32, 32}}};
}

}  // namespace jitgemm
