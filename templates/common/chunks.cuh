#pragma once

// Reads a matrix that is aligned to one element only (an odd leading dimension). cp.async and wide loads can't do that.
// A vector of 16 bytes lies in two aligned chunks of 16 bytes. Both are loaded whole, and shifted together in
// registers. Near the ends of the matrix a chunk may jut out: there the elements are read one by one.
struct RawVector {
    uint4 low, high;  // the aligned chunk where the vector starts, and the next chunk
};

// Bytes from the start of that chunk to the vector.
__device__ __forceinline__ unsigned misalignment_of(const void* vector) {
    return static_cast<unsigned>(reinterpret_cast<unsigned long long>(vector)) & 15u;
}

// The part of a matrix where vectors may be read in whole chunks.
struct WholeChunks {
    unsigned long long first, last;  // addresses of the first and the last chunk a vector may start in

    __device__ __forceinline__ WholeChunks(const void* matrix, const void* end) {
        first = (reinterpret_cast<unsigned long long>(matrix) + 15) & ~15ull;
        last = reinterpret_cast<unsigned long long>(end) - 32;
    }

    __device__ __forceinline__ bool contain(const void* vector) const {
        const unsigned long long chunk = reinterpret_cast<unsigned long long>(vector) & ~15ull;
        return chunk >= first && chunk <= last;
    }
};

// The chunks of a vector. Out of range, it reads nothing and returns zeros.
__device__ __forceinline__ RawVector load_raw(const void* vector, bool in_range) {
    const uint4* chunk = reinterpret_cast<const uint4*>(reinterpret_cast<unsigned long long>(vector) & ~15ull);
    RawVector raw = {};
    if (in_range) raw = {chunk[0], chunk[1]};
    return raw;
}

// Shifts the vector out of its two chunks: a barrel shifter of 8, 4 and fewer bytes. It is written out because a kernel
// calls it often: loops over words would cost NVRTC a quarter of its time.
template <typename Element>
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

    constexpr unsigned kWithinWord = 4 - sizeof(Element);  // those bits of the misalignment that an element can have
    const unsigned bits = (misalignment & kWithinWord) * 8;
    return make_uint4(__funnelshift_r(v0, v1, bits), __funnelshift_r(v1, v2, bits), __funnelshift_r(v2, v3, bits),
                      __funnelshift_r(v3, v4, bits));
}
