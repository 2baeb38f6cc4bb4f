#pragma once

#if GEMM_GROUPED && GEMM_TENSOR_MAPS
// Where a group of rows of D ends.
struct Edges {
    int end_row;
    const int& end_column;
};
#else
// Where D ends.
struct Edges {
    const int &end_row, &end_column;
};
#endif

// A block's tile of D, and its part of K. Copies, mainloop and epilogue take sizes from here alone.
struct Tile : Edges {
    int row, column;  // where the tile begins in D
#if GEMM_TENSOR_MAPS
    int first_k, k_tiles;
#else
    int first_k, end_k, k_tiles;
#endif
#if GEMM_CLUSTER > 1
    unsigned cluster_row, cluster_column;  // of the block in its cluster
#endif
#if GEMM_GROUPED && GEMM_TENSOR_MAPS
    int problem;  // the group
#elif GEMM_GROUPED_BY_K && GEMM_TENSOR_MAPS
    int problem;  // the group
    int end_k = 0;  // of the group
    int behind_k = 0;  // the K of all groups: from there on, TMA brings zeros
#elif GEMM_BATCHED && GEMM_TENSOR_MAPS
    int problem;  // of the batch
#endif
};
