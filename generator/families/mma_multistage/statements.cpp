#include "generator/families/mma_multistage/statements.hpp"

#include "generator/families/shared/add_statement.hpp"

namespace jitgemm {
namespace {

/// Of templates/mma_multistage/mma_multistage.cu.
void add_kernel(const AddStatement& add, const GemmSignature& s, const MmaMultistageConfig& c) {
    add("GEMM_OPERANDS_IN_WORDS",
        {{bytes(s.a) == 1, "// GEMM of 8-bit operands on mma.sync.\n"},
         {has_parts(s),
          "// GEMM of f32 on mma.sync, which multiplies tf32. Each product is three products of parts.\n"},
         {bytes(s.a) == 4, "// GEMM of f32 on mma.sync, which multiplies tf32.\n"},
         {true, "// Half-precision GEMM on mma.sync.\n"}});
    add("GEMM_MMAS_OF_ATOM",
        {{has_parts(s), "//               for each (kMmaM, kMmaN) of the warp tile            three mma.sync\n"},
         {true, "//               for each (kMmaM, kMmaN) of the warp tile            one mma.sync\n"}});
    add("GEMM_KERNEL", {{c.splits_in_cluster(),
                         "extern \"C\" __global__ void __launch_bounds__(kThreads, 1) __cluster_dims__(kSplitK) "
                         "gemm(GemmArgs args) {\n"},
                        {true, "extern \"C\" __global__ void __launch_bounds__(kThreads, 1) gemm(GemmArgs args) {\n"}});
    add("GEMM_DECLARE_PARTIAL_SUMS",
        {{c.promote != 0,
          "Accumulator partial[kTilesM][kTilesN][kRegistersC];  // what tensor cores have added since they began "
          "anew\n"}},
        {{has_block_scales(s), "BlockScales scales;  // of the block of K that partial belongs to\n"}});
    add("GEMM_ROUND_FIRST_FRAGMENTS", {{s.math == Math::tf32,
                                        "round_fragment<kFragmentA>(rA[0]);\n"
                                        "round_fragment<kFragmentB>(rB[0]);\n"}});
    add("GEMM_MULTIPLY_K_BLOCK", {{c.promote != 0,
                                   "GEMM_LOAD_SCALES_OF_BLOCK();\n"
                                   "if (k_block % kPromotedBlocks == 0) set_to_zero(partial);\n"
                                   "mma_warp_tile(partial, rA[k_block % 2], rB[k_block % 2]);\n"
                                   "GEMM_ADD_BLOCK();\n"},
                                  {true, "mma_warp_tile(rC, rA[k_block % 2], rB[k_block % 2]);\n"}});
    add("GEMM_LOAD_SCALES_OF_BLOCK",
        {{has_block_scales(s),
          "const int k = tile.first_k + k_tile * kBlockK + k_block * kMmaK;\n"
          "if (k_block % kPromotedBlocks == 0)\n"
          "    scales = load_block_scales(args, tile, tile_row + warp_row, tile_column + warp_column, k, lane);\n"}});
    add("GEMM_ADD_BLOCK",
        {{has_block_scales(s),
          "// A block behind K has no scales, and its sums are zeros.\n"
          "if ((k_block + 1) % kPromotedBlocks == 0 && k - (kPromotedBlocks - 1) * kMmaK < tile.end_k)\n"
          "    add_scaled_sums(rC, partial, scales);\n"},
         {true, "if ((k_block + 1) % kPromotedBlocks == 0) add_partial_sums(rC, partial);\n"}});
    add("GEMM_ROUND_NEXT_FRAGMENTS", {{s.math == Math::tf32,
                                       "// The next fragments. The compiler moves this between the mmas.\n"
                                       "round_fragment<kFragmentA>(rA[(k_block + 1) % 2]);\n"
                                       "round_fragment<kFragmentB>(rB[(k_block + 1) % 2]);\n"}});
    add("GEMM_STORE_TILE",
        {{c.splits_in_cluster(),
          "lay_out_sums(rC, shared_memory, warp_row, warp_column, lane);\n"
          "add_up_and_store(args, shared_address(shared_memory), tile_row, tile_column, split);\n"},
         {c.splits_in_workspace(),
          "const OutputTile output = partial_tile(args, split);\n"
          "epilogue(rC, output, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);\n"},
         {true, "epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);\n"}});
}

/// Of templates/multistage/shared_to_registers.cuh.
void add_fragments(const AddStatement& add, const GemmSignature& s, const OperandGeometry& a,
                   const OperandGeometry& b) {
    const bool has_words = loads_words(a) || loads_words(b);
    add("GEMM_HOW_FRAGMENTS_ARE_LOADED",
        {{has_words && !a.k_major && !b.k_major, "// sA, sB -> rA, rB word by word, and the mma of one warp tile.\n"},
         {true, "// sA, sB -> rA, rB with ldmatrix, and the mma of one warp tile.\n"}});
    add("GEMM_ELEMENTS_OF_LDMATRIX",
        {{bytes(s.a) == 1, "// ldmatrix moves elements of 16 bits: each is a pair of neighbours along k.\n"},
         {bytes(s.a) == 4 && (a.k_major || b.k_major),
          "// ldmatrix moves elements of 16 bits: each is a half of one of f32.\n"}});
    add("GEMM_MATRICES_OF_LDMATRIX",
        {{!has_words,
          "// One ldmatrix loads kLdmatrixA (kLdmatrixB) matrices. Lane l gives the address of row l % 8 of matrix l / "
          "8.\n"},
         {a.k_major,
          "// One ldmatrix loads kLdmatrixA matrices of A. Lane l gives the address of row l % 8 of matrix l / 8.\n"},
         {b.k_major,
          "// One ldmatrix loads kLdmatrixB matrices of B. Lane l gives the address of row l % 8 of matrix l / 8.\n"}});
    add("GEMM_PARTS_OF_ADDRESS", {{!has_words || a.k_major || b.k_major,
                                   "// The address of a matrix that ldmatrix loads has two parts. Steps across rows "
                                   "are multiples of eight rows: the swizzle\n"
                                   "// repeats there, so they are constants. Steps along a row change the swizzle, so "
                                   "a lane keeps one offset per chunk.\n"}});
    add("GEMM_PLACE_IN_A", {{a.k_major,
                             "const int row = warp_row + a_matrix_row(q) + lane % 8;  // sA is (m, k)\n"
                             "const int chunk = a_matrix_k(q) / kChunkElements;\n"},
                            {true,
                             "const int row = a_matrix_k(q) + lane % 8;  // sA is (k, m): ldmatrix transposes\n"
                             "const int chunk = (warp_row + a_matrix_row(q)) / kChunkElements;\n"}});
    add("GEMM_PLACE_IN_B", {{b.k_major,
                             "const int row = warp_column + b_matrix_column(q) + lane % 8;  // sB is (n, k)\n"
                             "const int chunk = b_matrix_k(q) / kChunkElements;\n"},
                            {true,
                             "const int row = b_matrix_k(q) + lane % 8;  // sB is (k, n): ldmatrix transposes\n"
                             "const int chunk = (warp_column + b_matrix_column(q)) / kChunkElements;\n"}});
    add("GEMM_STEP_IN_A", {{a.k_major,
                            "const int chunk = (k_block * kMmaK + a_matrix_k(q)) / kChunkElements;\n"
                            "const int row = a_matrix_row(q);\n"},
                           {true,
                            "const int chunk = a_matrix_row(q) / kChunkElements;\n"
                            "const int row = k_block * kMmaK + a_matrix_k(q);\n"}});
    add("GEMM_STEP_IN_B", {{b.k_major,
                            "const int chunk = (k_block * kMmaK + b_matrix_k(q)) / kChunkElements;\n"
                            "const int row = b_matrix_column(q);\n"},
                           {true,
                            "const int chunk = b_matrix_column(q) / kChunkElements;\n"
                            "const int row = k_block * kMmaK + b_matrix_k(q);\n"}});
}

/// Of multiply_words.cuh and partial_sums.cuh in templates/multistage/.
void add_comments(const AddStatement& add, const GemmSignature& s) {
    add("GEMM_HOW_WORDS_ARE_MULTIPLIED", {{has_parts(s),
                                           "// The mmas of one warp tile. Tensor cores multiply tf32, which has 11 of "
                                           "the 24 bits of f32. So each element is taken\n"
                                           "// as the sum of two parts: the element rounded, and the rest rounded. The "
                                           "product of the second parts is left out.\n"},
                                          {true, "// Tensor cores multiply tf32, to which f32 is rounded.\n"}});
    add("GEMM_WHY_SUMS_BEGIN_ANEW",
        {{has_parts(s),
          "// Tensor cores cut long sums toward zero. So they begin anew every kPromotedBlocks k-blocks, and CUDA "
          "cores add these\n"
          "// partial sums to the tile's sums in f32.\n"},
         {true,
          "// Tensor cores may keep fewer bits of a sum of 8-bit floats than f32 has. So they begin anew every "
          "kPromotedBlocks\n"
          "// k-blocks, and CUDA cores add these partial sums to the tile's sums in f32.\n"}});
}

}  // namespace

void add_statements(RenderInput& input, const GemmSignature& s, const MmaMultistageConfig& c,
                    const TensorCoreGeometry& g) {
    const AddStatement add(input);
    add_kernel(add, s, c);
    add_fragments(add, s, g.a, g.b);
    add_comments(add, s);
}

}  // namespace jitgemm
