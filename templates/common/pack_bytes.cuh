#pragma once

// First entry: operands too little aligned for TMA are moved into the workspace, their rows padded. It costs a pass
// over the operand, and pays where each element is used often.

// The chunks of 16 bytes in which 16 neighbours lie: the aligned chunk where they start, and the next one.
struct RawVector {
    uint4 low, high;
};

// Shifts the neighbours out of their two chunks: by 8 bytes, by 4 and by less.
__device__ __forceinline__ uint4 realign(const RawVector& raw, unsigned misalignment) {
    const bool by8 = misalignment & 8;
    const unsigned w0 = by8 ? raw.low.z : raw.low.x;
    const unsigned w1 = by8 ? raw.low.w : raw.low.y;
    const unsigned w2 = by8 ? raw.high.x : raw.low.z;
    const unsigned w3 = by8 ? raw.high.y : raw.low.w;
    const unsigned w4 = by8 ? raw.high.z : raw.high.x;
    const unsigned w5 = by8 ? raw.high.w : raw.high.y;

    const bool by4 = misalignment & 4;
    const unsigned v0 = by4 ? w1 : w0;
    const unsigned v1 = by4 ? w2 : w1;
    const unsigned v2 = by4 ? w3 : w2;
    const unsigned v3 = by4 ? w4 : w3;
    const unsigned v4 = by4 ? w5 : w4;

    const unsigned bits = (misalignment & 3) * 8;
    return make_uint4(__funnelshift_r(v0, v1, bits), __funnelshift_r(v1, v2, bits), __funnelshift_r(v2, v3, bits),
                      __funnelshift_r(v3, v4, bits));
}

// A matrix (rows, columns) of bytes with pitch ld, and its copy. A thread moves 16 bytes at a time.
struct Packing {
    const Byte* matrix;
    long long ld;
    int rows, columns;
    Byte* packed;

    __device__ __forceinline__ unsigned vectors_per_row() const { return (columns + 15u) / 16; }
    __device__ __forceinline__ unsigned vectors() const { return rows * vectors_per_row(); }

    // Bytes from `source` on, zeros from `count` on. Both chunks are read whole where they lie in the matrix.
    __device__ __forceinline__ uint4 load(const Byte* source, int count) const {
        const unsigned long long address = reinterpret_cast<unsigned long long>(source);
        const unsigned long long begin = reinterpret_cast<unsigned long long>(matrix);
        const unsigned long long end = reinterpret_cast<unsigned long long>(matrix + (rows - 1) * ld + columns);
        const unsigned long long chunk = address & ~15ull;
        unsigned words[4] = {};
        if (count >= 16 && chunk >= begin && chunk + 32 <= end) {
            const uint4* chunks = reinterpret_cast<const uint4*>(chunk);
            return realign({chunks[0], chunks[1]}, static_cast<unsigned>(address) & 15);
        }
#pragma unroll
        for (int i = 0; i < 16; ++i)
            if (i < count) words[i / 4] |= static_cast<unsigned>(source[i]) << i % 4 * 8;
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    __device__ __forceinline__ void move(unsigned vector) const {
        const unsigned per_row = vectors_per_row();
        const int row = vector / per_row;
        const int column = vector % per_row * 16;
        *reinterpret_cast<uint4*>(packed + row * packed_pitch(columns) + column) =
            load(matrix + row * ld + column, columns - column);
    }
};

// There are fewer than 2^32 - 2^24 vectors and at most 2^24 threads, so `vector += step` never wraps.
extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_pack(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    GEMM_PACKINGS();
#pragma unroll 1
    for (unsigned v = blockIdx.x * kPackThreads + threadIdx.x; v < vectors; v += gridDim.x * kPackThreads) {
        GEMM_MOVE_VECTOR();
    }
}
