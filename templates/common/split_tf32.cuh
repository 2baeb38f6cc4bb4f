#pragma once

// Keeps a finite element from being rounded to Inf.
__device__ __forceinline__ float within_range(float x) { return fminf(fmaxf(x, -0x1.ffcp127f), 0x1.ffcp127f); }

__device__ __forceinline__ unsigned round_element(float x) {
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

// The next part of four neighbours: `part` parts were taken before. Leaves the rest in x.
__device__ __forceinline__ uint4 take_part(float* x, int part) {
    unsigned rounded[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        rounded[i] = round_element(part == 0 ? within_range(x[i]) : x[i]);
        x[i] -= __uint_as_float(rounded[i]);
    }
    return make_uint4(rounded[0], rounded[1], rounded[2], rounded[3]);
}

constexpr int kChunkElements = 4;  // of a part, in 16 bytes
