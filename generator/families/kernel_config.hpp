#pragma once

#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/table.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// How a kernel computes the problem. Each family has its own struct.
struct KernelConfig {
    ConfigVariant family;
    /// The struct of a family. Throws std::bad_variant_access if the config is another family's.
    template <class Config>
    [[nodiscard]] const Config& as() const {
        return std::get<Config>(family);
    }
    friend bool operator==(const KernelConfig&, const KernelConfig&) = default;
};

[[nodiscard]] std::string_view family_name(const KernelConfig& config);

/// Reads "name=value[,name=value...]". Throws ConfigError naming the malformed part.
[[nodiscard]] ParameterMap parse_parameters(std::string_view text);
/// Sets the named parameters of a config. Throws ConfigError for an unknown name (with the nearest one) or a malformed
/// value.
[[nodiscard]] KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& parameters);
/// The family's parameters as name → canonical text ("block" → "128x128x32", "store" → "smem" ...).
[[nodiscard]] ParameterMap parameters_of(const KernelConfig& config);
/// The same in the order of the family's table, as `--param` reads it: "block=128x128x32,warp=64x64,..."
[[nodiscard]] std::string parameters_text(const KernelConfig& config);

}  // namespace jitgemm
