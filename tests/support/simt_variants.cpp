#include "tests/support/simt_variants.hpp"

#include "generator/families/family.hpp"

#include <stdexcept>

namespace jitgemm::testing {
namespace {

KernelConfig default_config(std::string_view family) {
    if (family == "simt_naive") return {SimtNaiveConfig{}};
    if (family == "simt_tile2d") return {SimtTile2dConfig{}};
    if (family == "simt_tile2d_shared") return {SimtTile2dSharedConfig{}};
    if (family == "simt_outer_product") return {SimtOuterProductConfig{}};
    if (family == "simt_outer_product_tile2d") return {SimtOuterProductTile2dConfig{}};
    throw std::invalid_argument("no SIMT family: " + std::string(family));
}

}  // namespace

KernelConfig SimtVariant::config() const {
    return with_parameters(default_config(family), parse_parameters(parameters));
}

std::vector<SimtVariant> simt_variants() {
    return {{"simt_naive", ""},
            {"simt_naive", "coalesced=false"},
            {"simt_naive", "block=16x4"},
            {"simt_naive", "block=8x32"},
            {"simt_naive", "block=64x2,coalesced=false"},
            {"simt_tile2d", ""},
            {"simt_tile2d", "block=8x32,tile=1x1,grid=3"},
            {"simt_tile2d", "block=24x32,tile=3x4,grid=0"},
            {"simt_tile2d_shared", "grid=5"},
            {"simt_tile2d_shared", "block=2x64,panel_k=64,grid=0"},
            {"simt_outer_product", ""},
            {"simt_outer_product", "block=5x32x64"},
            {"simt_outer_product_tile2d", ""},
            {"simt_outer_product_tile2d", "block=8x32x32,tile=1x1,grid=3"},
            {"simt_outer_product_tile2d", "block=24x64x64,tile=3x2,grid=0"}};
}

}  // namespace jitgemm::testing
