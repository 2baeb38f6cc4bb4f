#pragma once

// The columns of B in a tile make pairs: of every 16, the first eight are columns h to h + 7 of B, and the other eight
// are `half` columns further.
__device__ __forceinline__ int column_of_halves(int place, int half) {
    return place / 16 * 8 + place % 8 + place / 8 % 2 * half;
}

// Lets a copy of B, whose tile begins at `first`, read those columns.
template <bool kKMajor, typename Copy>
__device__ __forceinline__ void take_halves(Copy& copy, long long ld, int first, int half) {
    const int place = first + (kKMajor ? copy.row : copy.column);
    copy.source += (column_of_halves(place, half) - place) * (kKMajor ? ld : 1);
    if constexpr (kKMajor) copy.pass_pitch /= 2;  // passes are whole groups of 16 columns apart
}
