#pragma once
// A rendering has those that its kernel uses.

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
