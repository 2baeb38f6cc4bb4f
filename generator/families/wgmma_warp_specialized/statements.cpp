#include "generator/families/wgmma_warp_specialized/statements.hpp"

#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/params_text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

bool is_overlapped(const Config& c) { return c.schedule == WarpgroupSchedule::overlapped; }

// ---- the producer ---------------------------------------------------------------------------------------------------

std::string_view clear_ring(bool has_panels) {
    return has_panels ? "" : "if (walk.no_products) shared.clear_ring();\n";
}

std::string_view clear_stage(bool has_panels) {
    if (!has_panels) return "";
    return "if (walk.no_products) {  // the stage may have held panels\n"
           "    mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);\n"
           "    shared.clear_stage(stage);\n"
           "}\n";
}

/// The stages that hold panels of a tile operand.
std::string_view stages_of_panels(const Config& c) {
    return is_overlapped(c) ? "2 * stages_of_panels(args, walk)" : "stages_of_panels(args, walk)";
}

std::string skip_panels(const Config& c, bool has_panels) {
    return has_panels ? fmt::format("ring.skip({});\n", stages_of_panels(c)) : std::string();
}

std::string pass_panels(const Config& c, bool has_panels) {
    return has_panels ? fmt::format("ring.pass(shared, {});\n", stages_of_panels(c)) : std::string();
}

/// The bytes that TMA brings for a k-tile.
std::string k_tile_bytes(bool has_scales, bool gathered) {
    return fmt::format("{}{}", gathered ? "OperandB::kBytes" : "kStageBytes", has_scales ? " + kCopiedScaleBytes" : "");
}

std::string copy_operands(const Config& c, const TileOperands& operands) {
    std::string text = prefetch_vectors(operands);
    if (!operands.has(OperandReader::panels)) return text;
    text +=
        "if (stages_of_panels(args, walk) == 0) return;\n"
        "copy_panels(args, shared, tile.row, tile.column, ring);\n";
    if (is_overlapped(c)) text += "copy_panels(args, shared, tile.row + 64, tile.column, ring);  // the lower halves\n";
    return text;
}

// ---- consumers ------------------------------------------------------------------------------------------------------

/// Where a consumer's part of the tile begins. A ping-pong consumer has the whole tile, and its template says so.
constexpr std::string_view kPlace =
    "const int row = tile.row + warpgroup_row + warp * 16;\n"
    "const int column = tile.column + warpgroup_column;\n";

/// Whether a consumer knows its place before its sums are complete: it may read operands there.
bool has_early_place(const Config& c, const TileOperands& operands) {
    return c.schedule == WarpgroupSchedule::cooperative && (operands.has_constructor() || !c.persistent);
}

/// The arguments of a tile's problem: those of the kernel, or of one problem of a batch.
std::string_view args_of_tile(const TileOperands& operands) { return operands.batched ? "of_tile" : "args"; }

std::string take_args_of_tile(const TileOperands& operands, std::string_view problem) {
    return operands.batched ? fmt::format("const GemmArgs of_tile = problem_of(args, {});\n", problem) : std::string();
}

/// A consumer reads these operands before its sums are complete.
std::string read_operands(const Config& c, const TileOperands& operands) {
    std::string text = is_overlapped(c) ? std::string() : take_args_of_tile(operands, "tile.problem");
    if (has_early_place(c, operands)) text += kPlace;
    if (!operands.has_constructor()) return text;
    return text +
           fmt::format("TileOperands operands({}, tile, {}, lane);\n", args_of_tile(operands),
                       c.schedule == WarpgroupSchedule::pingpong ? "tile.row + warp * 16, tile.column" : "row, column");
}

/// The operands of a tile, as they are given to what stores it; `place` is "tile, row, column".
std::string operands_value(const TileOperands& operands, std::string_view place) {
    if (operands.finish == TileFinish::by_element) return fmt::format("TileOperands{{{}}}", place);
    return operands.operands.empty() && !operands.has_constructor() ? "TileOperands{}" : "operands";
}

/// "operands.c_part.begin(args, shared, ring, 0, warp * 16);"
std::string begin_panels(const TileOperands& operands, std::string_view place) {
    const std::string& name = operands.find(OperandReader::panels)->operand.name;
    return fmt::format("{}operands.{}_part.begin({}, shared, {});\n",
                       operands.has_constructor() ? "" : "TileOperands operands;\n", name, args_of_tile(operands),
                       place);
}

/// Half of a tile.
std::string store_half(const TileOperands& operands) {
    const bool has_place = operands.finish == TileFinish::by_element;  // two lines, as clang-format breaks them
    const std::string store = fmt::format(
        "store_rows(rC[kHalf], {}, edges, row + kHalf * 64, column, staging,{}{}, lane);\n", args_of_tile(operands),
        has_place ? "\n           " : " ", operands_value(operands, "edges, row + kHalf * 64, column"));
    std::string text = take_args_of_tile(operands, "problem");
    if (operands.has_constructor())
        text +=
            fmt::format("TileOperands operands({}, edges, row + kHalf * 64, column, lane);\n", args_of_tile(operands));
    if (!operands.has(OperandReader::panels)) return text + store;
    text +=
        "// At the lower half, `ring` is behind both.\n"
        "RingPosition of_panels = kHalf == 0 ? ring : ring.before(stages_of_panels(args));\n"
        "wait_for_panels(args, shared, of_panels);\n";
    return text + begin_panels(operands, "of_panels, threadIdx.x / 128 * kPanelsPerRow, threadIdx.x / 32 % 4 * 16") +
           store + "release_panels(args, shared, of_panels, lane);\n";
}

/// A consumer's part of a tile with panels in the ring. Ping-pong consumers have waited for them, and multiply whole
/// tiles.
std::string store_with_ring(const Config& c, const TileOperands& operands) {
    std::string text;
    if (!c.persistent) text += "release(shared, multiplied.read, lane);  // panels may need the stage\n";
    text +=
        c.schedule == WarpgroupSchedule::pingpong
            ? begin_panels(operands, "ring, 0, warp * 16")
            : "wait_for_panels(args, shared, ring);\n" +
                  begin_panels(operands, "ring, warpgroup % kConsumersN * kPanelsPerRow, warpgroup_row + warp * 16");
    text += fmt::format("epilogue(rC, {}, tile, row, column, staging, operands, lane);\n", args_of_tile(operands));
    if (c.persistent) text += "release_panels(args, shared, ring, lane);\n";
    return text;
}

std::string store_sums(const Config& c, const TileOperands& operands, bool scales_lines) {
    if (is_overlapped(c)) return store_half(operands);
    std::string text = operands.has(OperandReader::panels)
                           ? store_with_ring(c, operands)
                           : fmt::format("epilogue(rC, {}, tile, row, column, staging, {}, lane);\n",
                                         args_of_tile(operands), operands_value(operands, "tile, row, column"));
    if (scales_lines)
        text.insert(0, fmt::format("scale_sums(rC, {}, tile, row, column, lane);\n", args_of_tile(operands)));
    if (c.schedule == WarpgroupSchedule::cooperative && !has_early_place(c, operands)) text.insert(0, kPlace);
    return text;
}

std::string end_stores(const Config& c) {
    if (c.store != OutputStore::tma) return {};
    constexpr std::string_view kWait =
        "tma_store_wait_read<0>();  // TMA must have read shared memory before the block ends\n";
    return fmt::format("if ({}lane == 0) {}", is_overlapped(c) ? "consumer." : "", kWait);
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

/// A producer that fetches constant operands early waits for the previous kernel later.
std::string_view launch_order(const Config& c, bool early) {
    if (!c.dependent_launch) return "";
    return early ? "launch_dependent_grids();\n" : "launch_dependent_grids();\nwait_on_dependent_grids();\n";
}

/// The ends of groups may come from the previous kernel, so that blocks of groups wait for it first.
std::string blocks_begin(const Config& c, bool in_cluster, bool early, bool has_groups) {
    const std::string order(launch_order(c, early));
    const std::string sync = in_cluster
                                 ? "cluster_sync();  // all barriers exist before any block copies into another\n"
                                 : "__syncthreads();\n";
    return has_groups ? order + "find_group_ends(args, shared.group_ends);\n" + sync : sync + order;
}

std::string_view blocks_end(bool in_cluster) {
    if (!in_cluster) return "";
    return "__syncwarp();\n"
           "cluster_sync();  // no block ends while others may use its shared memory or barriers\n";
}

std::string consumers_begin(bool deals, bool early) {
    std::string text;
    if (deals) text += "take_registers<kConsumerRegisters>();\n";
    if (early) text += "wait_on_dependent_grids();  // before C is read and D written\n";
    return text;
}

}  // namespace

bool deals_out_registers(const Config& c, const WgmmaGeometry& g) { return c.warp_specialized && g.consumers > 1; }

void add_statements(RenderInput& input, const TileOperands& operands, const Config& c, const WgmmaGeometry& g) {
    const bool has_scales = !g.scales.empty() && c.scales == ScaleSource::tma;
    input.generated["GEMM_ANNOUNCE_K_TILE"] =
        fmt::format("announce_k_tile(shared, ring, {}walk.no_products ? 0 : {});\n",
                    operands.grouped_by_k ? "from.barrier, " : "", k_tile_bytes(has_scales, operands.gathered));
    input.generated["GEMM_ANNOUNCE_PREFETCHED"] =
        fmt::format("mbarrier_arrive_expect(shared.full_barrier(prefetched), {});  // of both operands\n",
                    k_tile_bytes(has_scales, operands.gathered));
    const bool has_panels = operands.has(OperandReader::panels);
    const bool deals = deals_out_registers(c, g);
    const bool early = c.early_a || c.early_b;
    add_scale_statements(input, g.scales, operands.batched, early);
    const bool in_cluster = bounded_product(c.cluster.m, c.cluster.n) > 1;
    input.generated["GEMM_CLEAR_RING"] = clear_ring(has_panels);
    input.generated["GEMM_CLEAR_STAGE"] = clear_stage(has_panels);
    input.generated["GEMM_SKIP_PANELS"] = skip_panels(c, has_panels);
    input.generated["GEMM_PASS_PANELS"] = pass_panels(c, has_panels);
    input.generated["GEMM_COPY_TILE_OPERANDS"] = copy_operands(c, operands);
    input.generated["GEMM_PREPARE_STORE"] = read_operands(c, operands);
    input.generated["GEMM_STORE_SUMS"] = store_sums(c, operands, g.parts && g.parts->are_scaled);
    input.generated["GEMM_END_STORES"] = end_stores(c);
    input.generated["GEMM_BLOCKS_BEGIN"] =
        blocks_begin(c, in_cluster, early, operands.grouped || operands.grouped_by_k);
    input.generated["GEMM_BLOCKS_END"] = blocks_end(in_cluster);
    input.generated["GEMM_PRODUCER_BEGINS"] = deals ? "give_up_registers<kProducerRegisters>();\n" : "";
    input.generated["GEMM_CONSUMERS_BEGIN"] = consumers_begin(deals, early);
}

}  // namespace jitgemm
