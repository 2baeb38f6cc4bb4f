#include "generator/families/wgmma_warp_specialized/geometry.hpp"

#include "generator/base/packed_operand.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/tensor_map.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace jitgemm {
namespace {

constexpr int kBarrierBytes = 8;
constexpr int kGroupEndBytes = 8, kGroupEndBytesOfK = 4;
constexpr int kSourceBytes = 8;        // of a row that is gathered: its address
constexpr int kWarps = 4;              // of a warpgroup
constexpr int kSmallestRow = 16;       // bytes of a box
constexpr int kFragmentRegisters = 4;  // of a thread, for the 32 bytes of K of a wgmma

/// Registers per thread that setmaxnreg deals out of a launch's 65536 / threads, by the number of consumers and by what
/// wgmmas hold of theirs. One needs no more than each thread has at launch.
struct RegisterDeal {
    int producer;
    int consumer;
};
constexpr int kManyHeld = 192;  // with more, and 232 registers in all, ptxas serialises wgmma
constexpr RegisterDeal deal(int consumers, int held, bool tight_producer) {
    switch (consumers) {
        case 1: return {255, 255};
        case 2: return held > kManyHeld ? RegisterDeal{24, 240} : RegisterDeal{40, 232};  // of 3 x 168
        default: return tight_producer ? RegisterDeal{40, 152} : RegisterDeal{32, 160};   // of 4 x 128
    }
}

/// Where no warp is a producer, each has what it was launched with.
constexpr RegisterDeal even_deal(int consumers) { return {0, consumers < 3 ? 255 : 168}; }

/// How a warpgroup tile is multiplied where sums are promoted.
struct Waves {
    int columns = 0;  ///< 0: there is no room for partial sums
    int sets = 0;     ///< of partial sums
};

/// Whether a thread has a scale for each column. Where it also knows where a group ends, copies scales or reduces
/// blocks of D, ptxas spills with no more than kScratchRegisters.
bool is_read_often(const WgmmaScale& scale) { return !scale.is_of_rows && !scale.is_by_block; }
constexpr int kMoreScratch = 12;  // beside kScratchRegisters

/// Whether the warp that copies scales needs 40 registers: a scale for each row and one for each column, or more to
/// know of the tile or of the text.
bool copies_much(const GemmSignature& signature, const std::vector<WgmmaScale>& scales) {
    if (scales.empty() || !scales.front().is_by_threads) return false;
    const auto lines = std::ranges::count(scales, false, &WgmmaScale::is_by_block);
    return lines == 2 || signature.grouped || has_pairs(signature) || has_blocks_of_d(signature);
}

/// The registers of a consumer for sums and scales.
int registers_for_sums(int consumers, bool tight_producer) {
    const int all = deal(consumers, 0, tight_producer).consumer - kScratchRegisters;
    return tight_producer && consumers == 2 ? std::min(all, kManyHeld) : all;
}

/// Two sets, if registers have room for them beside the tile's own sums and waves are wide enough: with fewer columns
/// wgmmas are bound by shared memory. Else one set of the widest waves.
Waves waves_of(int warpgroup_n, int held, int registers, const std::vector<WgmmaScale>& scales) {
    constexpr int kMostWaves = 4;  // along N
    constexpr int kWideWave = 80;
    Waves best;
    for (int waves = 1; waves <= kMostWaves; ++waves) {
        const int columns = warpgroup_n / waves;
        if (columns < 8 || warpgroup_n % waves != 0 || columns % 8 != 0) continue;
        const int of_set = columns / 2 + scale_registers(scales, columns);
        const auto has_room = [&](int sets) { return held + sets * of_set <= registers; };
        if (has_room(2) && (waves == 1 || columns >= kWideWave)) return {columns, 2};
        if (best.columns == 0 && has_room(1)) best = {columns, 1};
    }
    return best;
}

/// Bytes of a row of a panel. A group of three parts of 16 bits fills one and a half of the widest rows.
int panel_bytes(const std::optional<OperandParts>& parts) {
    return parts && parts->group_words() * bytes(DataType::f32) % kPanelBytes != 0 ? kPanelBytes / 2 : kPanelBytes;
}

PanelledTile panelled(bool k_major, int element_bytes, int rows, int block_k, int shares, int panel_bytes) {
    PanelledTile tile;
    tile.element_bytes = element_bytes;
    tile.panel_bytes = panel_bytes;
    tile.panel_elements = panel_bytes / element_bytes;
    tile.k_major = k_major;
    tile.shares = std::max(shares, 1);
    tile.panels = k_major ? block_k / tile.panel_elements : ceil_div(rows, tile.panel_elements);
    tile.bytes = bounded_product(tile.panels, k_major ? rows : block_k, panel_bytes);
    tile.box = {tile.panel_elements, (k_major ? rows : block_k) / tile.shares};
    return tile;
}

/// The widest row of a slice that TMA can swizzle and the warpgroup tile fills.
int slice_row_bytes(int columns, int element_bytes) {
    int bytes = 128;
    while (bytes > kSmallestRow && bytes > columns * element_bytes) bytes /= 2;
    return bytes;
}

/// An operand that lies as D does, in rows that TMA can read.
bool has_ring_operand(const GemmSignature& signature) {
    return signature.align_d >= kTmaAlignment && (signature.c == signature.d || ring_operand(signature) != nullptr);
}

/// A tile operand takes the way of A and B where it lies as D does, in boxes of TMA, a producer copies, and the ring
/// has room for a tile of it; of an overlapped one, for the half that waits there while the next tile begins, and two
/// k-tiles of that; of a ping-pong, for the last k-tile, too, which is being read when its consumer waits for C.
int stages_of_c(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& c, const WgmmaGeometry& g) {
    if (!has_ring_operand(signature)) return 0;
    if (c.store != OutputStore::tma || c.swap_ab || c.broadcast_c || !c.warp_specialized) return 0;
    if (g.consumers == kMaxConsumers && c.stream_k != 0) return 0;  // which leaves too few registers: ptxas spills
    const bool by_halves = c.schedule == WarpgroupSchedule::overlapped;
    const int panels = panels_of_c(c, g);
    const int panel_bytes = bounded_product(c_panel_rows(c), g.slice_columns, g.staged_bytes);
    const int panels_per_stage = quotient_or_zero(bounded(g.stage_bytes), panel_bytes);
    if (panels < 1 || panels_per_stage < 1 || c.block.m > kMaxBoxExtent) return 0;
    const int stages = ceil_div(panels, panels_per_stage);
    const int k_tiles = by_halves ? 2 : c.schedule == WarpgroupSchedule::pingpong ? 1 : 0;
    return stages + k_tiles <= c.stages ? stages : 0;
}

/// Bytes of an element of each staged output beside D.
std::vector<int> staged_outputs(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& c) {
    std::vector<int> all;
    if (!signature.epilogue) return all;
    for (const EpilogueOutput& output : signature.epilogue->parts().outputs)
        if (is_staged(output, signature, c)) all.push_back(bytes(*output.type));
    return all;
}

/// Columns of the blocks that outputs are for. Slices are no wider.
int block_columns(const GemmSignature& signature) {
    if (!has_blocks_of_d(signature)) return std::numeric_limits<int>::max();
    return outputs_for_blocks(signature.epilogue->parts()).front()->index.column->over;
}

}  // namespace

// Rows of D are whole boxes. Those of a narrower output may not be.
bool is_staged(const EpilogueOutput& output, const GemmSignature& signature, const WgmmaWarpSpecializedConfig& c) {
    if (!is_beside_d(output) || output.reduction || c.store != OutputStore::tma) return false;
    if (signature.grouped) return false;                      // a box would end in the next group's rows
    if (c.swap_ab && bytes(*output.type) != 2) return false;  // stmatrix transposes 16-bit elements alone
    return signature.align_d / bytes(signature.d) * bytes(*output.type) >= kTmaAlignment;
}

const EpilogueOperand* ring_operand(const GemmSignature& signature) {
    if (!signature.epilogue) return nullptr;
    const auto fits = [&](const EpilogueOperand& one) {
        return !one.is_scalar && one.index.is_matrix() && bytes(one.type) == bytes(signature.d);
    };
    const auto& operands = signature.epilogue->parts().operands;
    const auto found = std::ranges::find_if(operands, fits);
    return found == operands.end() ? nullptr : &*found;
}

std::optional<WgmmaForm> find_form(const GemmSignature& signature, int columns, bool a_in_registers) {
    const DataType b = signature.math != Math::ieee ? multiplied_type(signature) : signature.b;
    return wgmma_form(multiplied_type(signature), b, signature.accumulator, columns, a_in_registers);
}

int panels_of_c(const WgmmaWarpSpecializedConfig& c, const WgmmaGeometry& g) {
    const int warpgroup_tiles = c.schedule == WarpgroupSchedule::overlapped ? g.consumers : g.consumers_n;
    return bounded_product(warpgroup_tiles, ceil_div(g.output_n, g.slice_columns));
}

WgmmaGeometry geometry(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& c) {
    WgmmaGeometry g;
    g.consumers_n = quotient_or_zero(c.block.n, c.warpgroup.n);
    g.consumers = c.schedule == WarpgroupSchedule::pingpong
                      ? 2
                      : bounded_product(quotient_or_zero(c.block.m, c.warpgroup.m), g.consumers_n);
    g.output_n = c.warpgroup.n / (has_pairs(signature) && !c.swap_ab ? 2 : 1);
    g.threads = bounded_product(g.consumers + (c.warp_specialized ? 1 : 0), 128);
    g.wgmma_k = wgmma_k(multiplied_type(signature));
    g.k_blocks = c.block.k / g.wgmma_k;
    g.accumulator_registers =
        bounded_product(c.warpgroup.m / kWgmmaM, c.warpgroup.n) / (signature.accumulator == DataType::f16 ? 4 : 2);
    if (c.a_source == OperandSource::registers) g.fragment_registers = kFragmentsA * kFragmentRegisters;
    if (has_parts(signature)) g.parts = parts_of_math(signature.math);
    g.terms = g.parts ? g.parts->terms() : 1;
    g.wave_n = c.warpgroup.n;
    bool tight_producer = false;
    if (c.promote != 0) {
        g.scales = block_scales(signature, c);
        tight_producer = copies_much(signature, g.scales);
        const bool is_tight = (signature.grouped || tight_producer || has_blocks_of_d(signature)) &&
                              std::ranges::any_of(g.scales, is_read_often);
        const Waves waves =
            waves_of(c.warpgroup.n, g.accumulator_registers,
                     registers_for_sums(g.consumers, tight_producer) - (is_tight ? kMoreScratch : 0), g.scales);
        g.wave_n = waves.columns;
        g.partial_sets = waves.sets;
        g.partial_registers = waves.sets * (waves.columns / 2 + scale_registers(g.scales, waves.columns));
    }
    const int held = g.accumulator_registers + g.partial_registers + g.fragment_registers;
    const RegisterDeal registers =
        c.warp_specialized ? deal(g.consumers, held, tight_producer) : even_deal(g.consumers);
    g.producer_registers = registers.producer;
    g.consumer_registers = registers.consumer;
    const bool a_k_major = is_k_major(Operand::a, signature.layout) || transposes_a(signature);
    const bool b_k_major = is_k_major(Operand::b, signature.layout) || transposes_b(signature);
    const int columns = g.parts ? c.block.k / kGroupOfParts * g.parts->group_words() : c.block.k;
    const int row_bytes = panel_bytes(g.parts);
    g.a = panelled(a_k_major, bytes(signature.a), c.block.m, columns, c.cluster.n, row_bytes);
    g.b = panelled(b_k_major, bytes(signature.b), c.block.n, columns, c.cluster.m, row_bytes);
    g.stage_bytes = std::int64_t{g.a.bytes} + g.b.bytes;
    std::int64_t scale_bytes = 0;
    for (const WgmmaScale& scale : g.scales) scale_bytes += scale.bytes;
    g.pipeline_bytes = g.stage_bytes * c.stages + round_up(scale_bytes * c.stages, std::int64_t{kSwizzleBytes});
    g.staged_bytes = adds_c_by_row(signature, c) ? bytes(DataType::f32) : bytes(signature.d);
    const std::vector<int> outputs = staged_outputs(signature, c);
    g.output_bytes = std::accumulate(outputs.begin(), outputs.end(), 0);
    const int widest = outputs.empty() ? g.staged_bytes : std::max(g.staged_bytes, std::ranges::max(outputs));
    g.slice_columns = slice_row_bytes(std::min(g.output_n, block_columns(signature)), widest) / widest;
    g.rest_columns = g.output_n % g.slice_columns;
    const std::int64_t staged_rows = c.swap_ab ? rows_of_wgmma(signature, c) : kWarps * kSliceRows;
    const int mirror_bytes = signature.symmetric ? g.staged_bytes : 0;
    g.staging_bytes = std::int64_t{bounded_product(g.consumers, staged_rows, c.slices)} * g.slice_columns *
                      (g.staged_bytes + mirror_bytes + g.output_bytes);
    g.c_stages = stages_of_c(signature, c, g);
    const int group_end_bytes = signature.grouped ? kGroupEndBytes : signature.grouped_by_k ? kGroupEndBytesOfK : 0;
    g.group_bytes = (kMostGroups + 1) * group_end_bytes + (signature.gathered ? kSourceBytes * c.block.m : 0);
    const int barrier_bytes = (signature.grouped_by_k ? 3 : 2) * c.stages * kBarrierBytes;
    g.shared_bytes = g.pipeline_bytes + g.staging_bytes + barrier_bytes + g.group_bytes;
    return g;
}

}  // namespace jitgemm
