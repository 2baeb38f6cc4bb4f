#pragma once
// rC -> sC -> gD. A warp lays kMmaM rows of its tile at a time into its own part of shared memory, scaled and converted, and
// reads them back as whole vectors of a row: its stores cover runs of kWarpN elements.
struct alignas(kVectorD * sizeof(Staged)) StagedVector {
    Staged element[kVectorD];
};

// A vector of a row of D. One that the right edge cuts goes element by element.
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
