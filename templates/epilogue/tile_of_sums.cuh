#pragma once

// Sums stay as they are: store_slice finishes them.
struct TileOperands {
#if !GEMM_OVERLAPPED
    __device__ __forceinline__ const TileOperands& below(int /*rows*/) const { return *this; }
#endif
    __device__ __forceinline__ Atom finish_atom(const GemmArgs& /*args*/, const Accumulator* sums, int /*slice*/,
                                                int /*j*/, int /*lane*/) const {
        return atom_of(sums);
    }
};
