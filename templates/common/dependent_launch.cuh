#pragma once
#if GEMM_DEPENDENT_LAUNCH

// Programmatic dependent launch: a kernel may begin before the previous kernel has ended.

// From here on, the next kernel may begin on SMs that this one leaves free.
__device__ __forceinline__ void launch_dependent_grids() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// From here on, this kernel may read the previous kernel's results, and overwrite what that kernel read.
__device__ __forceinline__ void wait_on_dependent_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif
