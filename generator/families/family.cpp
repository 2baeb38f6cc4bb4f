#include "generator/families/family.hpp"

#include "generator/families/mma_multistage/anatomy.hpp"
#include "generator/families/mma_multistage/constraints.hpp"
#include "generator/families/mma_multistage/cost.hpp"
#include "generator/families/mma_multistage/names.hpp"
#include "generator/families/mma_multistage/render.hpp"
#include "generator/families/mma_multistage/shared_accesses.hpp"
#include "generator/families/shared/simt_family.hpp"
#include "generator/families/simt_hierarchical/family.hpp"
#include "generator/families/simt_long_k/family.hpp"
#include "generator/families/simt_naive/family.hpp"
#include "generator/families/simt_outer_product/family.hpp"
#include "generator/families/simt_outer_product_tile2d/family.hpp"
#include "generator/families/simt_tile2d/family.hpp"
#include "generator/families/simt_tile2d_shared/family.hpp"
#include "generator/families/wmma_multistage/anatomy.hpp"
#include "generator/families/wmma_multistage/constraints.hpp"
#include "generator/families/wmma_multistage/cost.hpp"
#include "generator/families/wmma_multistage/names.hpp"
#include "generator/families/wmma_multistage/render.hpp"
#include "generator/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <array>

namespace jitgemm {
namespace {

// One row a family, in the order of KernelConfig's variant.
constexpr std::array kFamilies{
    Family{.name = "mma_multistage",
           .summary = "f16 and bf16 on mma.sync: cp.async pipeline, ldmatrix, swizzled shared memory (sm_80 and newer)",
           .volunteers = [](const GemmSpec&) { return true; },
           .unsupported = mma_multistage_unsupported,
           .candidates = mma_multistage_candidates,
           .violations = mma_multistage_violations,
           .objections = mma_multistage_objections,
           .anatomy = mma_multistage_anatomy,
           .cost = mma_multistage_cost,
           .config_name = mma_multistage_config_name,
           .parse_config_name = parse_mma_multistage_config_name,
           .parameters = mma_multistage_parameters,
           .with_parameters = mma_multistage_with_parameters,
           .template_file = "mma_multistage.cu",
           .render_input = mma_multistage_render_input,
           .entries = mma_multistage_entries,
           .workspace_bytes = mma_multistage_workspace_bytes,
           .owner = mma_multistage_owner},
    Family{.name = "simt_hierarchical",
           .summary =
               "f32 on FP32 cores (f16 and bf16 too): block, warp and thread tiles, rank-1 updates, cp.async pipeline",
           .math_unit = MathUnit::fp32_cores,
           // 16-bit types have tensor cores.
           .volunteers = [](const GemmSpec& spec) { return spec.a == DataType::f32; },
           .unsupported = simt_hierarchical_unsupported,
           .candidates = simt_hierarchical_candidates,
           .violations = simt_hierarchical_violations,
           .objections = simt_hierarchical_objections,
           .anatomy = simt_hierarchical_anatomy,
           .cost = simt_hierarchical_cost,
           .config_name = simt_hierarchical_config_name,
           .parse_config_name = parse_simt_hierarchical_config_name,
           .parameters = simt_hierarchical_parameters,
           .with_parameters = simt_hierarchical_with_parameters,
           .template_file = "simt_hierarchical.cu",
           .render_input = simt_hierarchical_render_input,
           .entries = simt_hierarchical_entries,
           .workspace_bytes = simt_hierarchical_workspace_bytes,
           .owner = simt_hierarchical_owner},
    simt_family<SimtNaive>(),
    simt_family<SimtTile2d>(),
    simt_family<SimtTile2dShared>(),
    simt_family<SimtOuterProduct>(),
    simt_family<SimtOuterProductTile2d>(),
    Family{.name = "wmma_multistage",
           .summary =
               "f16 and bf16 on wmma fragments: padding, cp.async, stages, double buffering and zig-zag, each of which "
               "can be left out",
           .unsupported = wmma_multistage_unsupported,
           .candidates = wmma_multistage_candidates,
           .violations = wmma_multistage_violations,
           .objections = wmma_multistage_objections,
           .anatomy = wmma_multistage_anatomy,
           .cost = wmma_multistage_cost,
           .config_name = wmma_multistage_config_name,
           .parse_config_name = parse_wmma_multistage_config_name,
           .parameters = wmma_multistage_parameters,
           .with_parameters = wmma_multistage_with_parameters,
           .template_file = "wmma_multistage.cu",
           .render_input = wmma_multistage_render_input,
           .entries = wmma_multistage_entries,
           .workspace_bytes = wmma_multistage_workspace_bytes,
           .owner = wmma_multistage_owner},
    Family{.name = "simt_long_k",
           .summary = "f32 on FP32 cores for a small result of a long K: blocks, warps and lanes share out K",
           .math_unit = MathUnit::fp32_cores,
           .volunteers = simt_long_k_volunteers,
           .unsupported = simt_long_k_unsupported,
           .candidates = simt_long_k_candidates,
           .violations = simt_long_k_violations,
           .objections = simt_long_k_objections,
           .anatomy = simt_long_k_anatomy,
           .cost = simt_long_k_cost,
           .config_name = simt_long_k_config_name,
           .parse_config_name = parse_simt_long_k_config_name,
           .parameters = simt_long_k_parameters,
           .with_parameters = simt_long_k_with_parameters,
           .template_file = "simt_long_k.cu",
           .render_input = simt_long_k_render_input,
           .entries = simt_long_k_entries,
           .workspace_bytes = simt_long_k_workspace_bytes,
           .owner = simt_long_k_owner},
};
static_assert(kFamilies.size() == std::variant_size_v<decltype(KernelConfig::family)>);

}  // namespace

std::span<const Family> family_table() { return kFamilies; }

const Family& find_family(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Family& family : kFamilies) {
        if (family.name == name) return family;
        names.push_back(family.name);
    }
    throw ConfigError("kernel family",
                      {fmt::format("'{}' is none of {}{}", name, join_names(names), nearest_hint(name, names))});
}

const Family& family_of(const KernelConfig& config) { return kFamilies[config.family.index()]; }

}  // namespace jitgemm
