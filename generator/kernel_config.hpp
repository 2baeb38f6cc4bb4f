#pragma once

#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/simt_hierarchical/config.hpp"
#include "generator/families/simt_long_k/config.hpp"
#include "generator/families/simt_naive/config.hpp"
#include "generator/families/simt_outer_product/config.hpp"
#include "generator/families/simt_outer_product_tile2d/config.hpp"
#include "generator/families/simt_tile2d/config.hpp"
#include "generator/families/simt_tile2d_shared/config.hpp"
#include "generator/families/wmma_multistage/config.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jitgemm {

/// What a kernel must know of the problem at compile time; m, n, k and leading dimensions stay run-time arguments.
/// D is always row-major here: a column-major one is turned around first (with_row_major_d).
struct GemmSignature {
    GemmLayout layout = GemmLayout::tn;
    DataType a = DataType::bf16;
    DataType b = DataType::bf16;
    std::optional<DataType> c;
    DataType d = DataType::bf16;
    DataType accumulator = DataType::f32;
    int align_a = 16;  ///< bytes
    int align_b = 16;
    int align_d = 16;  ///< bytes of D; where C is less aligned, as few elements as C's alignment allows
    friend bool operator==(const GemmSignature&, const GemmSignature&) = default;
};

/// The signature of a spec (any D order, resolved or not). Throws SpecError as resolved() does.
[[nodiscard]] GemmSignature signature(const GemmSpec& spec);

/// How the problem is computed: one struct per kernel family.
struct KernelConfig {
    std::variant<MmaMultistageConfig, SimtHierarchicalConfig, SimtNaiveConfig, SimtTile2dConfig, SimtTile2dSharedConfig,
                 SimtOuterProductConfig, SimtOuterProductTile2dConfig, WmmaMultistageConfig, SimtLongKConfig>
        family = MmaMultistageConfig{};
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

/// Fixed parameters, `--param stages=4,block=128x256x32`: name → text. Names are those of the family's parameter table.
using ParameterMap = std::map<std::string, std::string, std::less<>>;
/// Reads "name=value[,name=value...]". Throws ConfigError naming the malformed part.
[[nodiscard]] ParameterMap parse_parameters(std::string_view text);
/// Sets the named parameters of a config. Throws ConfigError on an unknown name (nearest offered) or a malformed value.
[[nodiscard]] KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& parameters);
/// The family's parameters as name → canonical text ("block" → "128x128x32", "epilogue" → "smem" ...).
[[nodiscard]] ParameterMap parameters_of(const KernelConfig& config);

}  // namespace jitgemm
