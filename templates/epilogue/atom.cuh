#pragma once
#include "epilogue/accumulator_pair.cuh"

// A thread's part of 16 rows by eight columns: a pair in row g and a pair in row g + 8.
struct Atom {
    float2 pair[2];
};

__device__ __forceinline__ Atom atom_of(const Accumulator* sums) {
    return {accumulator_pair(sums, 0), accumulator_pair(sums, 1)};
}
