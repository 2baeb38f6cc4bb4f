#pragma once
#include "common/store_shared.cuh"

// rC -> shared memory -> gD, for rows of D that begin at any multiple of 4 bytes. A quad can't be stored at once there,
// and single elements of quads touch four times the sectors. So each warp writes kLanesM rows of its tile (kWarpM,
// kWarpN) at a time to its own buffer, quad by quad, and stores them with neighbours on neighbouring lanes. The buffer
// lies over the k-tiles, which nobody reads any more. The lane's rC[0][0] is the sum of D's element (first_row,
// first_column).

__device__ __forceinline__ void epilogue(const float (&rC)[kThreadM][kThreadN], const OutputTile& output, int first_row,
                                         int first_column, char* shared_memory) {
#if GEMM_COPY_ASYNC
    asm volatile("cp.async.wait_all;" ::: "memory");  // zeros of the k-tiles beyond the last
#endif
    __syncthreads();
    const int lane = threadIdx.x % 32;
    const int lane_m = lane / (2 * kLanesN) * 2 + lane % 2;
    const int lane_n = lane / 2 % kLanesN;
    const int warp_row = first_row - lane_m * 4;
    const int warp_column = first_column - lane_n * 4;
    float* sD = reinterpret_cast<float*>(shared_memory) + threadIdx.x / 32 * (kLanesM * kPitchD);
    const unsigned quad = static_cast<unsigned>(__cvta_generic_to_shared(sD + lane_m * kPitchD + lane_n * 4));  // bytes
#pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
        for (int j = 0; j < kThreadN; j += 4)
            store_shared(quad + j * kLanesN * 4,
                         make_uint4(__float_as_uint(rC[i][j]), __float_as_uint(rC[i][j + 1]),
                                    __float_as_uint(rC[i][j + 2]), __float_as_uint(rC[i][j + 3])));
        __syncwarp();
        // The row of D in the buffer's first row. The others follow, four apart.
        const int top = warp_row + i / 4 * kLanesM * 4 + i % 4;
#pragma unroll
        for (int j = 0; j < kThreadN; j += kVectorD) {
            const int element = j * 32 + lane * kVectorD;  // of (kLanesM, kWarpN)
            const int row = top + element / kWarpN * 4;
            const int column = warp_column + element % kWarpN;
            if (row < output.m && column < output.n)
                store_vector(output, row, column, sD + element / kWarpN * kPitchD + element % kWarpN);
        }
        __syncwarp();  // all lanes have read these rows
    }
}
