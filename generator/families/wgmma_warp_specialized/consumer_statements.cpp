#include "generator/families/wgmma_warp_specialized/template_statements.hpp"

namespace jitgemm {
namespace {

/// Of templates/wgmma/warpgroup_place.inl.
void add_warpgroup_place(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_DESCRIPTOR_OF_B", {{k.has_pairs && !k.swap_ab,
                                  "const unsigned long long b =\n"
                                  "    OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + "
                                  "OperandB::offset(2 * warpgroup_column, 0));\n"},
                                 {true,
                                  "const unsigned long long b =\n"
                                  "    OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + "
                                  "OperandB::offset(warpgroup_column, 0));\n"}});
}

/// Of templates/wgmma/consumers_cooperative.cuh.
void add_consumers_cooperative(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_MULTIPLY_TILE", {{k.promoted,
                                "const Tile tile = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);\n"
                                "GEMM_PREPARE_STORE();\n"},
                               {true,
                                "const auto [tile, read] = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);\n"
                                "GEMM_PREPARE_STORE();\n"
                                "wgmma_wait_for(rC);\n"
                                "release(shared, read, lane);\n"}});
    add("GEMM_MEET_PIECES",
        {{k.stream_k,
          "if (!walk.piece.ends_tile) {\n"
          "    leave_partial_sums(rC, args, warpgroup * 4 + warp, lane);\n"
          "    continue;\n"
          "}\n"
          "if (walk.piece.first_k_tile != 0) add_partial_sums(rC, args, walk, warpgroup * 4 + warp, lane);\n"}});
}

/// Of templates/wgmma/consumers_pingpong.cuh.
void add_consumers_pingpong(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_SKIP_STAGES_OF_TILE", {{k.has_panels, "ring.skip(walk.k_tiles + stages_of_panels(args, walk));\n"},
                                     {true, "ring.skip(walk.k_tiles);\n"}});
    add("GEMM_MULTIPLY_IN_TURN",
        {{k.promoted, "const Tile tile = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);\n"},
         {true, "const auto [tile, read] = multiply_k_tiles(rC, shared, walk, a, b, ring, lane);\n"}});
    add("GEMM_AWAIT_PANELS",
        {{k.has_panels,
          "// Panels are awaited within the turn: the consumers must not wait for phases that are two rounds apart.\n"
          "if (walk.ends_tile()) wait_for_panels(args, shared, ring);\n"}});
    add("GEMM_AWAIT_SUMS", {{!k.promoted,
                             "wgmma_wait_for(rC);\n"
                             "release(shared, read, lane);\n"}});
    add("GEMM_MEET_PIECES_IN_TURN",
        {{k.stream_k,
          "if (!walk.piece.ends_tile) {\n"
          "    leave_partial_sums(rC, args, warp, lane);\n"
          "    continue;\n"
          "}\n"
          "if (walk.piece.first_k_tile != 0) add_partial_sums(rC, args, walk, warp, lane);\n"}});
}

/// Of templates/wgmma/consumers_overlapped.cuh.
void add_consumers_overlapped(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_LAST_PIECE", {{k.stream_k, "Piece last;  // the piece whose sums are in rC\n"}});
    add("GEMM_LAST_PROBLEM", {{k.grouped,
                               "int problem;  // the group of the last tile\n"
                               "int end_row;  // of that group\n"},
                              {k.batched, "int problem;  // of the last tile\n"}});
    add("GEMM_PLACE_OF_B", {{k.has_pairs && !k.swap_ab,
                             "b = OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + OperandB::offset(2 "
                             "* first_column, 0));\n"},
                            {true,
                             "b = OperandB::kDescriptor | (descriptor_address(shared.stage_b(0)) + "
                             "OperandB::offset(first_column, 0));\n"}});
    add("GEMM_MEET_HALVES_OF_PIECES",
        {{k.stream_k,
          "if (!last.ends_tile) return leave_sums(rC[kHalf], args, threadIdx.x / 32, kHalf, lane);\n"
          "if (last.first_k_tile != 0) add_sums(rC[kHalf], args, walk, last, threadIdx.x / 32, kHalf, lane);\n"}});
    add("GEMM_EDGES_OF_LAST_TILE", {{k.grouped, "const Edges edges{end_row, walk.columns};\n"},
                                    {true, "const Edges edges{walk.rows, walk.columns};\n"}});
    add("GEMM_RELEASE_LAST_STAGE", {{!k.has_panels, "release(shared, read, lane);\n"}});
    add("GEMM_WAIT_FOR_LOWER_HALF", {{!k.a_in_registers, "wgmma_wait<1>();  // for all but the upper half's\n"}});
    add("GEMM_KEEP_PLACE_OF_TILE", {{k.batched, "problem = tile.problem;\n"}},
        {{k.grouped, "end_row = tile.end_row;\n"}}, {{k.stream_k, "last = walk.piece;\n"}});
    add("GEMM_STORE_UPPER_HALF", {{k.has_panels,
                                   "read = ring.stage;\n"
                                   "ring.advance();\n"
                                   "store_half<0>(rC);\n"
                                   "ring.skip(2 * stages_of_panels(args, walk));\n"
                                   "wgmma_wait<0>();  // the stage that the lower half read may be filled again\n"
                                   "release(shared, read, lane);\n"},
                                  {true,
                                   "store_half<0>(rC);\n"
                                   "read = ring.stage;\n"
                                   "ring.advance();\n"}});
}

/// Of templates/wgmma/promoted_mainloop.cuh.
void add_promoted_mainloop(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_WHY_SUMS_BEGIN_ANEW",
        {{k.has_parts,
          "// Tensor cores cut their sums toward zero, which costs long sums many bits. So sums begin anew every\n"},
         {true,
          "// Tensor cores keep 13 fraction bits of a sum of products of 8-bit floats. So their sums begin anew "
          "every\n"}});
}

/// Of templates/wgmma/multiply_promoted.cuh.
void add_multiply_promoted(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_ISSUE_WAVE",
        {{k.has_parts,
          "// Small products first: part 0 is the largest, and the numbers of both parts add up to `sum`.\n"
          "#pragma unroll\n"
          "for (int sum = kParts - 1; sum >= 0; --sum)\n"
          "#pragma unroll\n"
          "    for (int part = sum; part >= 0; --part)  // of A\n"
          "#pragma unroll\n"
          "        for (int k_block = 0; k_block < kPromotedBlocks; ++k_block)\n"
          "            wgmma(partial[0], a + OperandA::offset_of_part(row, first + k_block, part),\n"
          "                  b + OperandB::offset_of_part(column, first + k_block, sum - part),\n"
          "                  part != kParts - 1 || k_block != 0);\n"},
         {true,
          "#pragma unroll\n"
          "for (int k_block = 0; k_block < kPromotedBlocks; ++k_block)\n"
          "    wgmma(partial[0], a + OperandA::offset(row, first + k_block), b + OperandB::offset(column, first + "
          "k_block),\n"
          "          k_block != 0);\n"}});
    add("GEMM_ADD_PARTIAL_SUM", {{k.has_scales,
                                  "GEMM_SCALE_OF_SUM();\n"
                                  "rC[i][first + j][r] += partial.sums[j][r] * scale;\n"},
                                 {true, "rC[i][first + j][r] += partial[j][r];\n"}});
}

}  // namespace

void add_consumer_statements(RenderInput& input, const KernelTraits& k) {
    const AddStatement add(input);
    add_warpgroup_place(add, k);
    add_consumers_cooperative(add, k);
    add_consumers_pingpong(add, k);
    add_consumers_overlapped(add, k);
    add_promoted_mainloop(add, k);
    add_multiply_promoted(add, k);
}

}  // namespace jitgemm
