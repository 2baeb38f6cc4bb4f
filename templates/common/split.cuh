#pragma once

#if GEMM_PARTS_SCALED
// f32 operands in parts. A line is a row of A or a column of B. Each line is multiplied with a power of two, after
// which its largest element lies between 2^14 and 2^15. Then each element is the sum of an upper part, which is the
// element rounded to 16 bits, and a lower part, which is the rest rounded to 16 bits.
#elif GEMM_PARTS_TF32
// f32 operands in parts. A line is a row of A or a column of B. Each element is the sum of two parts of tf32: the
// element rounded, and the rest rounded.
#else
// f32 operands in parts. A line is a row of A or a column of B. Each element is the sum of three parts of bf16: the
// element rounded, the rest rounded, and what is left, which bf16 holds.
#endif
//
#if GEMM_SPLIT_A || GEMM_SPLIT_B
// The workspace holds, each on a 256-byte boundary:
#endif
#if GEMM_SPLIT_A
// - A in parts: (m, groups of 32 of K), a group's first parts first. What lies beyond K is zero.
#if GEMM_PARTS_SCALED
// - two factors for each row of A, whose product undoes its power of two
#endif
#endif
#if GEMM_SPLIT_B
// - B in parts: (n, groups of 32 of K), a group's first parts first. What lies beyond K is zero.
#if GEMM_PARTS_SCALED
// - two factors for each column of B, whose product undoes its power of two
#endif
#endif
#if GEMM_TAKE_A
// An earlier kernel has written A in parts to args.prepared_a: (m, groups of 32 of K), a group's first parts first.
#if GEMM_PARTS_SCALED
// Behind them, on a 256-byte boundary, lie two factors for each row, whose product undoes its power of two.
#endif
#endif
#if GEMM_TAKE_B
// An earlier kernel has written B in parts to args.prepared_b: (n, groups of 32 of K), a group's first parts first.
#if GEMM_PARTS_SCALED
// Behind them, on a 256-byte boundary, lie two factors for each column, whose product undoes its power of two.
#endif
#endif
#if GEMM_PARTS_SCALED || GEMM_SPLIT_A || GEMM_SPLIT_B
__device__ __forceinline__ int groups_of(int k) { return max(1, static_cast<int>((k + 31ll) / 32)); }
#endif
#if GEMM_PARTS_SCALED || GEMM_SPLIT_A && GEMM_SPLIT_B || (GEMM_SPLIT_A || GEMM_SPLIT_B) && GEMM_STREAM_K
__device__ __forceinline__ long long bytes_of_parts(int lines, int k) {
    return (lines * (groups_of(k) * static_cast<long long>(kParts * kPartBytes)) + 255) / 256 * 256;
}
#endif
#if GEMM_PARTS_SCALED
#if GEMM_SPLIT_A && GEMM_SPLIT_B || (GEMM_SPLIT_A || GEMM_SPLIT_B) && GEMM_STREAM_K
__device__ __forceinline__ long long bytes_of_factors(int lines) { return (lines * 8ll + 255) / 256 * 256; }
#endif

#if GEMM_SPLIT_A
__device__ __forceinline__ uint4* parts_a(const GemmArgs& args) { return reinterpret_cast<uint4*>(args.workspace); }
__device__ __forceinline__ float2* factors_a(const GemmArgs& args) {
    return reinterpret_cast<float2*>(args.workspace + bytes_of_parts(args.m, args.k));
}
#elif GEMM_TAKE_A
__device__ __forceinline__ const float2* factors_a(const GemmArgs& args) {
    return reinterpret_cast<const float2*>(args.prepared_a + bytes_of_parts(args.m, args.k));
}
#endif
#if GEMM_SPLIT_A && GEMM_SPLIT_B
__device__ __forceinline__ uint4* parts_b(const GemmArgs& args) {
    return reinterpret_cast<uint4*>(reinterpret_cast<char*>(factors_a(args)) + bytes_of_factors(args.m));
}
#elif GEMM_SPLIT_B
__device__ __forceinline__ uint4* parts_b(const GemmArgs& args) { return reinterpret_cast<uint4*>(args.workspace); }
#endif
#if GEMM_SPLIT_B
__device__ __forceinline__ float2* factors_b(const GemmArgs& args) {
    return reinterpret_cast<float2*>(reinterpret_cast<char*>(parts_b(args)) + bytes_of_parts(args.n, args.k));
}
#elif GEMM_TAKE_B
__device__ __forceinline__ const float2* factors_b(const GemmArgs& args) {
    return reinterpret_cast<const float2*>(args.prepared_b + bytes_of_parts(args.n, args.k));
}
#endif
#if GEMM_STREAM_K
__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) {
#if GEMM_SPLIT_B
    return reinterpret_cast<char*>(factors_b(args)) + bytes_of_factors(args.n);
#elif GEMM_SPLIT_A
    return reinterpret_cast<char*>(factors_a(args)) + bytes_of_factors(args.m);
#else
    return args.workspace;
#endif
}
#endif
#else

#if GEMM_SPLIT_A
__device__ __forceinline__ uint4* parts_a(const GemmArgs& args) { return reinterpret_cast<uint4*>(args.workspace); }
#endif
#if GEMM_SPLIT_A && GEMM_SPLIT_B
__device__ __forceinline__ uint4* parts_b(const GemmArgs& args) {
    return reinterpret_cast<uint4*>(args.workspace + bytes_of_parts(args.m, args.k));
}
#elif GEMM_SPLIT_B
__device__ __forceinline__ uint4* parts_b(const GemmArgs& args) { return reinterpret_cast<uint4*>(args.workspace); }
#endif
#if GEMM_STREAM_K
__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) {
#if GEMM_SPLIT_B
    return reinterpret_cast<char*>(parts_b(args)) + bytes_of_parts(args.n, args.k);
#elif GEMM_SPLIT_A
    return args.workspace + bytes_of_parts(args.m, args.k);
#else
    return args.workspace;
#endif
}
#endif
#endif
#if GEMM_SPLIT_A || GEMM_SPLIT_B
#if GEMM_PARTS_SCALED

// 2^exponent, for exponents from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
    return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}

// The power of two of a line, as two factors: f32 may not hold their product.
struct LineScale {
    float first, second;
    float2 inverse;

    // `largest` is the largest element without its sign, as bits. A line of zeros, of Inf or of NaN has the factor 1.
    __device__ __forceinline__ explicit LineScale(unsigned largest) {
        int exponent = 0;
        if (largest != 0 && largest < 0x7f800000) {
            const int of_subnormal = 31 - __clz(static_cast<int>(largest)) - 149;
            exponent = 14 - (largest < 0x800000 ? of_subnormal : static_cast<int>(largest >> 23) - 127);
        }
        const int half = exponent >> 1;
        first = power_of_two(half);
        second = power_of_two(exponent - half);
        inverse = make_float2(power_of_two(-half), power_of_two(half - exponent));
    }

    template <int kCount>
    __device__ __forceinline__ void apply(float (&x)[kCount]) const {
#pragma unroll
        for (int i = 0; i < kCount; ++i) x[i] = x[i] * first * second;
    }
};

__device__ __forceinline__ unsigned without_sign(float x) { return __float_as_uint(x) & 0x7fffffff; }

#else

// Keeps a finite element from being rounded to Inf.
#if GEMM_PARTS_TF32
__device__ __forceinline__ float within_range(float x) { return fminf(fmaxf(x, -0x1.ffcp127f), 0x1.ffcp127f); }
#else
__device__ __forceinline__ float within_range(float x) { return fminf(fmaxf(x, -0x1.fep127f), 0x1.fep127f); }
#endif
#endif
#if GEMM_PARTS_TF32

__device__ __forceinline__ unsigned round_element(float x) {
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

// The next part of four neighbours, of which `part` have been taken. Leaves the rest in x.
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
#else

// Two neighbours as they lie in memory, rounded to 16 bits: `low` first.
__device__ __forceinline__ unsigned round_pair(float low, float high) {
    unsigned pair;
#if GEMM_PARTS_F16
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
    return pair;
}

__device__ __forceinline__ float2 pair_to_floats(unsigned pair) {
#if GEMM_PARTS_F16
    float low, high;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(low), "=f"(high)
        : "r"(pair));
    return make_float2(low, high);
#else
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000));
#endif
}

#if GEMM_PARTS_SCALED
// The next part of eight neighbours. Leaves the rest in x.
__device__ __forceinline__ uint4 take_part(float* x) {
#else
// The next part of eight neighbours, of which `part` have been taken. Leaves the rest in x.
__device__ __forceinline__ uint4 take_part(float* x, int part) {
#endif
    unsigned rounded[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float& low = x[2 * i];
        float& high = x[2 * i + 1];
#if GEMM_PARTS_SCALED
        rounded[i] = round_pair(low, high);
#else
        rounded[i] = part == 0 ? round_pair(within_range(low), within_range(high)) : round_pair(low, high);
#endif
        const float2 pair = pair_to_floats(rounded[i]);
        low -= pair.x;
        high -= pair.y;
    }
    return make_uint4(rounded[0], rounded[1], rounded[2], rounded[3]);
}

constexpr int kChunkElements = 8;  // of a part, in 16 bytes
#endif
constexpr int kPartChunks = kPartBytes / 16;
constexpr int kGroupChunks = kParts * kPartChunks;
#if GEMM_SPLIT_COLUMNS
#if GEMM_PARTS_SCALED
constexpr int kStagedChunks = kGroupChunks;  // of a group, on their way to memory
#else
constexpr int kStagedChunks = kPartChunks;  // of a group, on their way to memory
#endif
#endif

constexpr int kSplitWarps = kPackThreads / 32;
#if GEMM_SPLIT_ROWS
#if GEMM_PARTS_SCALED

// The largest of what the warps of the block have, and each warp's threads agree on.
__device__ __forceinline__ unsigned largest_of_block(unsigned largest) {
    __shared__ unsigned of_warps[kSplitWarps];
    __syncthreads();  // all have read the previous line's
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = largest;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSplitWarps; ++i) largest = max(largest, of_warps[i]);
    return largest;
}
#endif

#if GEMM_PARTS_SCALED
// An operand in memory, (lines, k) with pitch ld. A warp splits a short line, and a block a long one: the second pass
// over a line then finds it in L1.
#else
// An operand in memory, (lines, k) with pitch ld. A warp splits a short line, and a block a long one.
#endif
struct SplitRows {
    const float* matrix;
    long long ld;
    int lines, k;
    uint4* parts;
#if GEMM_PARTS_SCALED
    float2* factors;
#endif

    __device__ __forceinline__ bool has_long_lines() const { return k > 1024; }
    // What a block splits at a time.
    __device__ __forceinline__ unsigned units() const {
        return has_long_lines() ? lines : (lines + (kSplitWarps - 1u)) / kSplitWarps;
    }

    // Eight neighbours. What lies beyond K is zero.
    __device__ __forceinline__ void load_eight(float* x, const float* line, int first, bool is_aligned) const {
        if (is_aligned && first + 8 <= k) {
            const float4 low = *reinterpret_cast<const float4*>(line + first);
            const float4 high = *reinterpret_cast<const float4*>(line + first + 4);
            x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
            x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
        } else {
#pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = first + i < k ? line[first + i] : 0.0f;
        }
    }

    __device__ __forceinline__ void split(unsigned unit) const {
        const bool is_long = has_long_lines();
        const unsigned row = is_long ? unit : unit * kSplitWarps + threadIdx.x / 32;
        if (row >= lines) return;
        const int begin = (is_long ? threadIdx.x : threadIdx.x % 32) * 8, step = is_long ? kPackThreads * 8 : 256;
        const float* line = matrix + row * ld;
        const bool is_aligned = reinterpret_cast<unsigned long long>(line) % 16 == 0;
#if GEMM_PARTS_SCALED
        unsigned largest = 0;
#pragma unroll 4
        for (int first = begin; first < k; first += step) {
            float x[8];
            load_eight(x, line, first, is_aligned);
#pragma unroll
            for (int i = 0; i < 8; ++i) largest = max(largest, without_sign(x[i]));
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            largest = max(largest, __shfl_xor_sync(0xffffffff, largest, distance));
        if (is_long) largest = largest_of_block(largest);
        const LineScale scale(largest);
        if (begin == 0) factors[row] = scale.inverse;
#endif
        const int groups = groups_of(k);
        uint4* target = parts + row * (groups * static_cast<long long>(kGroupChunks));
#pragma unroll 4
        for (int first = begin; first < groups * 32; first += step) {
            float x[8];
            load_eight(x, line, first, is_aligned);
#if GEMM_PARTS_SCALED
            scale.apply(x);
#endif
            uint4* chunks = target + first / 32 * kGroupChunks + first % 32 / kChunkElements;
#pragma unroll
            for (int part = 0; part < kParts; ++part)
#pragma unroll
                for (int i = 0; i < 8 / kChunkElements; ++i)
#if GEMM_PARTS_SCALED
                    chunks[part * kPartChunks + i] = take_part(x + i * kChunkElements);
#else
                    chunks[part * kPartChunks + i] = take_part(x + i * kChunkElements, part);
#endif
        }
    }
};
#endif
#if GEMM_SPLIT_COLUMNS

// An operand in memory, (k, lines) with pitch ld. A block splits a strip of lines. A thread has one line's groups of K:
// those of a warp are of `width` neighbouring lines, and of 32 / width groups.
struct SplitColumns {
    const float* matrix;
    long long ld;
    int lines, k;
    uint4* parts;
#if GEMM_PARTS_SCALED
    float2* factors;
#endif

    // Lines of a strip. Few lines have narrow strips, so that all SMs have some.
    __device__ __forceinline__ unsigned width() const { return lines > 2048 ? 32 : 8; }
    // What a block splits at a time.
    __device__ __forceinline__ unsigned units() const { return (lines + (width() - 1)) / width(); }

    // The 32 elements of a group. What lies beyond K is zero.
    __device__ __forceinline__ void load_group(float (&x)[32], const float* line, int group) const {
        const float* source = line + group * 32 * ld;
        const int left = k - group * 32;
        if (left >= 32) {
#pragma unroll
            for (int i = 0; i < 32; ++i, source += ld) x[i] = *source;
        } else {
#pragma unroll
            for (int i = 0; i < 32; ++i, source += ld) x[i] = i < left ? *source : 0.0f;
        }
    }

    __device__ __forceinline__ void split(unsigned unit) const {
#if GEMM_PARTS_SCALED
        // Groups on their way to memory: rows of 128 bytes, and 16 more that spread them over banks.
#else
        // Parts of groups on their way to memory, and 16 bytes more in each row that spread them over banks.
#endif
        __shared__ uint4 staged[kSplitWarps][32][kStagedChunks + 1];
#if GEMM_PARTS_SCALED
        __shared__ unsigned largest_of[kPackThreads];
#endif
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int strip = width(), groups_at_once = 32 / strip;
        const unsigned column = unit * strip + lane % strip;
        const float* line = matrix + min(column, lines - 1u);
        const int groups = groups_of(k);
        const int begin = warp * groups_at_once, step = kSplitWarps * groups_at_once;
#if GEMM_PARTS_SCALED
        unsigned largest = 0;
#pragma unroll 1
        for (int first = begin; first < groups; first += step) {
            float x[32];
            load_group(x, line, first + lane / strip);
#pragma unroll
            for (int i = 0; i < 32; ++i) largest = max(largest, without_sign(x[i]));
        }
        __syncthreads();  // the previous strip's have been read
        largest_of[threadIdx.x] = largest;
        __syncthreads();
#pragma unroll 1
        for (int i = lane % strip; i < kPackThreads; i += strip) largest = max(largest, largest_of[i]);
        const LineScale scale(largest);
        if (threadIdx.x < strip && column < lines) factors[column] = scale.inverse;
#endif
#pragma unroll 1
        for (int first = begin; first < groups; first += step) {
            float x[32];
            load_group(x, line, first + lane / strip);
#if GEMM_PARTS_SCALED
            scale.apply(x);
#endif
#pragma unroll
            for (int chunk = 0; chunk < kGroupChunks; chunk += kStagedChunks) {
                __syncwarp();
#pragma unroll
                for (int i = 0; i < kStagedChunks; ++i)
#if GEMM_PARTS_SCALED
                    staged[warp][lane][i] = take_part(x + i % kPartChunks * kChunkElements);
#else
                    staged[warp][lane][i] = take_part(x + i * kChunkElements, chunk);
#endif
                __syncwarp();
#if GEMM_PARTS_TF32
#pragma unroll 4
#else
#pragma unroll
#endif
                for (int i = 0; i < kStagedChunks; ++i) {
                    const int row = (i * 32 + lane) / kStagedChunks, from = lane % kStagedChunks;
                    const unsigned target = unit * strip + row % strip;
                    const int group = first + row / strip;
                    if (target < lines && group < groups)
                        parts[(target * static_cast<long long>(groups) + group) * kGroupChunks + chunk + from] =
                            staged[warp][row][from];
                }
            }
        }
    }
};
#endif

// First entry: operands are split.
#if GEMM_BATCHED && GEMM_PARTS_SCALED
extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_split(const __grid_constant__ BatchArgs batch) {
#elif GEMM_BATCHED
extern "C" __global__ void __launch_bounds__(kPackThreads, 2) gemm_split(const __grid_constant__ BatchArgs batch) {
#elif GEMM_PARTS_SCALED
extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_split(const GemmArgs args) {
#else
extern "C" __global__ void __launch_bounds__(kPackThreads, 2) gemm_split(const GemmArgs args) {
#endif
#if GEMM_BATCHED
    GemmArgs args(batch);
#endif
    GEMM_LAUNCH_ORDER();
    GEMM_SPLITS();
#pragma unroll 1
    for (unsigned unit = blockIdx.x; unit < units; unit += gridDim.x) {
        GEMM_SPLIT_UNIT();
    }
}
#endif
