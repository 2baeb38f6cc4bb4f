#pragma once

// Stores two 16-bit neighbours of a row from registers, or the first if only one is left. `kByPair`: they lie at a
// multiple of their bytes.
template <bool kByPair>
__device__ __forceinline__ void store_neighbours(Bits* first, int left, unsigned word) {
    if (kByPair && left > 1) {
        *reinterpret_cast<unsigned*>(first) = word;
    } else {
        if (left > 0) first[0] = static_cast<Bits>(word);
        if (left > 1) first[1] = static_cast<Bits>(word >> 16);
    }
}
