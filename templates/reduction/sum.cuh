#pragma once

// A reduction that adds.
struct Sum {
    __device__ __forceinline__ static float of_nothing() { return 0.0f; }
    __device__ __forceinline__ static float of(float x, float y) { return x + y; }
};
