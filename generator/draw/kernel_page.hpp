#pragma once

#include "generator/base/arch.hpp"
#include "generator/draw/kernel_accumulators.hpp"
#include "generator/draw/kernel_pipeline.hpp"
#include "generator/draw/kernel_rasterization.hpp"
#include "generator/draw/kernel_shared_map.hpp"
#include "generator/draw/kernel_shared_tile.hpp"
#include "generator/draw/kernel_tiling.hpp"
#include "generator/families/family.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// The numbers that a generated kernel's page shows. The functions that generate the kernel compute all of them.
struct KernelPage {
    std::string kernel;  ///< canonical name
    Problem problem;
    GpuModel gpu;
    CostEstimate cost;
    KernelAnatomy anatomy;
    int threads = 0;
    int registers = 0;  ///< per thread, estimated
    KernelTiling tiling;
    KernelSharedTile shared_a;  ///< this and the next three are set only if draws_fragments()
    KernelSharedTile shared_b;
    KernelAccumulators accumulators;
    KernelPipeline pipeline;
    KernelRasterization rasterization;
    KernelSharedMap shared_map;
    std::vector<SharedAccess> accesses;

    /// Whether ldmatrix loads the operands of mma.sync.
    [[nodiscard]] bool draws_fragments() const { return anatomy.ldmatrix_pipeline.has_value(); }
};

/// The page of a config for a problem on a GPU. Throws ConfigError with all reasons if the config breaks a rule. Every
/// family has a page. Fragments, swizzle and pipeline are drawn if its anatomy has an LdmatrixPipeline.
[[nodiscard]] KernelPage kernel_page(const Problem& problem, const KernelConfig& config, const GpuModel& gpu);

/// The part of the page that fits a picture: the block tile of D by warps, one cell per atom, and one atom by lanes and
/// values.
[[nodiscard]] Picture tiling_picture(const KernelPage& page);

/// One self-contained page that loads nothing.
[[nodiscard]] std::string kernel_page_html(const KernelPage& page);

/// The same numbers in a few lines of text.
[[nodiscard]] std::string kernel_page_text(const KernelPage& page);

}  // namespace jitgemm
