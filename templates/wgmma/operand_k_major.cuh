#pragma once
// A tile of kRows rows of A (or columns of B) by kBlockK, K contiguous, as TMA lays it into shared memory and wgmma reads it:
// panels of kPanelElements of K, one behind the other, each (kRows, kPanelElements) with rows of kPanelBytes; of each row the
// 16-byte chunks are permuted (PTX ISA, "Shared Memory Matrix Layout": K-major).
#if GEMM_CLUSTER > 1
template <int kRows, int kShares>
#else
template <int kRows>
#endif
struct KMajorTile {
    static constexpr int kPanels = kBlockK / kPanelElements;
    static constexpr int kBytes = kPanels * kRows * kPanelBytes;
#if GEMM_B_K_MAJOR || !GEMM_A_IN_REGISTERS
    // Of a matrix descriptor all but the address: eight rows, 8 * kPanelBytes, to the next eight; and the swizzle.
    static constexpr unsigned long long kDescriptor = kSwizzleMode << 62 | (8ull * kPanelBytes >> 4) << 32;

    // In units of 16 bytes, from the tile to what a wgmma multiplies: 16 of K, from a row on, a multiple of eight.
    static __device__ __forceinline__ constexpr unsigned offset(int row, int k_block) {
        const int panel = k_block * 32 / kPanelBytes;
        return ((panel * kRows + row) * kPanelBytes + k_block * 32 % kPanelBytes) >> 4;
    }

#endif
    // The tile at (row, k) of the matrix. `full` counts its bytes.
#if GEMM_CLUSTER > 1
    // Where kShares blocks of a cluster want the same tile, each copies its share of the rows to all of them.
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int row, int k, unsigned full,
                                                int share, unsigned short blocks) {
        constexpr int kShareRows = kRows / kShares;
#pragma unroll
        for (int panel = 0; panel < kPanels; ++panel) {
            const unsigned target = tile + (panel * kRows + share * kShareRows) * kPanelBytes;
            if constexpr (kShares > 1)
                tma_load_multicast(target, map, k + panel * kPanelElements, row + share * kShareRows, full, blocks);
            else
                tma_load(target, map, k + panel * kPanelElements, row, full);
        }
    }
#else
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int row, int k, unsigned full) {
#pragma unroll
        for (int panel = 0; panel < kPanels; ++panel)
            tma_load(tile + panel * kRows * kPanelBytes, map, k + panel * kPanelElements, row, full);
    }
#endif
};
