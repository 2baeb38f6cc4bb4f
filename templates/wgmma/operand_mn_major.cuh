#pragma once

// A tile of kRows rows of A (or columns of B) by kBlockK, the rows contiguous. TMA writes it to shared memory, and
// wgmma reads it there. It is a sequence of panels (kBlockK, kPanelElements) with kPanelBytes for each k. The 16-byte
// chunks of each k are permuted (PTX ISA, "Shared Memory Matrix Layout": MN-major). The last panel may be wider than
// the tile.
#if GEMM_CLUSTER > 1
template <int kRows, int kShares>
#else
template <int kRows>
#endif
struct MNMajorTile {
    static constexpr int kPanels = (kRows + kPanelElements - 1) / kPanelElements;
    static constexpr int kBytes = kPanels * kBlockK * kPanelBytes;
#if !GEMM_B_K_MAJOR || !GEMM_A_IN_REGISTERS
    // A matrix descriptor without its address: the swizzle, the distance from eight k to the next eight, and from a
    // panel to the next.
    static constexpr unsigned long long kDescriptor = kSwizzleMode << 62 | (8ull * kPanelBytes >> 4) << 32 |
                                                      (static_cast<unsigned long long>(kBlockK) * kPanelBytes >> 4)
                                                          << 16;

    // The offset of a wgmma's operand in the tile, in units of 16 bytes: 16 of K, from `row` on, a multiple of
    // kPanelElements.
    static __device__ __forceinline__ constexpr unsigned offset(int row, int k_block) {
        return (row / kPanelElements * kBlockK + k_block * 16) * kPanelBytes >> 4;
    }

#endif
    // Copies the tile at (row, k) of the matrix. `full` counts its bytes.
#if GEMM_CLUSTER > 1
    // kShares blocks of a cluster want this tile. Each copies its share of the k to all of them.
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
#if GEMM_GROUPED_BY_K

    // A warp sets the k of the tile from `k` on to zero.
    static __device__ __forceinline__ void clear_from(unsigned tile, int k, int lane) {
#pragma unroll 1
        for (int panel = 0; panel < kPanels; ++panel, tile += kBlockK * kPanelBytes)
#pragma unroll 1
            for (int byte = k * kPanelBytes + lane * 16; byte < kBlockK * kPanelBytes; byte += 32 * 16)
                asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(tile + byte), "r"(0) : "memory");
    }
#endif
};
