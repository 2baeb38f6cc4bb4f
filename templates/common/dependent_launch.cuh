#pragma once
// Programmatic dependent launch: a kernel may begin before the launch before it has ended.
// The next launch may begin where this one leaves SMs free.
__device__ __forceinline__ void launch_dependent_grids() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// What the launch before wrote may be read from here on, and what it read be written.
__device__ __forceinline__ void wait_on_dependent_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
