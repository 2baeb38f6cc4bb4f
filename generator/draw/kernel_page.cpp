#include "generator/draw/kernel_page.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace jitgemm {
namespace {

void require_sound(const Problem& problem, const KernelConfig& config, const Arch& arch) {
    const Family& family = family_of(config);
    std::vector<std::string> reasons = family.unsupported(problem, arch);
    if (reasons.empty()) reasons = family.violations(problem, config, arch);
    if (!reasons.empty()) throw ConfigError("this kernel does not fit the problem", reasons);
}

void draw_fragments(KernelPage& page, const KernelConfig& config) {
    page.shared_a = kernel_shared_tile(Operand::a, page.anatomy);
    page.shared_b = kernel_shared_tile(Operand::b, page.anatomy);
    page.accumulators = kernel_accumulators(page.problem, config, page.anatomy);
    page.pipeline = kernel_pipeline(page.anatomy, page.problem.row_major().k);
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

KernelPage kernel_page(const Problem& problem, const KernelConfig& config, const GpuModel& gpu) {
    KernelPage page;
    page.problem = problem;
    page.gpu = gpu;
    require_sound(problem, config, *gpu.arch);
    const Family& family = family_of(config);
    page.kernel = kernel_name(problem, config);
    page.cost = family.cost(problem, config, gpu);
    page.anatomy = family.anatomy(problem, config);
    page.threads = page.anatomy.threads();
    page.registers = page.anatomy.registers();
    page.tiling = kernel_tiling(problem, config, page.anatomy);
    page.rasterization = kernel_rasterization(problem, config, page.anatomy, gpu, page.cost.blocks_per_sm);
    page.shared_map = kernel_shared_map(page.anatomy, *gpu.arch, page.cost.blocks_per_sm);
    page.accesses = page.anatomy.accesses;
    if (page.draws_fragments()) draw_fragments(page, config);
    return page;
}

Picture tiling_picture(const KernelPage& page) {
    Picture picture{page.kernel, {warp_grid(page.tiling)}, {}};
    if (page.draws_fragments()) picture.grids.push_back(accumulator_grid(page.accumulators));
    return picture;
}

}  // namespace jitgemm
