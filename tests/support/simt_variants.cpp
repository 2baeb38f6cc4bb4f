#include "tests/support/simt_variants.hpp"

#include "generator/families/family.hpp"

#include <cstddef>
#include <stdexcept>
#include <variant>

namespace jitgemm::testing {
namespace {

template <std::size_t kIndex = 0>
KernelConfig default_config(std::string_view family) {
    if constexpr (kIndex < std::variant_size_v<ConfigVariant>) {
        const KernelConfig config{std::variant_alternative_t<kIndex, ConfigVariant>{}};
        return family_name(config) == family ? config : default_config<kIndex + 1>(family);
    }
    throw std::invalid_argument("no family: " + std::string(family));
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
