#pragma once

// Stores two 16-bit elements from registers that lie a pitch apart, or the first if only one is left.
__device__ __forceinline__ void store_across(Bits* first, long long pitch, int left, unsigned word) {
    if (left > 0) first[0] = static_cast<Bits>(word);
    if (left > 1) first[pitch] = static_cast<Bits>(word >> 16);
}
