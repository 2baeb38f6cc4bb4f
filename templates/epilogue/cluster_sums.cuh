#pragma once
#include "epilogue/accumulator_pair.cuh"
#include "ptx/cluster.cuh"

// rC -> sP. A warp writes eight rows at once: eight elements of padding put them into different banks.
constexpr int kPitchP = kBlockN + 8;

__device__ __forceinline__ void lay_out_sums(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                             char* shared_memory, int warp_row, int warp_column, int lane) {
    float* sP = reinterpret_cast<float*>(shared_memory) + (warp_row + lane / 4) * kPitchP + warp_column + lane % 4 * 2;
    GEMM_WAIT_FOR_ALL_COPIES();
    __syncthreads();  // all warps have finished the mainloop: shared memory is free
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
#pragma unroll
            for (int j = 0; j < kTilesN; ++j)
                *reinterpret_cast<float2*>(sP + (i * kMmaM + pair * 8) * kPitchP + j * kMmaN) =
                    accumulator_pair(rC[i][j], pair);
}

// sP of every block of the cluster -> sums -> gD. The kSplitK blocks of a cluster have sums of one tile over different
// parts of K, each in its own shared memory: sP (kBlockM, kBlockN), f32, row pitch kPitchP. Each block reads its share
// of the vectors from all of them (distributed shared memory), adds in the order of the splits, and stores.

// The address of the same shared memory in block `rank` of the cluster.
__device__ __forceinline__ unsigned address_in_block(unsigned address, int rank) {
    unsigned result;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
    return result;
}

// kVectorD sums of one block.
__device__ __forceinline__ void load_sums(float (&part)[kVectorD], unsigned address) {
#if GEMM_VECTOR_D >= 4
#pragma unroll
    for (int i = 0; i < kVectorD; i += 4)
        asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(part[i]), "=f"(part[i + 1]), "=f"(part[i + 2]), "=f"(part[i + 3])
                     : "r"(address + i * 4)
                     : "memory");
#elif GEMM_VECTOR_D == 2
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(part[0]), "=f"(part[1]) : "r"(address) : "memory");
#else
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(part[0]) : "r"(address) : "memory");
#endif
}

// A thread's vectors lie kSplitK * kThreads apart. It reads several before it adds: other blocks' shared memory is far
// away.
__device__ __forceinline__ void add_up_and_store(const OutputTile& output, unsigned sP, int tile_row, int tile_column,
                                                 int split) {
    constexpr int kVectorsPerRow = kBlockN / kVectorD;
    constexpr int kVectors = kBlockM * kVectorsPerRow;
    constexpr int kStride = kSplitK * kThreads;
    constexpr int kOfAThread = (kVectors + kStride - 1) / kStride;
    constexpr int kFitRegisters = kSplitK * kVectorD < 64 ? 64 / (kSplitK * kVectorD) : 1;  // 64 registers
    constexpr int kAtOnce = kOfAThread < kFitRegisters ? kOfAThread : kFitRegisters;

    unsigned peer[kSplitK];  // sP of each block
#pragma unroll
    for (int s = 0; s < kSplitK; ++s) peer[s] = address_in_block(sP, s);

    cluster_sync();  // all sums are in place
#pragma unroll 1
    for (int first = split * kThreads + threadIdx.x; first < kVectors; first += kAtOnce * kStride) {
        float part[kAtOnce][kSplitK][kVectorD];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int v = first + i * kStride;
            const int row = v / kVectorsPerRow;
            const int column = v % kVectorsPerRow * kVectorD;
            if (v >= kVectors || tile_row + row >= output.m || tile_column + column >= output.n) continue;
#pragma unroll
            for (int s = 0; s < kSplitK; ++s) load_sums(part[i][s], peer[s] + (row * kPitchP + column) * 4);
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int v = first + i * kStride;
            const int row = tile_row + v / kVectorsPerRow;
            const int column = tile_column + v % kVectorsPerRow * kVectorD;
            if (v >= kVectors || row >= output.m || column >= output.n) continue;
#pragma unroll
            for (int s = 1; s < kSplitK; ++s)
#pragma unroll
                for (int e = 0; e < kVectorD; ++e) part[i][0][e] += part[i][s][e];
            store_vector(output, row, column, part[i][0]);
        }
    }
    cluster_sync();  // no block ends while another reads its sums
}
