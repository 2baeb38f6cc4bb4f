#include "generator/families/wgmma_warp_specialized/family.hpp"

#include "generator/epilogue/render.hpp"
#include "generator/families/shared/batch.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/shared/tma_text.hpp"
#include "generator/families/shared/workspace_text.hpp"
#include "generator/families/shared/wrapper_text.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/statements.hpp"
#include "generator/families/wgmma_warp_specialized/template_statements.hpp"
#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

bool has_a_in_registers(const Config& c) { return c.a_source == OperandSource::registers; }
bool stores_by_tma(const Config& c) { return c.store == OutputStore::tma; }
int blocks_of_cluster(const Config& c) { return bounded_product(c.cluster.m, c.cluster.n); }

constexpr int kWarpsPerWarpgroup = 4;
constexpr int kLeastVector = 4;  // of a row of D that a thread stores at once, bytes

TensorMapSwizzle swizzle_of(int row_bytes) {
    switch (row_bytes) {
        case 32: return TensorMapSwizzle::span32;
        case 64: return TensorMapSwizzle::span64;
        case 128: return TensorMapSwizzle::span128;
        default: return TensorMapSwizzle::none;
    }
}

/// The epilogue reads C from global memory, as elements: neither the ring nor a broadcast brings it in pairs.
bool reads_elements_of_c(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    return s.c && g.c_stages == 0 && !c.broadcast_c;
}

/// Widths of stmatrix that stage a slice of 16-bit elements, in 8x8 matrices. A warp has two of them for eight columns.
/// Only where D^T is made of pairs, it has one.
std::vector<int> stmatrix_widths(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    if (g.staged_bytes != 2) return {};
    const int of_eight = has_pairs(s) && c.swap_ab ? 1 : 2;
    const int matrices = g.slice_columns / 8 * of_eight, of_rest = g.rest_columns / 8 * of_eight;
    std::vector<int> widths;
    if (matrices >= 4) widths.push_back(4);
    if ((matrices & 2) != 0 || (of_rest & 2) != 0) widths.push_back(2);
    if ((matrices & 1) != 0 || (of_rest & 1) != 0) widths.push_back(1);
    return widths;
}
/// Whether slices of other outputs are filled by stmatrix x2, an atom at a time.
bool stages_outputs_by_x2(const TileOperands& operands) {
    return std::ranges::any_of(operands.outputs,
                               [](const TileOutput& one) { return one.is_staged && bytes(*one.output.type) == 2; });
}

FinishUnit finished_unit(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    if (adds_c_by_row(s, c)) return FinishUnit::with_operand;
    if (reads_elements_of_c(s, c, g)) return FinishUnit::element;
    return c.swap_ab ? FinishUnit::pair : FinishUnit::atom;
}

/// Whether TMA copies scales of that kind.
bool has_scales(const WgmmaGeometry& g, bool by_block) {
    return std::ranges::any_of(
        g.scales, [&](const WgmmaScale& one) { return !one.is_by_threads && one.is_by_block == by_block; });
}

bool has_paired_scales(const WgmmaGeometry& g) {
    return std::ranges::any_of(g.scales, [](const WgmmaScale& one) { return one.pairs != EpiloguePairs::none; });
}

std::map<std::string, int, std::less<>> macros(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    const std::vector<int> widths = stmatrix_widths(s, c, g);
    const auto stages_by = [&](int width) { return std::ranges::find(widths, width) != widths.end(); };
    std::map<std::string, int, std::less<>> macros{
        {"GEMM_PINGPONG", c.schedule == WarpgroupSchedule::pingpong},
        {"GEMM_OVERLAPPED", c.schedule == WarpgroupSchedule::overlapped},
        {"GEMM_MBARRIER_ARRIVE", 1},
        {"GEMM_TENSOR_MAPS", 1},
        {"GEMM_CLUSTER", blocks_of_cluster(c)},
        {"GEMM_SETMAXNREG", deals_out_registers(c, g)},
        {"GEMM_RASTERIZATION", static_cast<int>(c.rasterization)},
        {"GEMM_STORE_TMA", stores_by_tma(c)},
        {"GEMM_VECTOR_BYTES", std::max(s.align_d, kLeastVector)},
        {"GEMM_SLICE_OF_SUMS", adds_c_by_row(s, c)},
        {"GEMM_SLICE_F32", g.staged_bytes == 4},
        {"GEMM_READ_C", reads_elements_of_c(s, c, g)},  // one by one, from global memory
        {"GEMM_CONVERT_C", reads_elements_of_c(s, c, g)},
        {"GEMM_REST_COLUMNS", g.rest_columns},
        {"GEMM_PAIRS", has_pairs(s)},
        {"GEMM_STMATRIX", stages_by(4)},
        {"GEMM_STMATRIX_X2", stages_by(2)},
        {"GEMM_SWAP_AB", c.swap_ab},
        {"GEMM_SYMMETRIC", s.symmetric},
        {"GEMM_WARP_SPECIALIZED", c.warp_specialized},
        {"GEMM_STREAM_K", c.stream_k != 0},
        {"GEMM_WORKSPACE", c.stream_k != 0 || pack_for_tma(s) != Pack::none},
        {"GEMM_PACK_A", packs_a(pack_for_tma(s))},
        {"GEMM_PACK_B", packs_b(pack_for_tma(s))},
        {"GEMM_TRANSPOSE_REALIGN", realigns_transposed(s)},
        {"GEMM_A_K_MAJOR", g.a.k_major},
        {"GEMM_B_K_MAJOR", g.b.k_major},
        {"GEMM_DEPENDENT_LAUNCH", c.dependent_launch},
        {"GEMM_A_IN_REGISTERS", has_a_in_registers(c)},
        {"GEMM_PERSISTENT", c.persistent},
        {"GEMM_ELEMENT_BYTES", g.a.element_bytes},
        {"GEMM_PROMOTED", c.promote != 0},
        {"GEMM_PARTS", g.parts ? g.parts->count : 0},
        {"GEMM_PARTS_SCALED", g.parts && g.parts->are_scaled},
        {"GEMM_BLOCK_SCALES", !g.scales.empty()},
        {"GEMM_SCALES_OF_LINES", has_scales(g, false)},
        {"GEMM_SCALES_OF_BLOCKS", has_scales(g, true)},
        {"GEMM_PAIRED_SCALES", has_paired_scales(g)},
        {"GEMM_SCALES_BY_THREADS", !g.scales.empty() && c.scales == ScaleSource::threads},
        {"GEMM_EARLY", c.early_a || c.early_b},
        {"GEMM_EARLY_A", c.early_a},
        {"GEMM_EARLY_B", c.early_b}};
    macros.merge(type_macros(s));
    return macros;
}

KernelTraits traits(const GemmSignature& s, const TileOperands& operands, const Config& c, const WgmmaGeometry& g) {
    const std::vector<int> widths = stmatrix_widths(s, c, g);
    const auto stages_by = [&](int width) { return std::ranges::find(widths, width) != widths.end(); };
    const bool has_panels = operands.has(OperandReader::panels);
    return {.a = s.a,
            .d = s.d,
            .accumulator = s.accumulator,
            .in_cluster = blocks_of_cluster(c) > 1,
            .batched = s.batched,
            .grouped = s.grouped,
            .grouped_by_k = s.grouped_by_k,
            .gathered = s.gathered,
            .symmetric = s.symmetric,
            .swap_ab = c.swap_ab,
            .overlapped = c.schedule == WarpgroupSchedule::overlapped,
            .stream_k = c.stream_k != 0,
            .a_in_registers = has_a_in_registers(c),
            .promoted = c.promote != 0,
            .exact_sums = has_exact_sums(s),
            .has_parts = g.parts.has_value(),
            .has_tf32_parts = s.math == Math::tf32x3,
            .has_pairs = has_pairs(s),
            .has_scales = !g.scales.empty(),
            .scales_by_threads = !g.scales.empty() && c.scales == ScaleSource::threads,
            .has_panels = has_panels,
            .prefetches_panels = has_panels && c.schedule != WarpgroupSchedule::pingpong,
            .reads_slices = operands.has(OperandReader::elements) || operands.needs_places(),
            .has_reductions = !operands.reductions.empty(),
            .has_block_reductions = !operands.blocks.empty(),
            .stages_outputs = operands.has_staged_outputs(),
            .stores_by_tma = stores_by_tma(c),
            .has_rest = g.rest_columns != 0,
            .shifts_rows = s.align_d < kLeastVector,
            .vector_bytes = std::max(s.align_d, kLeastVector),
            .stmatrix_x4 = stages_by(4),
            .stmatrix_x2 = stages_by(2),
            .stmatrix_x1 = stages_by(1)};
}

void add_template_statements(RenderInput& input, const KernelTraits& traits) {
    add_kernel_statements(input, traits);
    add_consumer_statements(input, traits);
    add_producer_statements(input, traits);
    add_walk_statements(input, traits);
    add_slice_statements(input, traits);
}

/// Includes of files that only some kernels need.
void leave_out_includes(RenderInput& input, const KernelTraits& traits) {
    if (!traits.prefetches_panels) input.pieces["ptx/tma_prefetch.cuh"] = "";
    if (!traits.promoted) input.pieces["common/set_to_zero.cuh"] = "";
}

/// The part of D that a tile of the product makes. With swap_ab, rows are those of the sums up to the epilogue.
TileShape tile_of_d(const TileShape& tile, const GemmSignature& s, const Config& c) {
    return {tile.m, tile.n / (has_pairs(s) && !c.swap_ab ? 2 : 1), tile.k};
}

std::string tile_lines(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    const TileShape block = tile_of_d(c.block, s, c), warpgroup = tile_of_d(c.warpgroup, s, c);
    std::string text =
        constant_line("kBlockM", block.m,
                      has_pairs(s) && c.swap_ab
                          ? "block tile: rows of sums, two for a row of D^T; columns of D^T; and a part of K"
                          : "block tile: the part of D that a block computes, and of K that it loads at a time");
    text += constant_line("kBlockN", block.n, "");
    text += constant_line("kBlockK", c.block.k, "");
    // Ping-pong warpgroups multiply whole block tiles.
    if (c.schedule != WarpgroupSchedule::pingpong)
        text += constant_line("kWarpgroupM", warpgroup.m,
                              "warpgroup tile: the part of the block tile that a consumer multiplies");
    text += constant_line("kWarpgroupN", warpgroup.n, "");
    text += constant_line("kStages", c.stages, "k-tiles in shared memory: some in use, the others in flight");
    text +=
        constant_line("kPanelBytes", g.a.panel_bytes, "bytes of a row of a panel of A or B: the span of the swizzle");
    if (has_a_in_registers(c))
        text += constant_line("kFragmentsA", kFragmentsA,
                              "fragments of A that a warp has in registers for the wgmmas in flight");
    if (c.promote != 0)
        text += constant_line("kWaveN", g.wave_n,
                              "columns of a wave: the part of a warpgroup tile whose partial sums a set has");
    if (blocks_of_cluster(c) > 1) {
        text += constant_line("kClusterM", c.cluster.m, "block tiles of a cluster along M, which share B");
        text += constant_line("kClusterN", c.cluster.n, "and along N, which share A");
    }
    return text + group_line(c.rasterization, c.group);
}

std::string register_lines(const Config& c, const WgmmaGeometry& g) {
    if (!deals_out_registers(c, g)) return {};
    return constant_line("kProducerRegisters", g.producer_registers,
                         "registers per thread of the warpgroup that copies") +
           constant_line("kConsumerRegisters", g.consumer_registers,
                         "registers per thread of the warpgroups that multiply");
}

/// Where the parts of a group of K lie in a k-tile.
std::string group_lines(const OperandParts& parts, const WgmmaGeometry& g) {
    return parts_lines(parts) + constant_line("kGroupBlocks", kGroupOfParts / g.wgmma_k, "k-blocks of a group") +
           constant_line("kGroupPanels", parts.group_words() * bytes(DataType::f32) / g.a.panel_bytes,
                         "panels, one behind the other, that a group takes");
}

/// Constants that follow from the parameters. They are geometry()'s numbers, so that no template computes them anew.
std::string derived_lines(const GemmSignature& s, const TileOperands& operands, const Config& c,
                          const WgmmaGeometry& g) {
    const int blocks = blocks_of_cluster(c);
    const int warps_per_tile = (c.schedule == WarpgroupSchedule::pingpong ? 1 : g.consumers) * kWarpsPerWarpgroup;
    std::string text;
    if (c.warp_specialized) text += constant_line("kConsumers", g.consumers, "warpgroups that multiply");
    if (c.schedule != WarpgroupSchedule::pingpong)
        text += constant_line("kConsumersN", g.consumers_n, "warpgroups that multiply, side by side along N");
    text += constant_line("kThreads", g.threads, "threads of a block");
    text += constant_line("kTilesM", c.warpgroup.m / kWgmmaM, "wgmmas along M of a warpgroup tile, 64 rows each");
    text += constant_line("kTilesN", c.warpgroup.n / 8,
                          has_pairs(s) && !c.swap_ab
                              ? "groups of eight sums of a row: two for eight columns of a warpgroup tile"
                              : "groups of eight columns of a warpgroup tile");
    text += constant_line("kRegistersC", s.accumulator == DataType::f16 ? 2 : 4,
                          "registers of a thread for its sums in eight columns of a wgmma");
    text += constant_line("kKBlocks", g.k_blocks, fmt::format("k-blocks of {} in a k-tile", g.wgmma_k));
    if (c.promote != 0)
        text += constant_line("kPromotedBlocks", c.promote / g.wgmma_k,
                              fmt::format("k-blocks after which sums begin anew: {} of K", c.promote));
    if (g.parts) text += group_lines(*g.parts, g);
    if (!g.scales.empty()) text += scale_lines(g.scales);
    if (c.stream_k != 0) text += constant_line("kWarpsPerTile", warps_per_tile, "warps that share a tile");
    if (g.c_stages != 0) {
        const bool by_halves = c.schedule == WarpgroupSchedule::overlapped;
        text += constant_line("kPanelRows", c_panel_rows(c),
                              by_halves ? "rows of a panel: half of a consumer's tile, which is stored at a time"
                                        : "rows of a panel: those of the block tile");
        text += constant_line("kTilePanels", panels_of_c(c, g), "panels of the tile operand that are read at a time");
    }
    if (operands.has(OperandReader::column_vector) || operands.has(OperandReader::paired_column))
        text +=
            constant_line("kTilesOfVector", c.schedule == WarpgroupSchedule::overlapped ? 1 : c.warpgroup.m / kWgmmaM,
                          "wgmma tiles for which a column is read at a time");
    text += constant_line("kReaders", warps_per_tile * blocks, "warps that read a stage before it is free");
    if (blocks > 1) {
        const int column = (1 << c.cluster.m) - 1;
        text += constant_line("kCluster", blocks, "blocks of a cluster");
        text += fmt::format(
            "constexpr unsigned kColumnOfBlocks = {};  // a bit for each block of a cluster's first column\n", column);
        if (!s.gathered)
            text += fmt::format("constexpr unsigned kRowOfBlocks = {};  // a bit for each block of its first row\n",
                                ((1 << blocks) - 1) / column);
    }
    text +=
        constant_line("kStagingBytes", static_cast<int>(g.staging_bytes), "shared memory for the slices of all warps");
    text += constant_line("kPanelElements", g.a.panel_elements, "elements in a row of a panel");
    return text +
           fmt::format(
               "constexpr unsigned long long kSwizzleMode = {};  // swizzle field of a matrix descriptor: {} bytes\n",
               g.a.panel_bytes == kPanelBytes ? 1 : 2, g.a.panel_bytes);
}

std::string early_lines(const Config& c) {
    if (!c.early_a && !c.early_b) return {};
    return fmt::format(
        "constexpr bool kEarlyA = {};  // A is constant: its first k-tiles are fetched before the previous "
        "kernel has ended\nconstexpr bool kEarlyB = {};  // and so is B\n",
        c.early_a, c.early_b);
}

/// "//       text      right\n", the right part in one column with those of the other lines.
std::string nest_line(int level, std::string_view text, std::string_view right = {}) {
    const std::string left = fmt::format("//   {:{}}{}", "", level * 4, text);
    return right.empty() ? left + "\n" : fmt::format("{:<72}{}\n", left, right);
}

/// The loops of the kernel in words: they open the dump.
std::string loop_nest(const Config& c, const WgmmaGeometry& g) {
    const bool alternates = c.schedule == WarpgroupSchedule::pingpong;
    std::string text =
        c.stream_k != 0
            ? nest_line(0, "for each block tile (kBlockM, kBlockN) of D, or part of its k-tiles, that is this block's")
            : nest_line(0, "for each block tile (kBlockM, kBlockN) of D that is this block's",
                        "a persistent block takes one after the other");
    text +=
        nest_line(1, "the producer: for each k-tile of kBlockK", "gA, gB -> sA, sB, as the ring of kStages has room");
    text += nest_line(1,
                      alternates ? "a consumer, the two in turn: for each k-tile"
                                 : "the consumers, each its part of the tile: for each k-tile",
                      "sA, sB -> rC");
    if (c.promote != 0) {
        text += nest_line(
            2, fmt::format("for each 64 rows by {} columns of {}", g.wave_n, alternates ? "the tile" : "that part"));
        text += nest_line(3, fmt::format("for each k-block of {}", g.wgmma_k),
                          g.terms == 1 ? "one wgmma"
                                       : fmt::format("{} wgmmas, each of one part of A and one of B",
                                                     g.parts->count == 2 ? "three" : "six"));
        text += nest_line(3, "add these sums to the tile's", "partial -> rC");
    } else {
        text += nest_line(2,
                          fmt::format("for each k-block of {}, for each 64 rows of {}", g.wgmma_k,
                                      alternates ? "the tile" : "that part"),
                          "one wgmma");
    }
    switch (c.schedule) {
        case WarpgroupSchedule::pingpong:
            return text + nest_line(2, "convert and store, while the other one multiplies", "rC -> gD");
        case WarpgroupSchedule::overlapped:
            return text + nest_line(2, "convert and store 64 rows, while the other 64 multiply", "rC -> gD");
        default: return text + nest_line(2, "convert and store, while the next k-tiles arrive", "rC -> gD");
    }
}

std::string pack_line(const GemmSignature& s) {
    if (pack_for_tma(s) == Pack::none) return {};
    return constant_line("kPackThreads", kPackThreads, "threads of a block that packs an operand");
}

std::string slice_lines(const TileOperands& operands, const Config& c, const WgmmaGeometry& g) {
    std::string text = constant_line(
        "kSliceColumns", g.slice_columns,
        c.swap_ab ? "columns of D^T that a warpgroup stages at once" : "columns of D that a warp stages at once");
    if (g.rest_columns != 0)
        text += constant_line("kRestColumns", g.rest_columns, "columns of the last slice of a row");
    if (!operands.blocks.empty())
        text += constant_line("kSlicesOfBlock", operands.blocks.front().columns / g.slice_columns,
                              "slices of a block of columns that an output has one element for");
    if (g.output_bytes != 0)
        text += constant_line("kOutputBytes", g.output_bytes, "of an element of each output beside D, in all");
    return text +
           constant_line("kSlices", c.slices,
                         c.swap_ab ? "slices that a warpgroup may have staged" : "slices that a warp may have staged");
}

/// Whether the text reads or stores 16-bit elements.
bool has_bits(const GemmSignature& s) {
    if (!s.epilogue) return false;
    const auto is_read = [](const EpilogueOperand& one) { return !one.is_scalar && one.type != DataType::f32; };
    const auto is_stored = [](const EpilogueOutput& one) { return is_beside_d(one) && one.type != DataType::f32; };
    return std::ranges::any_of(s.epilogue->parts().operands, is_read) ||
           std::ranges::any_of(s.epilogue->parts().outputs, is_stored);
}

std::string type_lines(const GemmSignature& s, const Config& c, bool is_in_ring) {
    std::string text;
    const bool packs = pack_for_tma(s) != Pack::none, has_8_bits = bytes(s.a) == 1;
    const bool reads_factors = packs || s.gathered;
    if (reads_factors && has_8_bits) text += alias_line("Byte", "unsigned char", "an element of A or B in memory");
    if (bytes(s.d) == 2 || (s.c && *s.c != DataType::f32) || (reads_factors && bytes(s.a) == 2) || has_bits(s))
        text += alias_line("Bits", "unsigned short", "a 16-bit element in memory");
    text += accumulator_line(s.accumulator);
    if (s.c && !is_in_ring)
        text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    text += alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d)));
    return text + (adds_c_by_row(s, c) ? alias_line("Staged", "float", "a sum, to which C is added row by row")
                                       : alias_line("Staged", "ElementD", "an element of a slice"));
}

std::string_view consumers_template(const Config& c) {
    switch (c.schedule) {
        case WarpgroupSchedule::pingpong: return "wgmma/consumers_pingpong.cuh";
        case WarpgroupSchedule::overlapped: return "wgmma/consumers_overlapped.cuh";
        default: return "wgmma/consumers_cooperative.cuh";
    }
}

std::string_view producer_template(const Config& c) {
    return c.early_a || c.early_b ? "wgmma/producer_early.cuh" : "wgmma/producer_waiting.cuh";
}

std::string_view epilogue_template(const Config& c) {
    if (c.swap_ab) return "epilogue/epilogue_tma_transposed.cuh";
    return "epilogue/epilogue_staged.cuh";
}

std::string_view multiply_template(const Config& c) {
    if (c.promote != 0) return "wgmma/multiply_promoted.cuh";
    return has_a_in_registers(c) ? "wgmma/multiply_from_registers.cuh" : "wgmma/multiply_from_shared.cuh";
}

std::string_view mainloop_template(const Config& c, const WgmmaGeometry& g) {
    if (c.promote == 0) return "wgmma/wgmma_mainloop.cuh";
    return g.partial_sets == 1 ? "wgmma/promoted_mainloop.cuh" : "wgmma/promoted_alternating_mainloop.cuh";
}

std::string_view kernel_template(const Config& c) {
    if (c.persistent) return WgmmaWarpSpecialized::kTemplateFile;
    return c.warp_specialized ? "ladder/wgmma_producer.cu" : "ladder/wgmma_simple.cu";
}

std::string instructions(const GemmSignature& s, const TileOperands& operands, const Config& c,
                         const WgmmaGeometry& g) {
    const WgmmaForm form = find_form(s, g.wave_n, has_a_in_registers(c)).value();
    std::string text = wgmma_wrapper(form, g.a.k_major, g.b.k_major);
    if (has_a_in_registers(c)) text += "\n" + ldmatrix_wrapper(Operand::a, 4, !g.a.k_major);
    std::vector<int> widths = stmatrix_widths(s, c, g);
    if (stages_outputs_by_x2(operands) && std::ranges::find(widths, 2) == widths.end()) widths.push_back(2);
    text += stmatrix_wrappers(widths, c.swap_ab);
    return s.symmetric ? text + stmatrix_wrappers(widths, true, "stmatrix_transposed") : text;
}

std::string operand_include(const PanelledTile& tile, bool has_pairs) {
    return fmt::format("#include \"wgmma/operand_{}.cuh\"\n", has_pairs      ? "paired"
                                                              : tile.k_major ? "k_major"
                                                                             : "mn_major");
}

/// "using OperandA = KMajorTile<kBlockM, kClusterN>;" of a tile with these extents. That of pairs has two.
std::string operand_alias(const PanelledTile& tile, char name, std::string_view extents, std::string_view cluster) {
    const bool has_pairs = extents.find(',') != std::string_view::npos;
    return fmt::format("using Operand{} = {}Tile<{}{}>;\n", name,
                       has_pairs      ? "Paired"
                       : tile.k_major ? "KMajor"
                                      : "MNMajor",
                       extents, cluster.empty() ? std::string() : fmt::format(", kCluster{}", cluster));
}

std::set<std::string_view> staged_names(const GemmSignature& s, const Config& c) {
    std::set<std::string_view> names;
    if (!s.epilogue) return names;
    for (const EpilogueOutput& output : s.epilogue->parts().outputs)
        if (is_staged(output, s, c)) names.insert(output.name);
    return names;
}

/// The maps of staged outputs beside D, in boxes of a slice.
void add_output_maps(std::vector<KernelArgument>& list, const GemmSignature& s, const Config& c,
                     const WgmmaGeometry& g) {
    if (!s.epilogue) return;
    for (const EpilogueOutput& output : s.epilogue->parts().outputs) {
        if (!is_staged(output, s, c)) continue;
        const auto add = [&](int columns, bool is_of_rest) {
            const std::array<int, 2> box = c.swap_ab ? std::array{kWgmmaM, columns} : std::array{columns, kSliceRows};
            const int swizzle = is_of_rest && !c.swap_ab ? 0 : box[0] * bytes(*output.type);
            list.emplace_back(TensorMapArgument{{output.name, ArgumentPart::pointer},
                                                box_of_matrix(box),
                                                swizzle_of(swizzle),
                                                L2Promotion::bytes128,
                                                {},
                                                is_of_rest});
        };
        add(g.slice_columns, false);
        if (g.rest_columns != 0) add(g.rest_columns, true);
    }
}

std::vector<KernelArgument> arguments(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    using Role = ArgumentRole;
    const Pack pack = c.swap_ab ? turned(pack_for_tma(s)) : pack_for_tma(s);  // of the caller's operands
    const auto map = [&](Role role, const std::array<int, 2>& box, int swizzle, std::string_view field = {}) {
        return TensorMapArgument{role, box_of_matrix(box), swizzle_of(swizzle), L2Promotion::bytes128, field, {}};
    };
    const bool takes_a = is_prepared_a(s), takes_b = is_prepared_b(s);  // never with swap_ab, which has no parts
    const Role a = takes_a ? Role::prepared_a : packs_a(pack) ? Role::packed_a : Role::a;
    const Role b = s.symmetric ? a : takes_b ? Role::prepared_b : packs_b(pack) ? Role::packed_b : Role::b;
    TensorMapArgument map_a = map(c.swap_ab ? b : a, g.a.box, g.a.panel_bytes, "map_a");
    TensorMapArgument map_b = map(c.swap_ab ? a : b, g.b.box, g.b.panel_bytes, "map_b");
    (c.swap_ab ? map_a : map_b).pairs = pairs_of(s);
    std::vector<KernelArgument> list{map_b};
    if (!s.gathered) list.insert(list.begin(), map_a);
    for (const WgmmaScale& scale : g.scales)
        if (!scale.is_by_threads) list.emplace_back(map({scale.operand->name, ArgumentPart::pointer}, scale.box, 0));
    add_output_maps(list, s, c, g);
    if (c.swap_ab) {
        const int rows = rows_of_wgmma(s, c);
        list.emplace_back(map(Role::d, {rows, g.slice_columns}, rows * bytes(s.d)));
        if (g.rest_columns != 0)
            list.emplace_back(map(Role::d, {rows, g.rest_columns}, rows * bytes(s.d), "map_d_rest"));
    } else if (stores_by_tma(c)) {
        list.emplace_back(map(Role::d, {g.slice_columns, kSliceRows}, g.slice_columns * bytes(s.d)));
        if (g.rest_columns != 0) list.emplace_back(map(Role::d, {g.rest_columns, kSliceRows}, 0, "map_d_rest"));
        if (s.symmetric)
            list.emplace_back(map(Role::d, {kSliceRows, g.slice_columns}, kSliceRows * bytes(s.d), "map_mirror"));
    }
    if (g.c_stages != 0) {
        const Role role = s.epilogue ? Role{ring_operand(s)->name, ArgumentPart::pointer} : Role::c;
        const int rows = c_panel_rows(c);
        list.emplace_back(
            map(role, {g.slice_columns, rows}, g.slice_columns * bytes(s.d), s.epilogue ? "map_panels" : ""));
        if (g.rest_columns != 0)
            list.emplace_back(map(role, {g.rest_columns, rows}, 0, s.epilogue ? "map_panels_rest" : "map_c_rest"));
    }
    if (g.c_stages == 0 || s.epilogue) add_epilogue_pointers(list, s);
    const bool stores_rows = !stores_by_tma(c) || s.grouped;  // by threads, all of D or at a group's end
    if (stores_rows) list.emplace_back(PointerArgument{Role::d});
    const bool reads_a = packs_a(pack) || s.gathered;  // without TMA
    if (reads_a) list.emplace_back(PointerArgument{Role::a});
    if (packs_b(pack)) list.emplace_back(PointerArgument{Role::b});
    if (takes_a) list.emplace_back(PointerArgument{Role::prepared_a});
    if (takes_b) list.emplace_back(PointerArgument{Role::prepared_b});
    if (pack != Pack::none || c.stream_k != 0) list.emplace_back(PointerArgument{Role::workspace});
    if (c.stream_k != 0) list.emplace_back(PointerArgument{Role::counters});
    list.emplace_back(ExtentArgument{c.swap_ab ? Role::n : Role::m, 4, "m"});
    list.emplace_back(ExtentArgument{c.swap_ab ? Role::m : has_pairs(s) ? Role::h : Role::n, 4, "n"});
    list.emplace_back(ExtentArgument{Role::k});
    if (s.gathered) list.emplace_back(ExtentArgument{Role::source_rows});
    if (reads_a) list.emplace_back(ExtentArgument{Role::lda, 8});
    if (packs_b(pack)) list.emplace_back(ExtentArgument{Role::ldb, 8});
    if (!c.broadcast_c) add_epilogue_pitches(list, s);
    if (stores_rows) list.emplace_back(ExtentArgument{Role::ldd, 8});
    add_epilogue_scalars(list, s);
    std::set<std::string_view> mapped = staged_names(s, c);  // those have neither an address nor a pitch
    if (g.c_stages != 0 && s.epilogue) mapped.insert(ring_operand(s)->name);
    for (const WgmmaScale& scale : g.scales)
        if (!scale.is_by_threads) mapped.insert(scale.operand->name);
    std::erase_if(list, [&](const KernelArgument& one) {
        return mapped.contains(role_of(one).name) && !std::holds_alternative<TensorMapArgument>(one);
    });
    return list;
}

/// With those of a batch.
std::vector<KernelArgument> all_arguments(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    return s.batched ? with_batch(arguments(s, c, g), s) : arguments(s, c, g);
}

}  // namespace

RenderInput WgmmaWarpSpecialized::render_input(const GemmSignature& asked, const Config& c) {
    const GemmSignature signature = as_multiplied(asked, c.swap_ab);
    const WgmmaGeometry g = geometry(signature, c);
    const bool in_cluster = blocks_of_cluster(c) > 1;
    const TileOperands operands = tile_operands(signature, c, g);
    RenderInput input;
    input.macros = macros(signature, c, g);
    input.generated["wgmma_params.cuh"] = tile_lines(signature, c, g) + register_lines(c, g) +
                                          slice_lines(operands, c, g) + pack_line(signature) + early_lines(c) + "\n" +
                                          type_lines(signature, c, g.c_stages != 0) + "\n" +
                                          derived_lines(signature, operands, c, g);
    input.generated["GEMM_LOOP_NEST"] = loop_nest(c, g);
    if (!c.persistent) input.pieces[std::string(kTemplateFile)] = kernel_template(c);
    add_statements(input, operands, c, g);
    const KernelTraits of_kernel = traits(signature, operands, c, g);
    add_template_statements(input, of_kernel);
    leave_out_includes(input, of_kernel);
    add_tile_operands(input, operands, c, g);
    add_tile_outputs(input, operands, g);
    input.generated["epilogue_expression.cuh"] = signature.epilogue
                                                     ? render_epilogue(*signature.epilogue)
                                                     : epilogue_expression(signature, finished_unit(signature, c, g));
    input.generated["tma_copies.inl"] = tma_wrappers(tensor_map_ranks(all_arguments(signature, c, g)),
                                                     {.multicasts = in_cluster,
                                                      .stores = stores_by_tma(c),
                                                      .of_problem = signature.batched ? signature.nested ? 2 : 1 : 0});
    input.generated["wgmma_atom.cuh"] = instructions(signature, operands, c, g);
    input.pieces["multiply.cuh"] = multiply_template(c);
    input.pieces["consumers.cuh"] = consumers_template(c);
    input.pieces["mainloop.cuh"] = mainloop_template(c, g);
    input.pieces["producer.cuh"] = producer_template(c);
    input.pieces["tile_walk.cuh"] = c.stream_k != 0          ? "scheduler/partial_sums.cuh"
                                    : signature.grouped      ? "scheduler/group_walk.cuh"
                                    : signature.grouped_by_k ? "scheduler/group_k_walk.cuh"
                                                             : "scheduler/tile_walk.cuh";
    input.pieces["epilogue.cuh"] = epilogue_template(c);
    input.pieces["store_slice.cuh"] = stores_by_tma(c)              ? "epilogue/store_slice_by_tma.cuh"
                                      : adds_c_by_row(signature, c) ? "epilogue/store_slice_with_c.cuh"
                                                                    : "epilogue/store_slice_by_threads.cuh";
    add_workspace(input, {.pack = pack_for_tma(asked),
                          .element_bytes = bytes(signature.a),
                          .a_k_major = (c.swap_ab ? g.b : g.a).k_major,
                          .b_k_major = (c.swap_ab ? g.a : g.b).k_major,
                          .transposes_a = transposes_a(asked),
                          .transposes_b = transposes_b(asked),
                          .parts = g.parts,
                          .takes_a = is_prepared_a(asked),
                          .takes_b = is_prepared_b(asked),
                          .swaps_mn = c.swap_ab,
                          .sums = c.stream_k != 0 ? WorkspaceSums::of_pieces : WorkspaceSums::none,
                          .arguments = asked.batched ? EntryArguments::of_batch : EntryArguments::of_problem});
    const bool pairs_a = has_pairs(signature) && c.swap_ab, pairs_b = has_pairs(signature) && !c.swap_ab;
    input.generated["operands.inl"] =
        operand_include(g.a, pairs_a) + operand_include(g.b, pairs_b) +
        operand_alias(g.a, 'A', pairs_a ? "kBlockM, 16" : "kBlockM", in_cluster ? "N" : "") +
        operand_alias(g.b, 'B', pairs_b ? "2 * kBlockN, 8" : "kBlockN", in_cluster ? "M" : "");
    return input;
}

std::vector<KernelEntry> WgmmaWarpSpecialized::entries(const GemmSignature& asked, const Config& c) {
    const GemmSignature signature = as_multiplied(asked, c.swap_ab);
    const WgmmaGeometry g = geometry(signature, c);
    KernelEntry gemm;
    gemm.function = kMultiplyingFunction;
    gemm.threads = g.threads;
    gemm.shared_bytes = static_cast<int>(g.shared_bytes);
    gemm.cluster = {blocks_of_cluster(c), 1, 1};
    gemm.grid = {.tile_m = c.block.m * c.cluster.m, .tile_n = c.block.n * c.cluster.n, .splits = blocks_of_cluster(c)};
    if (c.persistent) gemm.grid.blocks = PersistentBlocks{1, blocks_of_cluster(c)};
    if (c.swap_ab) std::swap(gemm.grid.tile_m, gemm.grid.tile_n);
    if (c.stream_k != 0) launch_streamed(gemm, c.stream_k);
    gemm.arguments = arguments(signature, c, g);
    const bool transposes = transposes_a(asked) || transposes_b(asked);
    std::vector<KernelEntry> entries =
        has_parts(asked) ? split_entries(pack_for_tma(asked), gemm.arguments)
                         : pack_entries(pack_for_tma(asked), gemm.arguments, transposes ? bytes(asked.a) : 0);
    entries.push_back(gemm);
    for (KernelEntry& entry : entries) entry.programmatic_launch = c.dependent_launch;
    return entries;
}

PartTile WgmmaWarpSpecialized::part_tile(const GemmSignature& asked, const Config& c) {
    return {.rows = kSliceRows,
            .columns = geometry(as_multiplied(asked, c.swap_ab), c).output_n,
            .is_transposed = c.swap_ab};
}

std::int64_t WgmmaWarpSpecialized::workspace_bytes(const Problem& problem, const Config& c) {
    const GemmSpec& spec = problem.row_major();
    return packed_workspace_bytes(spec, pack_for_tma(spec)) + stream_k_sum_bytes(c.stream_k, c.block, spec.accumulator);
}

std::int64_t WgmmaWarpSpecialized::counter_bytes(const Problem&, const Config& c) {
    return stream_k_counter_bytes(c.stream_k, c.block, c.warpgroup.n);
}

}  // namespace jitgemm
