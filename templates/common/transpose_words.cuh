#pragma once

// Tensor cores read tf32 only where K is contiguous. An operand that lies otherwise is transposed into the workspace.
// It costs a pass over the operand.

// An operand in memory, (columns, rows) with pitch ld, and its copy, (rows, columns), whose columns lie along K. A
// thread moves a block at a time: four columns by four rows, which are eight apart.
struct Transposition {
    const float* matrix;
    long long ld;
    int rows, columns;
    float* packed;

    // A warp takes a tile of 16 columns by 32 rows: it reads 32 neighbours, and writes 64 bytes of a row.
    __device__ __forceinline__ unsigned tiles_along_rows() const { return (rows + 31u) / 32; }
    __device__ __forceinline__ unsigned vectors() const { return tiles_along_rows() * ((columns + 15u) / 16) * 32; }

    __device__ __forceinline__ void move(unsigned block) const {
        const unsigned tile = block / 32;
        const int row = tile % tiles_along_rows() * 32 + block % 8;
        const int column = tile / tiles_along_rows() * 16 + block % 32 / 8 * 4;
        if (column >= columns) return;
        const float* source = matrix + column * ld + row;
        float x[4][4];  // (rows, columns); what lies beyond K is zero
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                x[i][j] = row + i * 8 < rows && column + j < columns ? source[j * ld + i * 8] : 0.0f;
        const long long pitch = packed_pitch(columns);
        float* target = packed + row * pitch + column;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (row + i * 8 < rows)
                *reinterpret_cast<float4*>(target + i * 8 * pitch) = make_float4(x[i][0], x[i][1], x[i][2], x[i][3]);
    }
};
