#pragma once

// Fragments of f32 where K is not contiguous in shared memory: ldmatrix transposes elements of 16 bits only. Lane l
// loads its word of matrix q: row l / 4 (of M or N), k l % 4. The eight neighbours of four rows of k fill the 32 banks
// once.

// The offsets of the rows from `first` on, eight apart. They repeat every 32 rows, 128 bytes later.
template <int kPitch>
__device__ __forceinline__ void word_offsets(unsigned* lane_offset, int lane, int first) {
#pragma unroll
    for (int c = 0; c < 4; ++c)
        lane_offset[c] = paired_offset<kPitch>(lane % 4, first / 4 + 2 * c + lane / 16) + lane / 4 % 4 * 4;
}

template <int kPitch>
__device__ __forceinline__ unsigned load_word(unsigned stage, const unsigned* lane_offset, int row, int k) {
    unsigned word;
    asm volatile("ld.shared.b32 %0, [%1];"
                 : "=r"(word)
                 : "r"(stage + lane_offset[row / 8 % 4] + row / 32 * 128 + k * kPitch)
                 : "memory");
    return word;
}
