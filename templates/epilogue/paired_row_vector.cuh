#pragma once

// A row of elements for the product's columns: two for each column of D, the same for all rows. A warp reads a tile's
// part of it at once, while the last wgmmas run: lane l has those of columns 2l and 2l + 1 of every 64. It passes each
// thread the elements for its sums.
template <typename Type, int kStep>
struct PairedRowVector {
    using Element = typename Type::Element;
    static constexpr int kRegisters = (kWarpgroupN + 63) / 64;
    Element elements[2][kRegisters][2];  // (first or second of a pair, every 64 columns, column)

    // The part that begins at a column of D. Those of D's column 0 are at `first` and `second`, the next ones kStep
    // further. Nothing is read from column `end` on.
    __device__ __forceinline__ PairedRowVector(const Element* first, const Element* second, int column, int end,
                                               bool is_read, int lane) {
        column += lane * 2;
        const int left = is_read ? end - column : 0;
#pragma unroll
        for (int i = 0; i < kRegisters; ++i)
#pragma unroll
            for (int next = 0; next < 2; ++next) {
                const int place = i * 64 + next;
                elements[0][i][next] = load_if(first + (column + place) * kStep, place < left);
                elements[1][i][next] = load_if(second + (column + place) * kStep, place < left);
            }
    }

    // A thread's elements for the first (0) or second (1) sums of the j-th atom of a slice.
    __device__ __forceinline__ float2 pair(int which, int slice, int j, int lane) const {
        const int column = slice * kSliceColumns + j * 8;
        const Element(&from)[2] = elements[which][column / 64];
        const int source = column % 64 / 2 + lane % 4;
        return make_float2(Type::to_float(static_cast<Element>(__shfl_sync(0xffffffff, from[0], source))),
                           Type::to_float(static_cast<Element>(__shfl_sync(0xffffffff, from[1], source))));
    }
};
