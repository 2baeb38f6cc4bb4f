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

/// Everything a generated kernel's page shows, as numbers: all of them out of the functions that generate the kernel.
struct KernelPage {
    std::string kernel;  ///< canonical name
    Problem problem;
    GpuModel gpu;
    CostEstimate cost;
    KernelAnatomy anatomy;
    int threads = 0;
    int registers = 0;  ///< per thread, estimated
    KernelTiling tiling;
    KernelSharedTile shared_a;  ///< this and the next three only where draws_fragments()
    KernelSharedTile shared_b;
    KernelAccumulators accumulators;
    KernelPipeline pipeline;
    KernelRasterization rasterization;
    KernelSharedMap shared_map;
    std::vector<SharedAccess> accesses;

    /// Whether ldmatrix feeds mma.sync.
    [[nodiscard]] bool draws_fragments() const { return anatomy.ldmatrix_pipeline.has_value(); }
};

/// The page of a config for a problem on a GPU. Throws ConfigError with all reasons when the config breaks a rule.
/// Every family has a page; fragments, swizzle and pipeline are drawn where its anatomy has an LdmatrixPipeline.
[[nodiscard]] KernelPage kernel_page(const Problem& problem, const KernelConfig& config, const GpuModel& gpu);

/// What of the page fits a picture: the block tile of D by warps, one cell per atom, and one atom by lanes and values.
[[nodiscard]] Picture tiling_picture(const KernelPage& page);

/// One self-contained page: no resource from elsewhere.
[[nodiscard]] std::string kernel_page_html(const KernelPage& page);

/// The same in a few lines.
[[nodiscard]] std::string kernel_page_text(const KernelPage& page);

}  // namespace jitgemm
