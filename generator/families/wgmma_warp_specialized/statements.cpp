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

std::string_view clear_ring(SourceOfC source) {
    return source == SourceOfC::ring ? "" : "if (walk.no_products) shared.clear_ring();\n";
}

std::string_view clear_stage(SourceOfC source) {
    if (source != SourceOfC::ring) return "";
    return "if (walk.no_products) {  // the stage may have held C\n"
           "    mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);\n"
           "    shared.clear_stage(stage);\n"
           "}\n";
}

std::string copy_c(const Config& c, SourceOfC source) {
    if (source == SourceOfC::none) return {};
    if (source == SourceOfC::broadcast) return "prefetch_c(args, tile);\n";
    std::string text =
        "if (stages_of_c(args, walk) == 0) return;\n"
        "copy_c(args, shared, tile.row, tile.column, ring);\n";
    if (is_overlapped(c)) text += "copy_c(args, shared, tile.row + 64, tile.column, ring);  // the lower halves\n";
    return text;
}

// ---- consumers ------------------------------------------------------------------------------------------------------

/// Where a consumer's part of the tile begins. A ping-pong consumer has the whole tile, and its template says so.
constexpr std::string_view kPlace =
    "const int row = tile.row + warpgroup_row + warp * 16;\n"
    "const int column = tile.column + warpgroup_column;\n";

/// Whether a consumer knows its place before its sums are complete: where C is one row, it reads C there.
bool has_early_place(const Config& c, SourceOfC source) {
    return c.schedule == WarpgroupSchedule::cooperative && (source == SourceOfC::broadcast || !c.persistent);
}

/// What a consumer has to have before its sums are complete.
std::string read_c(const Config& c, SourceOfC source) {
    std::string text;
    if (has_early_place(c, source)) text += kPlace;
    if (source == SourceOfC::broadcast && c.schedule == WarpgroupSchedule::pingpong)
        text += "const PartOfC c(args, tile, tile.row + warp * 16, tile.column, lane);\n";
    if (source == SourceOfC::broadcast && c.schedule == WarpgroupSchedule::cooperative)
        text += "const PartOfC c(args, tile, row, column, lane);\n";
    return text;
}

/// Half of a tile.
std::string store_half(SourceOfC source) {
    constexpr std::string_view kRows = "store_rows(rC[kHalf], args, edges, row + kHalf * 64, column, staging, ";
    switch (source) {
        case SourceOfC::none: return fmt::format("{}lane);\n", kRows);
        case SourceOfC::broadcast:
            return fmt::format("const PartOfC c(args, edges, row + kHalf * 64, column, lane);\n{}c, lane);\n", kRows);
        case SourceOfC::ring: break;
    }
    return fmt::format(
        "RingPosition of_c = kHalf == 0 ? ring : ring.before(stages_of_c(args));  // `ring` is then behind both\n"
        "wait_for_c(args, shared, of_c);\n"
        "const PartOfC c(args, shared, of_c, threadIdx.x / 128 * kPanelsPerRow, threadIdx.x / 32 % 4 * 16);\n"
        "{}c, lane);\n"
        "release_c(args, shared, of_c, lane);\n",
        kRows);
}

/// A consumer's part of a tile with C in the ring. Ping-pong consumers have waited for C, and multiply whole tiles.
std::string store_with_ring(const Config& c) {
    std::string text;
    if (!c.persistent) text += "release(shared, multiplied.read, lane);  // C may need the stage\n";
    text += c.schedule == WarpgroupSchedule::pingpong
                ? "const PartOfC c(args, shared, ring, 0, warp * 16);\n"
                : "wait_for_c(args, shared, ring);\n"
                  "const PartOfC c(args, shared, ring, warpgroup % kConsumersN * kPanelsPerRow, "
                  "warpgroup_row + warp * 16);\n";
    text += "epilogue(rC, args, tile, row, column, staging, c, lane);\n";
    if (c.persistent) text += "release_c(args, shared, ring, lane);\n";
    return text;
}

std::string store_whole(const Config& c, SourceOfC source) {
    switch (source) {
        case SourceOfC::none: return "epilogue(rC, args, tile, row, column, staging, lane);\n";
        case SourceOfC::broadcast: return "epilogue(rC, args, tile, row, column, staging, c, lane);\n";
        case SourceOfC::ring: break;
    }
    return store_with_ring(c);
}

std::string store_sums(const Config& c, SourceOfC source) {
    if (is_overlapped(c)) return store_half(source);
    std::string text = store_whole(c, source);
    if (c.schedule == WarpgroupSchedule::cooperative && !has_early_place(c, source)) text.insert(0, kPlace);
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

std::string blocks_begin(const Config& c, bool in_cluster, bool early) {
    std::string text = in_cluster ? "cluster_sync();  // all barriers exist before any block copies into another\n"
                                  : "__syncthreads();\n";
    return text += launch_order(c, early);
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

SourceOfC source_of_c(const Config& c, const WgmmaGeometry& g) {
    if (g.c_stages != 0) return SourceOfC::ring;
    return c.broadcast_c ? SourceOfC::broadcast : SourceOfC::none;
}

bool deals_out_registers(const Config& c, const WgmmaGeometry& g) { return c.warp_specialized && g.consumers > 1; }

void add_statements(RenderInput& input, const Config& c, const WgmmaGeometry& g) {
    const SourceOfC source = source_of_c(c, g);
    const bool deals = deals_out_registers(c, g);
    const bool early = c.early_a || c.early_b;
    const bool in_cluster = bounded_product(c.cluster.m, c.cluster.n) > 1;
    input.generated["GEMM_CLEAR_RING"] = clear_ring(source);
    input.generated["GEMM_CLEAR_STAGE"] = clear_stage(source);
    input.generated["GEMM_COPY_C"] = copy_c(c, source);
    input.generated["GEMM_PREPARE_STORE"] = read_c(c, source);
    input.generated["GEMM_STORE_SUMS"] = store_sums(c, source);
    input.generated["GEMM_END_STORES"] = end_stores(c);
    input.generated["GEMM_BLOCKS_BEGIN"] = blocks_begin(c, in_cluster, early);
    input.generated["GEMM_BLOCKS_END"] = blocks_end(in_cluster);
    input.generated["GEMM_PRODUCER_BEGINS"] = deals ? "give_up_registers<kProducerRegisters>();\n" : "";
    input.generated["GEMM_CONSUMERS_BEGIN"] = consumers_begin(deals, early);
}

}  // namespace jitgemm
