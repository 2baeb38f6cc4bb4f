#pragma once
#if GEMM_WMMA
// rC -> sC -> gD. A warp lays kMmaM rows of its tile at a time into its own strip of shared memory, as sums: which lane holds
// which element of a fragment is known to wmma.store alone. It reads them back as whole vectors of a row, scales and converts
// them, so that its stores (and its reads of C) cover runs of kWarpN elements.
#else
// rC -> sC -> gD. A warp lays kMmaM rows of its tile at a time into its own strip of shared memory and reads them back as
// whole vectors of a row, so that its stores (and its reads of C) cover runs of kWarpN elements.
#endif
struct alignas(kVectorD * sizeof(Staged)) StagedVector {
    Staged element[kVectorD];
};
#if GEMM_STAGED_VECTOR_IS_OUTPUT
using OutputVector = StagedVector;
#else
struct alignas(kVectorD * sizeof(ElementOut)) OutputVector {
    ElementOut element[kVectorD];
};
#endif
#if GEMM_READ_C
struct alignas(kVectorD * sizeof(ElementC)) VectorC {
    ElementC element[kVectorD];
};
#endif

#if GEMM_READ_C
// alpha * sum + beta * C, in f32. C is not read when beta is 0, whatever it holds.
#if GEMM_WMMA
__device__ __forceinline__ float add_c(const OutputTile& output, Staged sum, const ElementC* c) {
    const float scaled = output.alpha * to_float(sum);
#else
__device__ __forceinline__ float add_c(const OutputTile& output, float sum, const ElementC* c) {
    const float scaled = output.alpha * sum;
#endif
    return output.beta != 0.0f ? fmaf(output.beta, c_to_float(*c), scaled) : scaled;
}

#endif
// One vector of one row of D, staged in shared memory; a vector cut by the right edge goes element by element.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged) {
    if (row >= output.m || column >= output.n) return;
    auto* d = output.d + row * output.ldd + column;
#if GEMM_READ_C
    const ElementC* c = output.c + row * output.ldc + column;
#endif
    if (column + kVectorD > output.n) {
        #pragma unroll 1
        for (int i = 0; column + i < output.n; ++i) {
#if GEMM_READ_C
            store(d + i, add_c(output, staged[i], c + i));
#elif GEMM_WMMA
            store(d + i, output.alpha * to_float(staged[i]));
#else
            d[i] = staged[i];
#endif
        }
        return;
    }
#if GEMM_READ_C
    const StagedVector sum = *reinterpret_cast<const StagedVector*>(staged);
    OutputVector value;
    VectorC addend = {};
    if (output.beta != 0.0f) addend = *reinterpret_cast<const VectorC*>(c);
    #pragma unroll
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], add_c(output, sum.element[i], &addend.element[i]));
    *reinterpret_cast<OutputVector*>(d) = value;
#elif GEMM_WMMA
    const StagedVector sum = *reinterpret_cast<const StagedVector*>(staged);
    OutputVector value;
    #pragma unroll
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], output.alpha * to_float(sum.element[i]));
    *reinterpret_cast<OutputVector*>(d) = value;
#else
    *reinterpret_cast<OutputVector*>(d) = *reinterpret_cast<const StagedVector*>(staged);
#endif
}

__device__ __forceinline__ void epilogue(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const OutputTile& output, int warp_row,
                                         int warp_column, char* shared_memory, int warp, int lane) {
    constexpr int kVectorsPerRow = kWarpN / kVectorD;
    constexpr int kVectors       = kMmaM * kVectorsPerRow;
    Staged* sC = reinterpret_cast<Staged*>(shared_memory) + warp * kMmaM * kPitchC;     // (kMmaM, kWarpN), row pitch kPitchC

#if GEMM_COMMIT_GROUPS
    cp_async_wait<0>();
#endif
    __syncthreads();                                            // the mainloop is done with shared memory

    #pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#if GEMM_WMMA
        #pragma unroll
        for (int j = 0; j < kTilesN; ++j) store_fragment(shared_address(sC + j * kMmaN), rC[i][j]);
#else
        #pragma unroll
        for (int half = 0; half < 2; ++half)
            #pragma unroll
            for (int j = 0; j < kTilesN; ++j) {
                Staged* target   = sC + (lane / 4 + half * 8) * kPitchC + j * kMmaN + lane % 4 * 2;
                const float2 sum = accumulator_pair(rC[i][j], half);
#if GEMM_STAGED_F32
#if GEMM_READ_C
                *reinterpret_cast<float2*>(target) = sum;
#else
                *reinterpret_cast<float2*>(target) = make_float2(output.alpha * sum.x, output.alpha * sum.y);
#endif
#else
                *reinterpret_cast<unsigned*>(target) = pack_d(output.alpha * sum.x, output.alpha * sum.y);
#endif
            }
#endif
        __syncwarp();
        #pragma unroll 4
        for (int v = lane; v < (kVectors + 31) / 32 * 32; v += 32) {
            if (kVectors % 32 != 0 && v >= kVectors) break;
            const int row    = v / kVectorsPerRow;
            const int column = v % kVectorsPerRow * kVectorD;
            store_vector(output, warp_row + i * kMmaM + row, warp_column + column, sC + row * kPitchC + column);
        }
        __syncwarp();                                           // read before the next rows overwrite it
    }
}
