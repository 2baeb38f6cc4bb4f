#pragma once

// Operands too little aligned for wide copies are moved into the workspace, their rows padded. It costs a pass over the
// operand, and pays where each element is used often.

// A matrix (rows, columns) with pitch ld, and its copy. A thread moves a chunk at a time.
struct Packing {
    const PackedElement* matrix;
    long long ld;
    int rows, columns;
    PackedElement* packed;

    __device__ __forceinline__ unsigned vectors_per_row() const {
        return (columns + (kChunkElements - 1u)) / kChunkElements;
    }
    __device__ __forceinline__ unsigned vectors() const { return rows * vectors_per_row(); }

    __device__ __forceinline__ void move(unsigned vector) const {
        const WholeChunks whole(matrix, matrix + (rows - 1) * ld + columns);
        const unsigned per_row = vectors_per_row();
        const int row = vector / per_row;
        const int column = vector % per_row * kChunkElements;
        const PackedElement* source = matrix + row * ld + column;
        const uint4 value = whole.contain(source)
                                ? realign<PackedElement>(load_raw(source, true), misalignment_of(source))
                                : load_elements(source, columns - column);
        *reinterpret_cast<uint4*>(packed + row * packed_pitch(columns) + column) = keep_first(value, columns - column);
    }
};
