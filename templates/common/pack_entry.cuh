#pragma once

// First entry: operands are copied into the workspace.
//
// A thread moves one vector (or one block of a transposed operand) after the other, a grid's stride apart. There are
// fewer than 2^32 - 2^24 of them and at most 2^24 threads, so `v` never wraps.
GEMM_PACKING_KERNEL() {
    GEMM_LAUNCH_ORDER();
    GEMM_PACKINGS();
#pragma unroll 1
    for (unsigned v = blockIdx.x * kPackThreads + threadIdx.x; v < vectors; v += gridDim.x * kPackThreads) {
        GEMM_MOVE_VECTOR();
    }
}
