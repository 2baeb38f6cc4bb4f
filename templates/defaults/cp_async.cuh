#pragma once
// Defaults, so that a template compiles alone. A rendering puts the forms of cp.async it uses here.
#if GEMM_CACHE_ALL
#define GEMM_CP_ASYNC_16 "cp.async.ca.shared.global"
#else
#define GEMM_CP_ASYNC_16 "cp.async.cg.shared.global"
#endif
#if GEMM_L2_PREFETCH == 256
#define GEMM_CP_ASYNC_PREFETCH ".L2::256B"
#elif GEMM_L2_PREFETCH == 128
#define GEMM_CP_ASYNC_PREFETCH ".L2::128B"
#elif GEMM_L2_PREFETCH == 64
#define GEMM_CP_ASYNC_PREFETCH ".L2::64B"
#else
#define GEMM_CP_ASYNC_PREFETCH ""
#endif

template <int kVectorBytes>
__device__ __forceinline__ void cp_async(unsigned destination, const Bits* source, bool in_range, bool skip) {
    if constexpr (kVectorBytes == 16)
        asm volatile(
            "{ .reg .pred ignore, skip; setp.eq.s32 ignore, %2, 0; setp.ne.s32 skip, %3, 0;"
            " @!skip " GEMM_CP_ASYNC_16 GEMM_CP_ASYNC_PREFETCH " [%0], [%1], %4, ignore; }" ::"r"(destination),
            "l"(source), "r"(static_cast<int>(in_range)), "r"(static_cast<int>(skip)), "n"(kVectorBytes)
            : "memory");
    else
        asm volatile(
            "{ .reg .pred ignore, skip; setp.eq.s32 ignore, %2, 0; setp.ne.s32 skip, %3, 0;"
            " @!skip cp.async.ca.shared.global" GEMM_CP_ASYNC_PREFETCH " [%0], [%1], %4, ignore; }" ::"r"(destination),
            "l"(source), "r"(static_cast<int>(in_range)), "r"(static_cast<int>(skip)), "n"(kVectorBytes)
            : "memory");
}

template <int kVectorBytes>
__device__ __forceinline__ void cp_async_cut(unsigned destination, const Bits* source, int bytes) {
    if constexpr (kVectorBytes == 16)
        asm volatile(GEMM_CP_ASYNC_16 GEMM_CP_ASYNC_PREFETCH " [%0], [%1], %3, %2;" ::"r"(destination), "l"(source),
                     "r"(bytes), "n"(kVectorBytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global" GEMM_CP_ASYNC_PREFETCH " [%0], [%1], %3, %2;" ::"r"(destination),
                     "l"(source), "r"(bytes), "n"(kVectorBytes)
                     : "memory");
}

__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// ---- cp.async of f32: simt_hierarchical and simt_long_k

// cp.async of kFloats, global to shared memory. Out of range, it reads nothing and zeros the destination.
template <int kFloats>
__device__ __forceinline__ void cp_async(float* destination, const float* source, bool in_range) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(destination));
    if constexpr (kFloats == 4)
        asm volatile(
            "{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0; "
            "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, ignore; }" ::"r"(address),
            "l"(source), "r"(static_cast<int>(in_range))
            : "memory");
    else
        asm volatile(
            "{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0; "
            "cp.async.ca.shared.global.L2::128B [%0], [%1], %3, ignore; }" ::"r"(address),
            "l"(source), "r"(static_cast<int>(in_range)), "n"(kFloats * 4)
            : "memory");
}

// cp.async of kFloats, global to shared memory. It reads the first `bytes`, and zeros the rest.
template <int kFloats>
__device__ __forceinline__ void cp_async_cut(float* destination, const float* source, int bytes) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(destination));
    if constexpr (kFloats == 4)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(address), "l"(source), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %3, %2;" ::"r"(address), "l"(source), "r"(bytes),
                     "n"(kFloats * 4)
                     : "memory");
}
