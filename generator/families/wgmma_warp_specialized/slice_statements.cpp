#include "generator/families/wgmma_warp_specialized/template_statements.hpp"

namespace jitgemm {
namespace {

/// Of templates/epilogue/epilogue_staged.cuh.
void add_epilogue_staged(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_PAIRS_OF_ATOM", {{k.exact_sums, "int2 pair[2];\n"}, {true, "float2 pair[2];\n"}});
    add("GEMM_TAKE_ATOMS", {{k.has_pairs,
                             "for (int j = 0; j < kSliceColumns / 8; ++j)\n"
                             "    operands.take_atom(args, rC[(i * kSliceColumns / 8 + j) * 2], i, j, lane);\n"},
                            {true,
                             "for (int j = 0; j < kSliceColumns / 8; ++j)\n"
                             "    operands.take_atom(args, rC[i * kSliceColumns / 8 + j], i, j, lane);\n"}});
    add("GEMM_TAKE_SLICE", {{k.symmetric,
                             "const int slice_column = column + i * kSliceColumns;\n"
                             "if (is_below_diagonal(row, slice_column)) continue;\n"
                             "const unsigned slice = staging.take();\n"},
                            {true,
                             "const unsigned slice = staging.take();\n"
                             "const int slice_column = column + i * kSliceColumns;\n"}});
    add("GEMM_REDUCE_BLOCK",
        {{k.has_block_reductions,
          "if (i % kSlicesOfBlock == 0) reduce_block(rC, args, row, column, operands, i, lane);\n"}});
    add("GEMM_READ_SLICE", {{k.reads_slices, "operands.read_slice(args, row, slice_column, lane);\n"}});
    add("GEMM_AWAIT_SLICE", {{k.stores_by_tma,
                              "if (lane == 0) tma_store_wait_read<kSlices - 1>();  // until the store that last used "
                              "this slice has read it\n"}});
    add("GEMM_SUMS_OF_SLICE", {{k.has_pairs, "const auto* const sums = rC + i * kSliceColumns / 8 * 2;\n"},
                               {true, "const auto* const sums = rC + i * kSliceColumns / 8;\n"}});
    add("GEMM_BEGIN_SLICE_OF_PANELS", {{k.has_panels, "operands.begin_slice(i);\n"}});
    add("GEMM_FINISH_ATOM",
        {{k.has_pairs,
          "const auto finished = [&](int j) { return operands.finish_atom(args, sums[2 * j], i, j, lane); };\n"},
         {k.stages_outputs,
          "const auto finished = [&](int j) {\n"
          "    const FinishedAtoms atoms = operands.finish_atom(args, sums[j], i, j, lane);\n"
          "    GEMM_STAGE_OUTPUTS();\n"
          "    return atoms.d;\n"
          "};\n"},
         {true, "const auto finished = [&](int j) { return operands.finish_atom(args, sums[j], i, j, lane); };\n"}});
    add("GEMM_STAGE_OUTPUTS", {{k.has_rest,
                                "if (i == kSlicesOfRow - 1)\n"
                                "    stage_outputs<kRestColumns>(slice, atoms, j, lane);\n"
                                "else\n"
                                "    stage_outputs<kSliceColumns>(slice, atoms, j, lane);\n"},
                               {true, "stage_outputs<kSliceColumns>(slice, atoms, j, lane);\n"}});
    add("GEMM_STORE_REST", {{k.has_rest,
                             "if (i == kSlicesOfRow - 1) {\n"
                             "    stage_slice<kRestColumns, false>(slice, finished, lane);\n"
                             "    store_slice<kRestColumns, false>(slice, args, edges, row, slice_column, lane);\n"
                             "    continue;\n"
                             "}\n"}});
    add("GEMM_STORE_PARTS", {{k.has_reductions, "operands.store_parts(args, row, column, lane);\n"}});
}

/// Of templates/epilogue/epilogue_tma_transposed.cuh.
void add_epilogue_tma_transposed(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_BYTES_OF_COLUMN",
        {{k.has_pairs,
          "// rC -> sD -> gD, D column-major: a column of D is a row in memory. A thread's sums in rows g and g + 8 "
          "are a pair and\n"
          "// make an element of D. A warpgroup finishes slices of 32 rows by kSliceColumns, converts and transposes "
          "them, and\n"
          "// writes them to its own part of shared memory. TMA stores each slice. kSlices of them may be in flight.\n"
          "constexpr int kColumnBytes = 32 * static_cast<int>(sizeof(ElementD));  // the span of TMA's swizzle\n"},
         {true,
          "// rC -> sD -> gD, D column-major: a column of D is a row in memory. A warpgroup finishes slices of 64 rows "
          "by\n"
          "// kSliceColumns, converts and transposes them, and writes them to its own part of shared memory. TMA "
          "stores each slice.\n"
          "// kSlices of them may be in flight.\n"
          "constexpr int kColumnBytes = 64 * static_cast<int>(sizeof(ElementD));  // the span of TMA's swizzle\n"}});
    add("GEMM_STAGE_FOUR_PAIRS",
        {{k.stmatrix_x4,
          "#pragma unroll\n"
          "for (int j = 0; j + 3 < kAtoms; j += 4)\n"
          "    stmatrix(place + j * 8 * kColumnBytes, {packed(j), packed(j + 1), packed(j + 2), packed(j + 3)});\n"}});
    add("GEMM_STAGE_TWO_PAIRS",
        {{k.stmatrix_x2,
          "if constexpr (kAtoms % 4 >= 2) {\n"
          "    constexpr int kFirst = kAtoms / 4 * 4;\n"
          "    stmatrix(place + kFirst * 8 * kColumnBytes, {packed(kFirst), packed(kFirst + 1)});\n"
          "}\n"}});
    add("GEMM_STAGE_ONE_PAIR", {{k.stmatrix_x1,
                                 "if constexpr (kAtoms % 2 != 0) stmatrix(place + (kAtoms - 1) * 8 * kColumnBytes, "
                                 "{packed(kAtoms - 1)});\n"}});
    add("GEMM_STAGE_TWO_COLUMNS", {{k.stmatrix_x4,
                                    "#pragma unroll\n"
                                    "for (int j = 0; j + 1 < kColumns / 8; j += 2)\n"
                                    "    stmatrix(place + j * 8 * kColumnBytes, {packed(j, 0), packed(j, 1), packed(j "
                                    "+ 1, 0), packed(j + 1, 1)});\n"}});
    add("GEMM_STAGE_LAST_COLUMN",
        {{k.stmatrix_x2,
          "if constexpr (kColumns % 16 != 0) {\n"
          "    constexpr int kLast = kColumns / 8 - 1;\n"
          "    stmatrix(place + kLast * 8 * kColumnBytes, {packed(kLast, 0), packed(kLast, 1)});\n"
          "}\n"}});
    add("GEMM_STORE_SLICE_ACROSS",
        {{k.has_rest, "tma_store(slice, kColumns == kRestColumns ? args.map_d_rest : args.map_d, row, column);\n"},
         {true, "tma_store(slice, args.map_d, row, column);\n"}});
    add("GEMM_STORE_OUTPUTS", {{k.stages_outputs, "store_outputs<kColumns>(slice, args, row, column);\n"}});
    add("GEMM_ROW_OF_D", {{k.has_pairs, "row /= 2;  // of D, not of the sums\n"}});
    add("GEMM_READ_SLICE_ACROSS",
        {{k.reads_slices, "operands.read_slice(args, row, column + i * kSliceColumns, lane);\n"}});
    add("GEMM_FINISH_PAIR",
        {{k.has_pairs,
          "const auto finished = [&](int j) { return operands.finish_pair(args, sums[j], i, j, lane); };\n"},
         {k.stages_outputs,
          "OutputWords words;  // of the atom that is being finished\n"
          "const auto finished = [&](int j, int pair) {\n"
          "    const FinishedPairs pairs = operands.finish_pair(args, sums[j], i, j, pair, lane);\n"
          "    words.take(pairs, pair);\n"
          "    if (pair == 1) words.stage(slice + place + j * 8 * kColumnBytes);\n"
          "    return pairs.d;\n"
          "};\n"},
         {true,
          "const auto finished = [&](int j, int pair) { return operands.finish_pair(args, sums[j], i, j, pair, lane); "
          "};\n"}});
    add("GEMM_STORE_REST_ACROSS", {{k.has_rest,
                                    "if (i == kSlicesOfRow - 1) {\n"
                                    "    stage_slice<kRestColumns>(slice + place, finished);\n"
                                    "    store_slice<kRestColumns>(slice, args, row, slice_column, stores);\n"
                                    "    continue;\n"
                                    "}\n"}});
}

/// Of templates/epilogue/store_slice_by_threads.cuh.
void add_store_slice_by_threads(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_WHERE_ROWS_BEGIN",
        {{k.shifts_rows,
          "// D's rows begin at any multiple of 2 bytes, vectors at multiples of 4. Where a row begins between these, "
          "its first\n"
          "// element is stored by itself, and the vectors begin at the second.\n"}},
        {{k.has_8_bits(), "// D's rows are whole vectors.\n"}});
    add("GEMM_VECTOR_OF_ROW",
        {{k.vector_bytes == 4,
          "using Vector = unsigned;\n"
          "__device__ __forceinline__ Vector load_vector(unsigned address) {\n"
          "    Vector vector;\n"
          "    asm volatile(\"ld.shared.b32 %0, [%1];\" : \"=r\"(vector) : \"r\"(address) : \"memory\");\n"
          "    return vector;\n"
          "}\n"},
         {k.vector_bytes == 8,
          "using Vector = uint2;\n"
          "__device__ __forceinline__ Vector load_vector(unsigned address) {\n"
          "    Vector vector;\n"
          "    asm volatile(\"ld.shared.v2.b32 {%0, %1}, [%2];\" : \"=r\"(vector.x), \"=r\"(vector.y) : \"r\"(address) "
          ": \"memory\");\n"
          "    return vector;\n"
          "}\n"
          "GEMM_WORD_OF_TWO();\n"},
         {true,
          "using Vector = uint4;\n"
          "__device__ __forceinline__ Vector load_vector(unsigned address) {\n"
          "    Vector vector;\n"
          "    asm volatile(\"ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\"\n"
          "                 : \"=r\"(vector.x), \"=r\"(vector.y), \"=r\"(vector.z), \"=r\"(vector.w)\n"
          "                 : \"r\"(address)\n"
          "                 : \"memory\");\n"
          "    return vector;\n"
          "}\n"
          "GEMM_WORD_OF_FOUR();\n"}});
    add("GEMM_WORD_OF_TWO", {{!k.has_8_bits(),
                              "__device__ __forceinline__ unsigned word(Vector vector, int i) { return i == 0 ? "
                              "vector.x : vector.y; }\n"}});
    add("GEMM_WORD_OF_FOUR", {{!k.has_8_bits(),
                               "__device__ __forceinline__ unsigned word(const Vector& vector, int i) {\n"
                               "    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;\n"
                               "}\n"}});
    add("GEMM_STORE_ELEMENTS", {{k.vector_bytes == 4, "if (elements > 0) d[0] = static_cast<ElementD>(vector);\n"},
                                {true,
                                 "#pragma unroll\n"
                                 "for (int i = 0; i < kVectorElements - 1; ++i)\n"
                                 "    GEMM_STORE_ELEMENT();\n"}});
    add("GEMM_STORE_ELEMENT",
        {{k.d == DataType::f32, "if (i < elements) d[i] = __uint_as_float(word(vector, i));\n"},
         {k.d == DataType::s32, "if (i < elements) d[i] = static_cast<int>(word(vector, i));\n"},
         {true, "if (i < elements) d[i] = static_cast<ElementD>(word(vector, i / 2) >> i % 2 * 16);\n"}});
    add("GEMM_SLICE_BY_THREADS",
        {{k.stores_by_tma || k.symmetric,
          "__device__ __forceinline__ void store_slice_by_threads(unsigned slice, const GemmArgs& args, const Edges& "
          "edges,\n"
          "                                                       int row, int column, int lane) {\n"},
         {true,
          "__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& edges, int "
          "row,\n"
          "                                            int column, int lane) {\n"}});
    add("GEMM_NEXT_VECTORS",
        {{k.shifts_rows,
          "Vector next[kBatch];  // the next vector of the row; unused at its end\n"
          "#pragma unroll\n"
          "for (int i = 0; i < kBatch; ++i) next[i] = __shfl_down_sync(0xffffffff, vectors[i], 1);\n"}});
    add("GEMM_PLACE_OF_VECTOR",
        {{k.shifts_rows,
          "const bool is_shifted = reinterpret_cast<unsigned long long>(d) & 2;\n"
          "const Vector vector = is_shifted ? __funnelshift_r(vectors[i], next[i], 16) : vectors[i];\n"
          "ElementD* const target = d + element + is_shifted;\n"
          "const int left = columns - element - is_shifted;  // elements of the row from here on\n"
          "if (is_row && is_shifted && element == 0 && columns > 0) d[0] = static_cast<ElementD>(vectors[i]);\n"},
         {true,
          "const Vector& vector = vectors[i];\n"
          "ElementD* const target = d + element;\n"
          "const int left = columns - element;  // elements of the row from here on\n"}});
    add("GEMM_STORE_CUT_VECTOR",
        {{k.cuts_vectors(), "if (is_row && left < kVectorElements) store_elements(target, vector, left);\n"}});
}

/// Of templates/epilogue/store_slice_by_tma.cuh.
void add_store_slice_by_tma(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_STORE_SLICE_BY_TMA",
        {{k.has_rest, "tma_store(slice, kColumns == kRestColumns ? args.map_d_rest : args.map_d, column, row);\n"},
         {true, "tma_store(slice, args.map_d, column, row);\n"}});
    add("GEMM_STORE_MIRROR",
        {{k.symmetric,
          "if (is_above_diagonal(row, column)) tma_store(slice + kSliceBytesOfD, args.map_mirror, row, column);\n"}});
}

/// Of templates/epilogue/stage_slice.cuh.
void add_stage_slice(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_STAGE_FLOATS",
        {{k.symmetric,
          "for (int j = 0; j < kColumns / 8; ++j) {\n"
          "    const Atom atom = finished(j);\n"
          "    stage_floats<kColumns>(slice, atom, j, lane);\n"
          "    stage_mirror(slice, atom, j, lane);\n"
          "}\n"},
         {true, "for (int j = 0; j < kColumns / 8; ++j) stage_floats<kColumns>(slice, finished(j), j, lane);\n"}});
    add("GEMM_STORE_SHARED",
        {{k.d == DataType::s32,
          "__device__ __forceinline__ void store_shared(unsigned address, int2 pair) {\n"
          "    asm volatile(\"st.shared.v2.b32 [%0], {%1, %2};\" ::\"r\"(address), \"r\"(pair.x), \"r\"(pair.y) : "
          "\"memory\");\n"
          "}\n"},
         {true,
          "__device__ __forceinline__ void store_shared(unsigned address, unsigned short pair) {\n"
          "    asm volatile(\"st.shared.b16 [%0], %1;\" ::\"r\"(address), \"h\"(pair) : \"memory\");\n"
          "}\n"}});
    add("GEMM_STORE_SHARED_PAIR",
        {{k.exact_sums, "store_shared(chunk + byte % 16, atom.pair[pair]);\n"},
         {true, "store_shared(chunk + byte % 16, pack_d(atom.pair[pair].x, atom.pair[pair].y));\n"}});
    add("GEMM_STAGE_MIRROR", {{k.symmetric, "stage_mirror(slice, atom, j, lane);\n"}});
    add("GEMM_STAGE_TWO_ATOMS",
        {{k.symmetric,
          "const unsigned words[4] = {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]),\n"
          "                           packed(right.pair[1])};\n"
          "stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16), words);\n"
          "stmatrix_transposed(mirror_address(slice, j * 8 + lane / 16 * 8 + lane % 8, lane / 8 % 2), words);\n"},
         {true,
          "stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16),\n"
          "         {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]), packed(right.pair[1])});\n"}});
}

/// Of templates/epilogue/panels.cuh.
void add_panels(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_PLACE_OF_PANELS",
        {{k.overlapped,
          "__device__ constexpr int panel_row(int panel) { return panel / kPanelsPerRow / kConsumersN * kWarpgroupM; "
          "}\n"
          "__device__ constexpr int panel_column(int panel) {\n"
          "    return panel / kPanelsPerRow % kConsumersN * kWarpgroupN + panel % kPanelsPerRow * kSliceColumns;\n"
          "}\n"},
         {true,
          "__device__ constexpr int panel_row(int /*any*/) { return 0; }\n"
          "__device__ constexpr int panel_column(int panel) {\n"
          "    return panel / kPanelsPerRow * kWarpgroupN + panel % kPanelsPerRow * kSliceColumns;\n"
          "}\n"}});
}

/// Of templates/epilogue/staging.cuh.
void add_staging(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_BYTES_OF_SLICE", {{k.has_pairs && k.swap_ab,
                                 "constexpr int kSliceBytes = kStagers / 4 * kSliceColumns * "
                                 "static_cast<int>(sizeof(Staged));  // eight rows per warp\n"},
                                {k.stages_outputs,
                                 "constexpr int kSliceBytesOfD = kStagers / 2 * kSliceColumns * "
                                 "static_cast<int>(sizeof(Staged));  // 16 rows per warp\n"
                                 "constexpr int kSliceBytes = kSliceBytesOfD + kStagers / 2 * kSliceColumns * "
                                 "kOutputBytes;  // with the other outputs'\n"},
                                {k.symmetric,
                                 "constexpr int kSliceBytesOfD = kStagers / 2 * kSliceColumns * "
                                 "static_cast<int>(sizeof(Staged));  // 16 rows per warp\n"
                                 "constexpr int kSliceBytes = 2 * kSliceBytesOfD;  // with the mirror\n"},
                                {true,
                                 "constexpr int kSliceBytes = kStagers / 2 * kSliceColumns * "
                                 "static_cast<int>(sizeof(Staged));  // 16 rows per warp\n"}});
}

/// Of templates/epilogue/mirror.cuh.
void add_mirror(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_STORE_COLUMN",
        {{k.d == DataType::s32,
          "__device__ __forceinline__ void store_column(unsigned address, int2 pair) {\n"
          "    asm volatile(\"st.shared.b32 [%0], %1; st.shared.b32 [%0 + %3], %2;\" ::\"r\"(address), \"r\"(pair.x), "
          "\"r\"(pair.y),\n"
          "                 \"n\"(kMirrorRowBytes)\n"
          "                 : \"memory\");\n"
          "}\n"},
         {k.d == DataType::f32,
          "__device__ __forceinline__ void store_column(unsigned address, float2 pair) {\n"
          "    asm volatile(\"st.shared.f32 [%0], %1; st.shared.f32 [%0 + %3], %2;\" ::\"r\"(address), \"f\"(pair.x), "
          "\"f\"(pair.y),\n"
          "                 \"n\"(kMirrorRowBytes)\n"
          "                 : \"memory\");\n"
          "}\n"},
         {true,
          "__device__ __forceinline__ void store_column(unsigned address, unsigned short pair) {\n"
          "    asm volatile(\"st.shared.b8 [%0], %1; st.shared.b8 [%0 + %3], %2;\" ::\"r\"(address), \"h\"(pair),\n"
          "                 \"h\"(static_cast<unsigned short>(pair >> 8)), \"n\"(kMirrorRowBytes)\n"
          "                 : \"memory\");\n"
          "}\n"}});
    add("GEMM_STORE_MIRRORED_PAIR",
        {{k.exact_sums || k.d == DataType::f32, "store_column(chunk + byte % 16, atom.pair[pair]);\n"},
         {true, "store_column(chunk + byte % 16, pack_d(atom.pair[pair].x, atom.pair[pair].y));\n"}});
}

}  // namespace

void add_slice_statements(RenderInput& input, const KernelTraits& k) {
    const AddStatement add(input);
    add_epilogue_staged(add, k);
    add_epilogue_tma_transposed(add, k);
    add_store_slice_by_threads(add, k);
    add_store_slice_by_tma(add, k);
    add_stage_slice(add, k);
    add_panels(add, k);
    add_staging(add, k);
    add_mirror(add, k);
}

}  // namespace jitgemm
