#include "generator/draw/kernel_page.hpp"

#include "generator/error.hpp"
#include "generator/families/mma_multistage_constraints.hpp"
#include "generator/families/mma_multistage_cost.hpp"
#include "generator/families/mma_multistage_shared_accesses.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace jitgemm {
namespace {

const MmaMultistageConfig& drawable_config(const GemmSpec& spec, const KernelConfig& config, const Arch& arch) {
    const auto* family = std::get_if<MmaMultistageConfig>(&config.family);
    if (family == nullptr)
        throw ConfigError(
            fmt::format("there is no page of {}", family_name(config)),
            {"pages are drawn of mma_multistage alone: fragments, swizzle and pipeline are what they show"});
    std::vector<std::string> reasons = mma_multistage_unsupported(spec, arch);
    if (reasons.empty()) reasons = mma_multistage_violations(spec, config, arch);
    if (!reasons.empty()) throw ConfigError("this kernel does not fit the problem", reasons);
    return *family;
}

std::string grid_title(const KernelTiling& tiling) {
    return fmt::format("Block tile {}×{} of D: {} atoms of {}×{}, by warp", tiling.block.m, tiling.block.n,
                       tiling.warp_of_atom.size(), tiling.mma.m, tiling.mma.n);
}

Grid warp_grid(const KernelTiling& tiling) {
    Grid grid{grid_title(tiling),
              fmt::format("m/{}", tiling.mma.m),
              fmt::format("n/{}", tiling.mma.n),
              tiling.block.m / tiling.mma.m,
              tiling.block.n / tiling.mma.n,
              {}};
    for (std::size_t atom = 0; atom < tiling.warp_of_atom.size(); ++atom) {
        const int warp = tiling.warp_of_atom[atom];
        const int row = static_cast<int>(atom) / grid.columns * tiling.mma.m;
        const int column = static_cast<int>(atom) % grid.columns * tiling.mma.n;
        grid.cells.push_back({{fmt::format("W{}", warp)},
                              warp,
                              fmt::format("warp {}: rows {}–{}, columns {}–{}", warp, row, row + tiling.mma.m - 1,
                                          column, column + tiling.mma.n - 1)});
    }
    return grid;
}

}  // namespace

KernelPage kernel_page(const GemmSpec& asked, const KernelConfig& config, const GpuModel& gpu) {
    KernelPage page;
    const GemmSpec spec = resolved(asked);
    page.exchanged = spec.d_order == Order::column;
    page.spec = with_row_major_d(spec);
    page.gpu = gpu;
    const MmaMultistageConfig& c = drawable_config(page.spec, config, *gpu.arch);
    const GemmSignature problem = signature(page.spec);
    const MmaMultistageGeometry g = geometry(problem, c);
    page.kernel = kernel_name({problem, config});
    page.cost = mma_multistage_cost(page.spec, config, gpu);
    page.threads = g.threads;
    page.registers = g.registers();
    page.tiling = kernel_tiling(page.spec, c, g);
    page.shared_a = kernel_shared_tile(Operand::a, problem, c, g);
    page.shared_b = kernel_shared_tile(Operand::b, problem, c, g);
    page.accumulators = kernel_accumulators(page.spec, c, g);
    page.pipeline = kernel_pipeline(c, page.spec.k);
    page.rasterization = kernel_rasterization(page.spec, c, gpu, page.cost.blocks_per_sm);
    page.shared_map = kernel_shared_map(c, g, *gpu.arch);
    page.accesses = mma_multistage_shared_accesses(problem, c);
    return page;
}

Picture tiling_picture(const KernelPage& page) {
    return {page.kernel, {warp_grid(page.tiling), accumulator_grid(page.accumulators)}, {}};
}

}  // namespace jitgemm
