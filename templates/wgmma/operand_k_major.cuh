#pragma once

// A tile of kRows rows of A (or columns of B) by kBlockK, K contiguous. TMA writes it to shared memory, and wgmma reads
// it there. It is a sequence of panels (kRows, kPanelElements) with rows of kPanelBytes. The 16-byte chunks of each row
// are permuted (PTX ISA, "Shared Memory Matrix Layout": K-major).
#if GEMM_CLUSTER > 1
template <int kRows, int kShares>
#else
template <int kRows>
#endif
struct KMajorTile {
    GEMM_COUNT_PANELS();
    static constexpr int kBytes = kPanels * kRows * kPanelBytes;
#if GEMM_B_K_MAJOR || !GEMM_A_IN_REGISTERS
    // A matrix descriptor without its address: the swizzle, and 8 * kPanelBytes from eight rows to the next eight.
    static constexpr unsigned long long kDescriptor = kSwizzleMode << 62 | (8ull * kPanelBytes >> 4) << 32;

    // GEMM_OFFSET_COMMENT();
    static __device__ __forceinline__ constexpr unsigned offset(int row, int k_block) {
        const int panel = k_block * 32 / kPanelBytes;
        return ((panel * kRows + row) * kPanelBytes + k_block * 32 % kPanelBytes) >> 4;
    }
#if GEMM_PARTS

    // The same of one part. A group's rows hold the first parts of 32 of K, then the second ones, and so on.
    static __device__ __forceinline__ constexpr unsigned offset_of_part(int row, int k_block, int part) {
        const int byte = part * kPartBytes + k_block % kGroupBlocks * 32;
        const int panel = k_block / kGroupBlocks * kGroupPanels + byte / kPanelBytes;
        return ((panel * kRows + row) * kPanelBytes + byte % kPanelBytes) >> 4;
    }
#endif

#endif
#if GEMM_B_K_MAJOR || !GEMM_GATHERED
    // Copies the tile at (row, k) of the matrix. `full` counts its bytes.
#if GEMM_CLUSTER > 1
    // kShares blocks of a cluster want this tile. Each copies its share of the rows to all of them.
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int row, int k, unsigned full,
                                                int share, unsigned short blocks) {
        constexpr int kShareRows = kRows / kShares;
        GEMM_FIND_GROUP_OF_K();
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
        GEMM_FIND_GROUP_OF_K();
#pragma unroll
        for (int panel = 0; panel < kPanels; ++panel)
            tma_load(tile + panel * kRows * kPanelBytes, map, k + panel * kPanelElements, row, full);
    }
#endif
#endif
};
