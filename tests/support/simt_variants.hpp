#pragma once

#include "generator/families/kernel_config.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::testing {

inline constexpr std::array<std::string_view, 5> kSimtFamilies{"simt_naive", "simt_tile2d", "simt_tile2d_shared",
                                                               "simt_outer_product", "simt_outer_product_tile2d"};

/// A plain SIMT family with some of its parameters set.
struct SimtVariant {
    std::string_view family;
    std::string_view parameters;

    /// Throws ConfigError as with_parameters does.
    [[nodiscard]] KernelConfig config() const;
};

/// Every family with every value of its switches, and tiles of every shape; few blocks, so that grid strides are taken.
[[nodiscard]] std::vector<SimtVariant> simt_variants();

}  // namespace jitgemm::testing
