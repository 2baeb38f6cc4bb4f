#pragma once
constexpr int kPartChunks = kPartBytes / 16;
constexpr int kGroupChunks = kParts * kPartChunks;
GEMM_STAGED_CHUNKS();

constexpr int kSplitWarps = kPackThreads / 32;
#if GEMM_PARTS_SCALED && GEMM_SPLIT_ROWS

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
#if GEMM_SPLIT_ROWS

// GEMM_LONG_LINES();
struct SplitRows {
    const float* matrix;
    long long ld;
    int lines, k;
    uint4* parts;
    GEMM_FACTORS_OF_LINES();

    __device__ __forceinline__ bool has_long_lines() const { return k > 1024; }
    // Units of work. A block splits one at a time.
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
            GEMM_SCALE_ELEMENTS();
            uint4* chunks = target + first / 32 * kGroupChunks + first % 32 / kChunkElements;
#pragma unroll
            for (int part = 0; part < kParts; ++part)
#pragma unroll
                GEMM_STORE_CHUNKS();
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
    GEMM_FACTORS_OF_LINES();

    // Lines of a strip. Few lines have narrow strips, so that all SMs have some.
    __device__ __forceinline__ unsigned width() const { return lines > 2048 ? 32 : 8; }
    // Units of work. A block splits one at a time.
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
        // GEMM_STAGED_ROWS();
        __shared__ uint4 staged[kSplitWarps][32][kStagedChunks + 1];
        GEMM_LARGEST_OF_THREADS();
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
            GEMM_SCALE_ELEMENTS();
#pragma unroll
            for (int chunk = 0; chunk < kGroupChunks; chunk += kStagedChunks) {
                __syncwarp();
#pragma unroll
                GEMM_STAGE_CHUNKS();
                __syncwarp();
                GEMM_UNROLL_STORES();
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
GEMM_SPLITTING_KERNEL() {
    GEMM_LAUNCH_ORDER();
    GEMM_SPLITS();
#pragma unroll 1
    for (unsigned unit = blockIdx.x; unit < units; unit += gridDim.x) {
        GEMM_SPLIT_UNIT();
    }
}
