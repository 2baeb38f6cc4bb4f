#pragma once
#include "epilogue/place_of_pair.cuh"
#include "epilogue/store_element.cuh"
#include "epilogue/finish_element.cuh"

// rC -> sC -> gD. A warp writes the sums of kMmaM rows of its tile at a time to its own part of shared memory. It reads
// them back by pairs, finishes these, and stores whole vectors of a row of D.
struct alignas(kVectorD * sizeof(ElementD)) OutputVector {
    ElementD element[kVectorD];
};
#if GEMM_PAIRED_HALVES
#if GEMM_VECTOR_D > 8
struct alignas(16) StagedVector {
#else
struct alignas(kVectorD * sizeof(Staged)) StagedVector {
#endif
    Staged element[kVectorD];
};
#else
struct alignas(kVectorD == 1 ? 8 : 16) StagedVector {
    Staged element[2 * kVectorD];
};
#endif

// Stores a vector of a row of D. The sums of its first element begin at `staged`. Where the right edge cuts it, its
// elements are stored one by one.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged) {
    const int columns = output.n / 2;
    if (row >= output.m || column >= columns) return;
    ElementD* d = output.d + row * output.ldd + column;
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > columns) {
#pragma unroll 1
        for (int i = 0; column + i < columns; ++i) {
            const Staged* const pair = staged + place_of_pair(i);
            store(d + i, finish_element(output, row, column + i, pair[0], pair[kToSecond]));
        }
        return;
    }
#endif
    OutputVector value;
    const StagedVector sums = *reinterpret_cast<const StagedVector*>(staged);
#if GEMM_PAIRED_HALVES
    const StagedVector second = *reinterpret_cast<const StagedVector*>(staged + kToSecond);
#pragma unroll
    for (int i = 0; i < kVectorD; ++i)
        store(&value.element[i], finish_element(output, row, column + i, sums.element[i], second.element[i]));
#else
#pragma unroll
    for (int i = 0; i < kVectorD; ++i)
        store(&value.element[i], finish_element(output, row, column + i, sums.element[2 * i], sums.element[2 * i + 1]));
#endif
    *reinterpret_cast<OutputVector*>(d) = value;
}
