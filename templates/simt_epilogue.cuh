#pragma once
// rC -> gD, straight from the registers: a thread holds quads of four neighbours of a row, and the quads of a warp's lanes lie
// side by side.
struct alignas(kVectorD * sizeof(ElementOut)) OutputVector {
    ElementOut element[kVectorD];
};
#if GEMM_READ_C
struct alignas(kVectorD * sizeof(ElementC)) VectorC {
    ElementC element[kVectorD];
};
#endif

// kVectorD elements of a row of D; a vector cut by the right edge goes element by element.
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const float* sum) {
    ElementOut* d = output.d + row * output.ldd + column;
#if GEMM_READ_C
    const ElementC* c = output.c + row * output.ldc + column;
#endif
    if (column + kVectorD > output.n) {
        #pragma unroll
        for (int i = 0; i < kVectorD; ++i) {
            if (column + i >= output.n) break;
            float value = output.alpha * sum[i];
#if GEMM_READ_C
            if (output.beta != 0.0f) value = fmaf(output.beta, c_to_float(c[i]), value);
#endif
            store(d + i, value);
        }
        return;
    }
#if GEMM_READ_C
    VectorC addend = {};
    if (output.beta != 0.0f) addend = *reinterpret_cast<const VectorC*>(c);
#endif
    OutputVector vector;
    #pragma unroll
    for (int i = 0; i < kVectorD; ++i) {
        float value = output.alpha * sum[i];
#if GEMM_READ_C
        if (output.beta != 0.0f) value = fmaf(output.beta, c_to_float(addend.element[i]), value);
#endif
        store(&vector.element[i], value);
    }
    *reinterpret_cast<OutputVector*>(d) = vector;
}

// (first_row, first_column) is D's element of rC[0][0].
__device__ __forceinline__ void epilogue(const float (&rC)[kThreadM][kThreadN], const OutputTile& output, int first_row, int first_column) {
    #pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
        const int row = first_row + i / 4 * kLanesM * 4 + i % 4;
        if (row >= output.m) continue;
        #pragma unroll
        for (int j = 0; j < kThreadN; j += kVectorD) {
            const int column = first_column + j / 4 * kLanesN * 4 + j % 4;
            if (column < output.n) store_vector(output, row, column, &rC[i][j]);
        }
    }
}
