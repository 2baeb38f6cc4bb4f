#pragma once
#include "epilogue/accumulator_pair.cuh"

// rC -> sP. A warp writes eight rows at once: eight elements of padding put them into different banks.
constexpr int kPitchP = kBlockN + 8;

__device__ __forceinline__ void lay_out_sums(const Accumulator (&rC)[kTilesM][kTilesN][kRegistersC],
                                             char* shared_memory, int warp_row, int warp_column, int lane) {
    float* sP = reinterpret_cast<float*>(shared_memory) + (warp_row + lane / 4) * kPitchP + warp_column + lane % 4 * 2;
#if GEMM_COPY_ASYNC
    cp_async_wait<0>();
#endif
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
