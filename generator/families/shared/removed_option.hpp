#pragma once

#include "generator/families/shared/parameter_map.hpp"

#include <span>
#include <string_view>

namespace jitgemm {

/// An option that kernels of earlier versions had. Stores, wisdom and scripts may still name it.
struct RemovedOption {
    std::string_view parameter;
    std::string_view token;    ///< the text before the value in a kernel's name
    std::string_view value{};  ///< the value that was removed; empty: the whole parameter, a number
};

inline constexpr RemovedOption kHilbertRasterization{"rasterization", "raster-", "hilbert"};

/// Throws ConfigError if the config's part of a kernel name has one of these options.
void refuse_removed_options(std::span<const RemovedOption> removed, std::string_view config_name);
/// The same for named parameters.
void refuse_removed_options(std::span<const RemovedOption> removed, const ParameterMap& given);

}  // namespace jitgemm
