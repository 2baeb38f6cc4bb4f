#include "generator/draw/kernel_page.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::string shared_tile_line(const KernelSharedTile& tile) {
    const std::string place = tile.span_bytes > 0 ? fmt::format("swizzled within {} bytes", tile.span_bytes)
                                                  : fmt::format("padded to rows of {} bytes", tile.pitch_bytes);
    return fmt::format("shared {}       {} rows of {} chunks of 16 bytes, {}; ldmatrix.x{}{}, {} per k-block\n",
                       to_string(tile.operand), tile.rows, tile.chunks, place, tile.ldmatrix.x,
                       tile.ldmatrix.trans ? ".trans" : "", tile.ldmatrix.instructions);
}

std::string rasterization_lines(const KernelRasterization& r) {
    const std::string blocks = fmt::format("rasterization  {}: {}×{} tiles, {} blocks, {} of them in the first wave\n",
                                           r.order, r.tiles.m, r.tiles.n, r.blocks, r.first_wave);
    if (r.own.first_wave.empty() && r.first_wave > 0) return blocks + fmt::format("{:15}{}\n", "", kFirstWaveUnknown);
    return blocks + fmt::format("               whose operands are {} (A {}, B {}); {} row by row; L2 has {}\n",
                                megabytes(r.own.footprint.total()), megabytes(r.own.footprint.a_bytes),
                                megabytes(r.own.footprint.b_bytes), megabytes(r.row_major.footprint.total()),
                                megabytes(r.l2_bytes));
}

std::string fragment_lines(const KernelPage& page) {
    return shared_tile_line(page.shared_a) + shared_tile_line(page.shared_b) +
           fmt::format("accumulators   {} registers per thread, of about {}\n", page.accumulators.registers,
                       page.registers) +
           fmt::format("pipeline       {} stages, {} k-tiles\n", page.pipeline.stages, page.pipeline.k_tiles);
}

std::string operand_lines(const KernelPage& page) {
    std::string text;
    for (const OperandPath& path : page.anatomy.operands)
        text += fmt::format("operand {}      {}; {}\n", to_string(path.operand), path.copy, path.place);
    return text + fmt::format("registers      about {} per thread, {} of them sums\n", page.registers,
                              page.anatomy.accumulator_registers);
}

}  // namespace

std::string kernel_page_text(const KernelPage& page) {
    const KernelTiling& t = page.tiling;
    std::string text = fmt::format("{}\n{}\n\n", page.kernel, to_string(page.problem.row_major()));
    text += fmt::format("tiling         block {}×{}×{}, {}×{} warps of {}×{}, {}×{} mma of {}×{}×{} each per k-block\n",
                        t.block.m, t.block.n, t.block.k, t.warps_m, t.warps_n, t.warp.m, t.warp.n, t.atoms_m, t.atoms_n,
                        t.mma.m, t.mma.n, t.mma.k);
    text += page.draws_fragments() ? fragment_lines(page) : operand_lines(page);
    text += rasterization_lines(page.rasterization);
    text += fmt::format("shared memory  {} bytes of {}; blocks per SM: {}\n", page.shared_map.total_bytes,
                        page.shared_map.block_limit, page.shared_map.blocks_per_sm);
    for (const SharedAccess& access : page.accesses) {
        text += fmt::format("wavefronts     {:<15} {:<24} {:>6}, ideal {:>6}\n", access.what, access.instruction,
                            access.wavefronts, access.ideal);
    }
    return text;
}

}  // namespace jitgemm
