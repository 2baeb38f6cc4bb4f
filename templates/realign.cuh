#pragma once
// Reading what is aligned to one element only (odd leading dimensions): too little for cp.async and for wide loads. A vector of
// 16 bytes that starts anywhere lies in two aligned chunks; both are loaded whole and shifted together in registers.
struct RawVector {
    uint4 low, high;                // the aligned chunk the vector starts in, and the one behind it
};

// Loads one aligned chunk of which only the bytes in [begin, end) may be touched.
__device__ __forceinline__ uint4 load_chunk_at_edge(const char* chunk, const char* begin, const char* end) {
    unsigned words[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        const char* half[2] = {chunk + 4 * i, chunk + 4 * i + 2};
        unsigned element[2];
        #pragma unroll
        for (int h = 0; h < 2; ++h)
            element[h] = half[h] >= begin && half[h] < end ? *reinterpret_cast<const Bits*>(half[h]) : 0;
        words[i] = element[0] | element[1] << 16;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ RawVector load_raw(const Bits* source, const char* begin, const char* end) {
    const char* chunk = reinterpret_cast<const char*>(reinterpret_cast<unsigned long long>(source) & ~15ull);
    if (chunk >= begin && chunk + 32 <= end)
        return {*reinterpret_cast<const uint4*>(chunk), *reinterpret_cast<const uint4*>(chunk + 16)};
    return {load_chunk_at_edge(chunk, begin, end), load_chunk_at_edge(chunk + 16, begin, end)};
}

// The 16 bytes at `source` out of the two chunks they lie in: a barrel shifter of 8, 4 and 2 bytes.
__device__ __forceinline__ uint4 realign(const RawVector& raw, const Bits* source) {
    const unsigned misalignment = static_cast<unsigned>(reinterpret_cast<unsigned long long>(source)) & 15u;
    const unsigned w[8] = {raw.low.x, raw.low.y, raw.low.z, raw.low.w, raw.high.x, raw.high.y, raw.high.z, raw.high.w};
    unsigned by8[6], by4[5], by2[4];
    #pragma unroll
    for (int i = 0; i < 6; ++i) by8[i] = misalignment & 8 ? w[i + 2] : w[i];
    #pragma unroll
    for (int i = 0; i < 5; ++i) by4[i] = misalignment & 4 ? by8[i + 1] : by8[i];
    #pragma unroll
    for (int i = 0; i < 4; ++i) by2[i] = __funnelshift_r(by4[i], by4[i + 1], (misalignment & 2) * 8);
    return make_uint4(by2[0], by2[1], by2[2], by2[3]);
}

#if GEMM_KEEP_FIRST
// Keeps the first `elements` of eight, zeros the rest: the end of K, where whatever lies behind must not count.
__device__ __forceinline__ uint4 keep_first(const uint4& value, int elements) {
    unsigned w[4] = {value.x, value.y, value.z, value.w};
    #pragma unroll
    for (int i = 0; i < 4; ++i)
        w[i] = elements >= 2 * i + 2 ? w[i] : elements == 2 * i + 1 ? w[i] & 0xffffu : 0;
    return make_uint4(w[0], w[1], w[2], w[3]);
}
#endif
