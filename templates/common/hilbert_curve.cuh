#pragma once
// Tiles along a Hilbert curve, generalised to a rectangle of any size (J. Cerveny): each has an edge in common with the one before
// it. Of a rectangle with one even and one odd side there may be a step over a corner, one in all.
//
// A part of D's tiles, which the curve enters at a corner and leaves at the other end of the side `along`. Where that is the longer
// one by half, it is two parts, one behind the other, else three:
//
//     +---------------+
//     |    second     |
//     +-------+-------+ low
//     | first | third |
//     +-------+-------+
//     in     half   out
struct CurvePart {
    int m, n;  // the corner
    int along, across;  // tiles
    bool along_m;
    int sign;  // 1; -1: to smaller m and n

    __device__ __forceinline__ void move(int steps_along, int steps_across) {
        m += sign * (along_m ? steps_along : steps_across);
        n += sign * (along_m ? steps_across : steps_along);
    }
    __device__ __forceinline__ void turn(int new_along, int new_across) {
        along_m = !along_m;
        along = new_along;
        across = new_across;
    }
};

// Even where it can be: the curve then leaves a part at the side that the next one begins at.
__device__ __forceinline__ int even_half(int tiles) {
    const int half = tiles / 2;
    return tiles > 2 ? half + half % 2 : half;
}

// The tile that so many others stand before.
__device__ __forceinline__ TileCoord tile_of_curve(int before, TileCoord tiles) {
    const int m = tiles.m;
    const int n = tiles.n;
    CurvePart part = {0, 0, max(m, n), min(m, n), m > n, 1};
    while (part.along > 1 && part.across > 1) {
        if (2 * part.along > 3 * part.across) {
            const int half = even_half(part.along);
            const int first = half * part.across;
            if (before < first) {
                part.along = half;
            } else {
                before -= first;
                part.move(half, 0);
                part.along -= half;
            }
        } else {
            const int low = even_half(part.across);
            const int half = part.along / 2;
            const int first = low * half;
            const int second = part.along * (part.across - low);
            if (before < first) {
                part.turn(low, half);
            } else if (before < first + second) {
                before -= first;
                part.move(0, low);
                part.across -= low;
            } else {
                before -= first + second;
                part.move(part.along - 1, low - 1);
                part.turn(low, part.along - half);
                part.sign = -part.sign;
            }
        }
    }
    if (part.across == 1) {
        part.move(before, 0);
    } else {
        part.move(0, before);
    }
    return {static_cast<unsigned>(part.m), static_cast<unsigned>(part.n)};
}
