#pragma once

// Tensor cores read elements of 8 bits only where K is contiguous. An operand that lies otherwise is transposed into
// the workspace. It costs a pass over the operand.

#if GEMM_TRANSPOSE_REALIGN
// Bytes from the start of the word where four neighbours begin.
__device__ __forceinline__ unsigned misalignment_in_word(const Byte* source) {
    return static_cast<unsigned>(reinterpret_cast<unsigned long long>(source)) & 3u;
}

// Four neighbours at any address, out of the two words that they lie in.
__device__ __forceinline__ unsigned load_four(const Byte* source) {
    const unsigned misalignment = misalignment_in_word(source);
    const unsigned* word = reinterpret_cast<const unsigned*>(source - misalignment);
    return __funnelshift_r(word[0], word[1], misalignment * 8);
}
#else
__device__ __forceinline__ unsigned load_four(const Byte* source) { return *reinterpret_cast<const unsigned*>(source); }
#endif

// Byte j of word i becomes byte i of word j.
__device__ __forceinline__ void transpose_four(unsigned* words) {
    const unsigned low01 = __byte_perm(words[0], words[1], 0x5140);
    const unsigned low23 = __byte_perm(words[2], words[3], 0x5140);
    const unsigned high01 = __byte_perm(words[0], words[1], 0x7362);
    const unsigned high23 = __byte_perm(words[2], words[3], 0x7362);
    words[0] = __byte_perm(low01, low23, 0x5410);
    words[1] = __byte_perm(low01, low23, 0x7632);
    words[2] = __byte_perm(high01, high23, 0x5410);
    words[3] = __byte_perm(high01, high23, 0x7632);
}

// An operand in memory, (columns, rows) with pitch ld, and its copy, (rows, columns), whose columns lie along K. A
// thread moves a block at a time: 16 columns by four rows.
struct Transposition {
    const Byte* matrix;
    long long ld;
    int rows, columns;
    Byte* packed;

    // A warp takes a tile of 64 columns by 32 rows: it reads 32 neighbours at once, and writes 64 bytes of a row.
    __device__ __forceinline__ unsigned tiles_along_rows() const { return (rows + 31u) / 32; }
    __device__ __forceinline__ unsigned vectors() const { return tiles_along_rows() * ((columns + 63u) / 64) * 32; }

    // Whether all words of a block lie within the matrix.
    __device__ __forceinline__ bool is_whole(const Byte* source, int column) const {
        if (column + 16 > columns) return false;
        const Byte* end = matrix + (columns - 1) * ld + rows;
#if GEMM_TRANSPOSE_REALIGN
        const Byte* last = source + 15 * ld;
        return source - misalignment_in_word(source) >= matrix && last - misalignment_in_word(last) + 8 <= end;
#else
        return source + 15 * ld + 4 <= end;
#endif
    }

    __device__ __forceinline__ void move_whole(const Byte* source, Byte* target, long long pitch, int rows_left) const {
        unsigned words[16];
#pragma unroll
        for (int i = 0; i < 16; ++i) words[i] = load_four(source + i * ld);
#pragma unroll
        for (int i = 0; i < 16; i += 4) transpose_four(words + i);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (i < rows_left)
                *reinterpret_cast<uint4*>(target + i * pitch) =
                    make_uint4(words[i], words[i + 4], words[i + 8], words[i + 12]);
    }

    // A block at an edge, byte by byte. What lies beyond K is zero.
    __device__ __forceinline__ void move_part(const Byte* source, Byte* target, long long pitch, int rows_left,
                                              int columns_left) const {
#pragma unroll 1
        for (int row = 0; row < min(rows_left, 4); ++row) {
            unsigned words[4] = {};
#pragma unroll
            for (int i = 0; i < 16; ++i)
                if (i < columns_left) words[i / 4] |= static_cast<unsigned>(source[i * ld + row]) << i % 4 * 8;
            *reinterpret_cast<uint4*>(target + row * pitch) = make_uint4(words[0], words[1], words[2], words[3]);
        }
    }

    __device__ __forceinline__ void move(unsigned block) const {
        const unsigned tile = block / 32;
        const int row = tile % tiles_along_rows() * 32 + block % 8 * 4;
        const int column = tile / tiles_along_rows() * 64 + block % 32 / 8 * 16;
        if (row >= rows || column >= columns) return;
        const Byte* source = matrix + column * ld + row;
        const long long pitch = packed_pitch(columns);
        Byte* target = packed + row * pitch + column;
        if (is_whole(source, column))
            move_whole(source, target, pitch, rows - row);
        else
            move_part(source, target, pitch, rows - row, columns - column);
    }
};
