#pragma once

// A tile's sums need nothing but themselves.
struct TileOperands {
#if !GEMM_OVERLAPPED
    __device__ __forceinline__ const TileOperands& below(int /*rows*/) const { return *this; }
#endif
#if GEMM_SWAP_AB
    __device__ __forceinline__ float2 finish_pair(const GemmArgs& args, const Accumulator* sums, int /*slice*/,
                                                  int /*j*/, int pair, int /*lane*/) const {
        return finish(args, accumulator_pair(sums, pair));
    }
#else
    __device__ __forceinline__ Atom finish_atom(const GemmArgs& args, const Accumulator* sums, int /*slice*/, int /*j*/,
                                                int /*lane*/) const {
        return finish(args, atom_of(sums));
    }
#endif
};
