#pragma once
#include "epilogue/accumulator_pair.cuh"
// Eight columns of a warp's 16 rows: a thread's pairs in rows g and g + 8.
struct Atom {
    float2 pair[2];
};

__device__ __forceinline__ Atom atom_of(const Accumulator* sums) {
    return {accumulator_pair(sums, 0), accumulator_pair(sums, 1)};
}
