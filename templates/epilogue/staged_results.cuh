#pragma once

// rC -> sC -> gD. A warp finishes kMmaM rows of its tile at a time, and writes them to its own part of shared memory.
// It reads them back as whole vectors of a row: its stores cover runs of kWarpN elements.
struct alignas(kVectorD * sizeof(Staged)) StagedVector {
    Staged element[kVectorD];
};

// Stores a vector of a row of D. Where the right edge cuts it, its elements are stored one by one.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged) {
    if (row >= output.m || column >= output.n) return;
    auto* d = output.d + row * output.ldd + column;
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > output.n) {
#pragma unroll 1
        for (int i = 0; column + i < output.n; ++i) d[i] = staged[i];
        return;
    }
#endif
    *reinterpret_cast<StagedVector*>(d) = *reinterpret_cast<const StagedVector*>(staged);
}
