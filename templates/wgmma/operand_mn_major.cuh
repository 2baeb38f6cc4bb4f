#pragma once
// A tile of kRows rows of A (or columns of B) by kBlockK, these rows contiguous, as TMA lays it into shared memory and wgmma reads
// it: panels of kPanelElements rows, one behind the other, each (kBlockK, kPanelElements) with kPanelBytes for each k, of which the
// 16-byte chunks are permuted (PTX ISA, "Shared Memory Matrix Layout": MN-major). The last panel may be wider than the tile.
#if GEMM_CLUSTER > 1
template <int kRows, int kShares>
#else
template <int kRows>
#endif
struct MNMajorTile {
    static constexpr int kPanels = (kRows + kPanelElements - 1) / kPanelElements;
    static constexpr int kBytes = kPanels * kBlockK * kPanelBytes;
#if !GEMM_B_K_MAJOR || !GEMM_A_IN_REGISTERS
    // Of a matrix descriptor all but the address: eight k, 8 * kPanelBytes, to the next eight; a panel to the next; the swizzle.
    static constexpr unsigned long long kDescriptor = kSwizzleMode << 62 | (8ull * kPanelBytes >> 4) << 32 |
                                                      (static_cast<unsigned long long>(kBlockK) * kPanelBytes >> 4)
                                                          << 16;

    // In units of 16 bytes, from the tile to what a wgmma multiplies: 16 of K, from a row on, a multiple of kPanelElements.
    static __device__ __forceinline__ constexpr unsigned offset(int row, int k_block) {
        return (row / kPanelElements * kBlockK + k_block * 16) * kPanelBytes >> 4;
    }

#endif
    // The tile at (row, k) of the matrix. `full` counts its bytes.
#if GEMM_CLUSTER > 1
    // Where kShares blocks of a cluster want the same tile, each copies its share of the k to all of them.
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int row, int k, unsigned full,
                                                int share, unsigned short blocks) {
        constexpr int kShareK = kBlockK / kShares;
#pragma unroll
        for (int panel = 0; panel < kPanels; ++panel) {
            const unsigned target = tile + (panel * kBlockK + share * kShareK) * kPanelBytes;
            if constexpr (kShares > 1)
                tma_load_multicast(target, map, row + panel * kPanelElements, k + share * kShareK, full, blocks);
            else
                tma_load(target, map, row + panel * kPanelElements, k, full);
        }
    }
#else
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int row, int k, unsigned full) {
#pragma unroll
        for (int panel = 0; panel < kPanels; ++panel)
            tma_load(tile + panel * kBlockK * kPanelBytes, map, row + panel * kPanelElements, k, full);
    }
#endif
};
