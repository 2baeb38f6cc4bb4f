#pragma once
// rC -> sC -> gD. A warp lays kMmaM rows of its tile at a time into its own strip of shared memory and reads them back as
// whole vectors of a row, so that its stores (and its reads of C) cover runs of kWarpN elements.
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

// One vector of one row of D; a vector cut by the right edge goes element by element.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const StagedVector& staged) {
    if (row >= output.m || column >= output.n) return;
    auto* d          = output.d + row * output.ldd + column;
    const bool whole = column + kVectorD <= output.n;
#if GEMM_READ_C
    OutputVector value;
    VectorC c = {};
    if (output.beta != 0.0f) {
        const ElementC* source = output.c + row * output.ldc + column;
        if (whole) {
            c = *reinterpret_cast<const VectorC*>(source);
        } else {
            #pragma unroll
            for (int i = 0; i < kVectorD; ++i)
                if (column + i < output.n) c.element[i] = source[i];
        }
    }
    #pragma unroll
    for (int i = 0; i < kVectorD; ++i) {
        const float sum = output.alpha * staged.element[i];
        store(&value.element[i], output.beta != 0.0f ? fmaf(output.beta, c_to_float(c.element[i]), sum) : sum);
    }
#else
    const OutputVector& value = staged;
#endif
    if (whole) {
        *reinterpret_cast<OutputVector*>(d) = value;
    } else {
        #pragma unroll
        for (int i = 0; i < kVectorD; ++i)
            if (column + i < output.n) d[i] = value.element[i];
    }
}

__device__ __forceinline__ void epilogue(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const OutputTile& output, int warp_row,
                                         int warp_column, char* shared_memory, int warp, int lane) {
    constexpr int kVectorsPerRow = kWarpN / kVectorD;
    constexpr int kVectors       = kMmaM * kVectorsPerRow;
    Staged* sC = reinterpret_cast<Staged*>(shared_memory) + warp * kMmaM * kPitchC;     // (kMmaM, kWarpN), row pitch kPitchC

    cp_async_wait<0>();
    __syncthreads();                                            // the mainloop is done with shared memory

    #pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
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
        __syncwarp();
        #pragma unroll
        for (int v = lane; v < (kVectors + 31) / 32 * 32; v += 32) {
            if (kVectors % 32 != 0 && v >= kVectors) break;
            const int row    = v / kVectorsPerRow;
            const int column = v % kVectorsPerRow * kVectorD;
            store_vector(output, warp_row + i * kMmaM + row, warp_column + column,
                         *reinterpret_cast<const StagedVector*>(sC + row * kPitchC + column));
        }
        __syncwarp();                                           // read before the next rows overwrite it
    }
}
