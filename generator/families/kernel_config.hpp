#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/table.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jitgemm {

/// How the problem is computed: one struct per kernel family.
struct KernelConfig {
    ConfigVariant family;
    /// The struct of that family. Throws std::bad_variant_access where the config is another family's.
    template <class Config>
    [[nodiscard]] const Config& as() const {
        return std::get<Config>(family);
    }
    friend bool operator==(const KernelConfig&, const KernelConfig&) = default;
};

/// A kernel is a signature and a config; its canonical name spells out both and parse_kernel_name reads it back.
struct KernelId {
    GemmSignature signature;
    KernelConfig config;
    friend bool operator==(const KernelId&, const KernelId&) = default;
};
[[nodiscard]] std::string kernel_name(const KernelId& id);
/// Throws ConfigError naming the token and what was expected there.
[[nodiscard]] KernelId parse_kernel_name(std::string_view name);

[[nodiscard]] std::string_view family_name(const KernelConfig& config);

/// Reads "name=value[,name=value...]". Throws ConfigError naming the malformed part.
[[nodiscard]] ParameterMap parse_parameters(std::string_view text);
/// Sets the named parameters of a config. Throws ConfigError on an unknown name (nearest offered) or a malformed value.
[[nodiscard]] KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& parameters);
/// The family's parameters as name → canonical text ("block" → "128x128x32", "epilogue" → "smem" ...).
[[nodiscard]] ParameterMap parameters_of(const KernelConfig& config);

}  // namespace jitgemm
