#include "generator/families/wgmma_warp_specialized/family.hpp"

#include "generator/families/shared/orientation.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/swizzle.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

OperandPath path_of(Operand operand, const PanelledTile& tile, int wgmma_k, std::string_view from) {
    const char mn = operand == Operand::a ? 'M' : 'N';
    OperandPath path;
    path.operand = operand;
    path.k_major = tile.k_major;
    path.copy = fmt::format("TMA, boxes of {}x{} elements{}{}", tile.box[0], tile.box[1], from,
                            tile.shares > 1 ? fmt::format(", to {} blocks of the cluster", tile.shares) : "");
    path.place = fmt::format("{} panel{} of rows of {} bytes, swizzled over {} bytes", tile.panels,
                             tile.panels == 1 ? "" : "s", tile.panel_bytes, tile.panel_bytes);
    path.width_reason = fmt::format("wgmma reads it from shared memory, {} of K at a time", wgmma_k);
    path.trans_reason = tile.k_major ? "K is contiguous in shared memory"
                                     : fmt::format("{} is contiguous in shared memory, as the instruction is told", mn);
    return path;
}

/// Where an element of A lies in a stage: the 16-byte chunks of a row are permuted by bits 7 and on of its address.
int address_in(const PanelledTile& tile, const WgmmaWarpSpecializedConfig& c, int row, int k) {
    const int across = tile.k_major ? row : k;
    const int along = (tile.k_major ? k : row) * tile.element_bytes;
    const int panel_rows = tile.k_major ? c.block.m : c.block.k;
    const int address = (along / kPanelBytes * panel_rows + across) * kPanelBytes + along % kPanelBytes;
    return address ^ (address >> 3 & (kPanelBytes - kChunkBytes));
}

/// A's fragments. Each warp loads those of its rows: four 8x8 matrices, two of rows by two of k.
SharedAccess fragment_access(Operand operand, const WgmmaWarpSpecializedConfig& c, const WgmmaGeometry& g) {
    const PanelledTile& tile = g.a;
    const int columns = kChunkBytes / tile.element_bytes;  // of a matrix
    SharedAccess access;
    access.what = fmt::format("ldmatrix {}", to_string(operand));
    access.instruction = tile.k_major ? "ldmatrix.x4" : "ldmatrix.x4.trans";
    for (int row = 0; row < c.block.m; row += kSliceRows)
        for (int k = 0; k < c.block.k; k += g.wgmma_k) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                const int line = lane % 8;
                return address_in(tile, c, row + lane / 8 % 2 * 8 + (tile.k_major ? line : 0),
                                  k + lane / 16 * columns + (tile.k_major ? 0 : line));
            });
            add_instruction(access, matrix_wavefronts(4, addresses), std::max(g.consumers_n, 1));
        }
    return access;
}

/// How A, as wgmmas see it, comes to registers.
void describe_fragments(KernelAnatomy& anatomy, const WgmmaWarpSpecializedConfig& c, const WgmmaGeometry& g) {
    OperandPath& path = anatomy.operands[c.swap_ab ? 1 : 0];
    const int wgmmas = c.warpgroup.m / kWgmmaM;
    path.ldmatrix = LdmatrixChoice{.x = 4, .trans = !g.a.k_major, .matrices = 4 * wgmmas, .instructions = wgmmas};
    path.width_reason =
        fmt::format("an ldmatrix x4 loads a warp's {} rows of it, {} of K at a time", kSliceRows, g.wgmma_k);
    if (!g.a.k_major) path.trans_reason = "its rows are contiguous in shared memory: ldmatrix transposes";
    anatomy.accesses.push_back(fragment_access(path.operand, c, g));
}

}  // namespace

KernelAnatomy WgmmaWarpSpecialized::anatomy(const Problem& problem, const Config& c) {
    const GemmSpec& spec = problem.row_major();
    const WgmmaGeometry g = geometry(as_multiplied(problem.signature, c.swap_ab), c);
    const bool a_in_registers = c.a_source == OperandSource::registers;
    const WgmmaForm form = find_form(problem.signature, g.wave_n, a_in_registers).value();
    KernelAnatomy anatomy;
    anatomy.block = c.block;
    anatomy.warp = {kSliceRows, c.warpgroup.n, c.block.k};
    anatomy.mma = {kWgmmaM, g.wave_n, g.wgmma_k};
    anatomy.instruction = wgmma_ptx_name(form);
    if (c.warp_specialized)
        anatomy.roles = {{"consumer", g.consumers * 4, g.consumer_registers}, {"producer", 4, g.producer_registers}};
    else
        anatomy.roles = {{"all", g.consumers * 4, g.consumer_registers}};
    anatomy.accumulator_registers = g.accumulator_registers + g.partial_registers;
    anatomy.fragment_registers = g.fragment_registers;
    anatomy.stages = c.stages;
    anatomy.cluster = c.cluster.m * c.cluster.n;
    anatomy.raster_group = c.group;
    anatomy.stage_bytes = g.stage_bytes;
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.staging_bytes;
    anatomy.shared_bytes = g.shared_bytes;
    anatomy.packs_a = makes_copy_a(spec);
    anatomy.packs_b = makes_copy_b(spec);
    const auto from = [&](bool is_copied, bool is_transposed, bool is_prepared) -> std::string_view {
        if (is_prepared) return " from the prepared copy in parts";
        if (!is_copied) return "";
        if (has_parts(spec)) return " from the copy in parts in the workspace";
        return is_transposed ? " from the transposed copy in the workspace" : " from the packed copy in the workspace";
    };
    anatomy.operands = {path_of(Operand::a, c.swap_ab ? g.b : g.a, g.wgmma_k,
                                from(copies_a(spec), transposes_a(spec), is_prepared_a(spec))),
                        path_of(Operand::b, c.swap_ab ? g.a : g.b, g.wgmma_k,
                                from(copies_b(spec), transposes_b(spec), is_prepared_b(spec)))};
    if (spec.math == Math::tf32)
        for (OperandPath& path : anatomy.operands) path.copy += ", rounded to tf32";
    if (a_in_registers) describe_fragments(anatomy, c, g);
    if (c.stream_k != 0) describe_stream_k(anatomy, c.stream_k, stream_k(as_multiplied(spec, c.swap_ab), c));
    if (c.swap_ab) turn_tiles(anatomy);
    return anatomy;
}

ElementOwner WgmmaWarpSpecialized::owner(const Problem& problem, const Config& c, std::int64_t row,
                                         std::int64_t column) {
    const GemmSpec spec = as_multiplied(problem.row_major(), c.swap_ab);
    if (has_pairs(problem.signature)) column = first_sum_of(EpiloguePairs::halves, column);  // neighbours lie as halves
    if (c.swap_ab) std::swap(row, column);
    const WgmmaGeometry g = geometry(as_multiplied(problem.signature, c.swap_ab), c);
    if (spec.symmetric && row / g.slice_columns > column / g.slice_columns) std::swap(row, column);  // in a mirror
    ElementOwner owner;
    owner.tile_m = row / c.block.m;
    owner.tile_n = column / c.block.n;
    const TileIndex cluster{owner.tile_m / c.cluster.m, owner.tile_n / c.cluster.n};
    std::int64_t taker = block_of_tile(c, place_among_dealt(cluster, spec, c), dealt_tiles(spec, c));
    if (c.stream_k != 0) taker = stream_k(spec, c).taker_of(taker);
    owner.block =
        taker * c.cluster.m * c.cluster.n + owner.tile_m % c.cluster.m + owner.tile_n % c.cluster.n * c.cluster.m;
    const int in_block_m = static_cast<int>(row % c.block.m);
    const int in_block_n = static_cast<int>(column % c.block.n);
    const int warpgroup = in_block_m / c.warpgroup.m * g.consumers_n + in_block_n / c.warpgroup.n;
    const int in_group_m = in_block_m % c.warpgroup.m;
    const int in_group_n = in_block_n % c.warpgroup.n;
    const MmaAtom atom = wgmma_atom(find_form(problem.signature, c.warpgroup.n).value());
    const ThreadValue held = owner_of(atom.layout_c, {in_group_m % kWgmmaM, in_group_n});
    owner.warp = warpgroup * 4 + held.thread / 32;
    owner.lane = held.thread % 32;
    const int registers = atom.registers(Operand::c);
    if (c.swap_ab) std::swap(owner.tile_m, owner.tile_n);
    owner.accumulator_register = in_group_m / kWgmmaM * registers + held.value / (atom.layout_c.values() / registers);
    return owner;
}

}  // namespace jitgemm
