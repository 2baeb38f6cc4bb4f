#pragma once
// The two consumers multiply in turn, each while the other one stores its tile: a named barrier for each (bar.sync), which it waits
// at before its k-tiles and at which the other one arrives when it has issued its own. Without it they would wait for phases of the
// ring that are two rounds apart, which parity can't tell.
struct Turn {
    int warpgroup;

    static constexpr int kThreadsOfBoth = 256;
    static constexpr int kFirstBarrier = 1;  // 0 is __syncthreads

    __device__ __forceinline__ void wait() const {
        asm volatile("bar.sync %0, %1;" ::"r"(kFirstBarrier + warpgroup), "n"(kThreadsOfBoth) : "memory");
    }
    __device__ __forceinline__ void pass_on() const {
        asm volatile("bar.arrive %0, %1;" ::"r"(kFirstBarrier + 1 - warpgroup), "n"(kThreadsOfBoth) : "memory");
    }
};
