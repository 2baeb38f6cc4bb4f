#include "generator/families/wgmma_warp_specialized/template_statements.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace jitgemm {
namespace {

/// How a block copies A, in `body`. Where rows of A are gathered, another warp copies them.
void add_copy_of_a(const AddStatement& add, const char* name, const KernelTraits& k, std::string_view body) {
    const std::string function = fmt::format(
        "__device__ __forceinline__ void copy_a(const GemmArgs& args, const SharedMemory& shared, "
        "const Tile& tile, int k_tile,\n"
        "                                       int stage) {{\n"
        "    const int k = tile.first_k + k_tile * kBlockK;\n"
        "{}"
        "}}\n"
        "\n",
        body);
    add(name,
        {{k.gathered,
          "\n"
          "// Copies B's part of a k-tile. The full barrier of the stage counts its bytes.\n"},
         {true,
          "\n"
          "// Copies A's part of a k-tile, or B's. The full barrier of the stage counts their bytes.\n"}},
        {{!k.gathered, function}});
}

/// Of templates/wgmma/copy_operands.cuh.
void add_copy_operands(const AddStatement& add, const KernelTraits& k) {
    add_copy_of_a(add, "GEMM_SHARE_OF_A", k,
                  "    // Blocks of one row of the cluster want the same rows of A. Each has a bit.\n"
                  "    const unsigned short row_of_blocks = kRowOfBlocks << tile.cluster_row;\n"
                  "    OperandA::load(shared.stage_a(stage), args.map_a, tile.row, k, shared.full_barrier(stage), "
                  "tile.cluster_column,\n"
                  "                   row_of_blocks);\n");
    add_copy_of_a(add, "GEMM_COPY_OF_A", k,
                  "    OperandA::load(shared.stage_a(stage), args.map_a, tile.row, k, "
                  "shared.full_barrier(stage));\n");
}

/// Of templates/wgmma/copy_panels.cuh.
void add_copy_panels(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_ANNOUNCE_PANELS", {{k.grouped_by_k,
                                  "const unsigned full = shared.full_barrier(ring.stage);\n"
                                  "announce_k_tile(shared, ring, full, bytes_of_panels(stage));\n"},
                                 {true,
                                  "announce_k_tile(shared, ring, bytes_of_panels(stage));\n"
                                  "const unsigned full = shared.full_barrier(ring.stage);\n"}});
}

/// Of templates/wgmma/copy_tile.cuh.
void add_copy_tile(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_BEGIN_PREFETCH", {{k.prefetches_panels, "PanelPrefetch prefetch(args, walk);\n"}});
    add("GEMM_FIND_K_TILE", {{k.grouped_by_k, "const KTile from = k_tile_at(shared, tile, k_tile, stage);\n"}});
    add("GEMM_COPY_K_TILE", {{k.grouped_by_k,
                              "copy_a(args, shared, tile, from, stage);\n"
                              "copy_b(args, shared, tile, from, stage);\n"},
                             {true,
                              "GEMM_COPY_A();\n"
                              "copy_b(args, shared, tile, k_tile, stage);\n"}});
    add("GEMM_COPY_A", {{!k.gathered, "copy_a(args, shared, tile, k_tile, stage);\n"}});
    add("GEMM_FETCH_NEXT_PANELS", {{k.prefetches_panels, "prefetch.advance(args, tile, k_tile);\n"}});
}

/// Of templates/wgmma/producer_early.cuh.
void add_producer_early(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_PREFETCH_TILE",
        {{k.batched, "prefetch_tile(problem_of(args, walk.tile().problem), shared, walk, prefetched);\n"},
         {true, "prefetch_tile(args, shared, walk, prefetched);\n"}});
    add("GEMM_STOP_AT_PANELS",
        {{k.has_panels, "if (stages_of_panels(args, walk) != 0) break;  // its panels come next\n"}});
    add("GEMM_COPY_TILES_EARLY",
        {{k.batched,
          "for (; walk.has_tile(); walk.next())\n"
          "    copy_tile(problem_of(args, walk.tile().problem), shared, walk, ring, prefetched);\n"},
         {true, "for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, ring, prefetched);\n"}});
}

/// Of templates/wgmma/producer_waiting.cuh.
void add_producer_waiting(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_COPY_TILES", {{k.batched,
                             "for (; walk.has_tile(); walk.next()) copy_tile(problem_of(args, walk.tile().problem), "
                             "shared, walk, ring);\n"},
                            {true, "for (; walk.has_tile(); walk.next()) copy_tile(args, shared, walk, ring);\n"}});
}

/// Of templates/wgmma/copying_warp.cuh.
void add_copying_warp(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_STAGES_OF_K", {{k.has_panels, "constexpr int kStagesOfK = kStages - kTileStages;\n"},
                             {true, "constexpr int kStagesOfK = kStages;\n"}});
}

/// Of templates/wgmma/prefetch_panels.cuh.
void add_prefetch_panels(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_PANELS_TO_PREFETCH",
        {{k.overlapped, "static constexpr int kPanels = 2 * kTilePanels;  // of both halves\n"},
         {true, "static constexpr int kPanels = kTilePanels;\n"}});
    add("GEMM_PLACE_OF_PANEL",
        {{k.overlapped, "const int panel = fetched % kTilePanels, row = tile.row + fetched / kTilePanels * 64;\n"},
         {true, "const int panel = fetched, row = tile.row;\n"}});
}

}  // namespace

void add_producer_statements(RenderInput& input, const KernelTraits& k) {
    const AddStatement add(input);
    add_copy_operands(add, k);
    add_copy_panels(add, k);
    add_copy_tile(add, k);
    add_producer_early(add, k);
    add_producer_waiting(add, k);
    add_copying_warp(add, k);
    add_prefetch_panels(add, k);
}

}  // namespace jitgemm
