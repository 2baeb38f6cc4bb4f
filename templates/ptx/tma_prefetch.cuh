#pragma once

// Fetches a box of a matrix into L2, where a copy finds it later.
__device__ __forceinline__ void tma_prefetch(const TensorMap& map, int x, int y) {
#if GEMM_NESTED
    asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(map.all), "r"(x),
                 "r"(y), "r"(map.problem), "r"(map.outer)
                 : "memory");
#elif GEMM_BATCHED
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map.all), "r"(x), "r"(y),
                 "r"(map.problem)
                 : "memory");
#else
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(x), "r"(y)
                 : "memory");
#endif
}
