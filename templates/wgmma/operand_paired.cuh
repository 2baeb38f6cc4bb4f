#pragma once
#include "wgmma/operand_k_major.cuh"

// A K-major tile whose kRows rows make pairs of sums. Of every 16 rows, eight belong to the first sums of eight pairs,
// and the next eight to the second sums. So a thread holds both sums of a pair. kGroup units of `place` count 16 rows.
// The map counts the elements of a row, eight pairs, the two rows of a pair, and groups of eight pairs.
#if GEMM_CLUSTER > 1
template <int kRows, int kGroup, int kShares>
struct PairedTile : KMajorTile<kRows, kShares> {
    using Base = KMajorTile<kRows, kShares>;

    // Copies the tile at (place, k). kShares blocks of a cluster want it. Each copies its share to all of them.
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int place, int k, unsigned full,
                                                int share, unsigned short blocks) {
        constexpr int kShareRows = kRows / kShares;
#pragma unroll
        for (int panel = 0; panel < Base::kPanels; ++panel) {
            const unsigned target = tile + (panel * kRows + share * kShareRows) * kPanelBytes;
            const int group = place / kGroup + share * kShareRows / 16;
            if constexpr (kShares > 1)
                tma_load_multicast(target, map, k + panel * kPanelElements, 0, 0, group, full, blocks);
            else
                tma_load(target, map, k + panel * kPanelElements, 0, 0, group, full);
        }
    }
#else
template <int kRows, int kGroup>
struct PairedTile : KMajorTile<kRows> {
    using Base = KMajorTile<kRows>;

    // Copies the tile at (place, k).
    static __device__ __forceinline__ void load(unsigned tile, const TensorMap& map, int place, int k, unsigned full) {
#pragma unroll
        for (int panel = 0; panel < Base::kPanels; ++panel)
            tma_load(tile + panel * kRows * kPanelBytes, map, k + panel * kPanelElements, 0, 0, place / kGroup, full);
    }
#endif
};
