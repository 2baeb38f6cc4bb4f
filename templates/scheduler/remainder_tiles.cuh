#pragma once

// Tiles left over from whole waves of kWave blocks would keep only a few SMs busy, for the time of a whole tile. So
// each is cut in two along K. One block stores the greater part to D, another the rest to the workspace, and a second
// entry adds that to D. SMs without a greater part compute several of the rests, one after the other.
struct RemainderTile {
    unsigned tile;  // in the order of tile_of_block
    unsigned left_over;  // index among the left-over tiles
    int cut;  // first k of the rest
    bool is_remainder, is_partial;
};

__device__ __forceinline__ RemainderTile tile_share(unsigned block, unsigned tiles, int k_tiles) {
    const unsigned remainder_tiles = tiles % kWave;
    const unsigned whole = tiles - remainder_tiles;
    RemainderTile share;
    share.is_remainder = block >= whole;
    share.is_partial = block >= tiles;  // after all greater parts, which take longer
    share.tile = share.is_partial ? block - remainder_tiles : block;
    share.left_over = share.is_remainder ? share.tile - whole : 0;
    // Lengths are chosen so that `partials` rests take an SM as long as one greater part.
    const unsigned idle = kWave - remainder_tiles;
    const unsigned partials = (remainder_tiles + idle - 1) / idle;
    share.cut = static_cast<int>(static_cast<long long>(k_tiles) * partials / (partials + 1)) * kBlockK;
    return share;
}

// (remainder tiles, kBlockM, kBlockN)
__device__ __forceinline__ float* partial_sums(const GemmArgs& args, unsigned left_over) {
    return reinterpret_cast<float*>(args.workspace) + static_cast<long long>(left_over) * (kBlockM * kBlockN);
}

__device__ __forceinline__ OutputTile partial_tile(const GemmArgs& args, unsigned left_over) {
    OutputTile output = args;
    output.d = partial_sums(args, left_over);
    output.ldd = kBlockN;
    output.m = kBlockM;
    output.n = kBlockN;
#if GEMM_HAS_C
    output.beta = 0.0f;  // the greater part adds C
#endif
    return output;
}

// Second entry: D += partial sums. A thread adds a vector of a row in each step.
extern "C" __global__ void __launch_bounds__(kReduceThreads, 1) gemm_add_partials(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    constexpr unsigned kVectorsPerRow = kBlockN / kVectorD;
    const TileCoord tiles = {(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN};
    const unsigned remainder_tiles = tiles.m * tiles.n % kWave;
    const unsigned whole = tiles.m * tiles.n - remainder_tiles;
    for (unsigned v = blockIdx.x * kReduceThreads + threadIdx.x; v < remainder_tiles * kBlockM * kVectorsPerRow;
         v += gridDim.x * kReduceThreads) {
        const TileCoord tile = tile_of_block(whole + v / (kBlockM * kVectorsPerRow), tiles);
        const int row = tile.m * kBlockM + v / kVectorsPerRow % kBlockM;
        const int column = tile.n * kBlockN + v % kVectorsPerRow * kVectorD;
#if GEMM_VECTOR_D > 1
        if (row >= args.m) continue;
#else
        if (row >= args.m || column >= args.n) continue;
#endif
        const float* partial = partial_sums(args, 0) + static_cast<long long>(v) * kVectorD;
        ElementD* d = args.d + row * args.ldd + column;
#if GEMM_VECTOR_D > 1
        if (column + kVectorD > args.n) {
            for (int i = 0; column + i < args.n; ++i) d[i] += partial[i];
            continue;
        }
#endif
        OutputVector sum = *reinterpret_cast<const OutputVector*>(d);
        const OutputVector addend = *reinterpret_cast<const OutputVector*>(partial);
#pragma unroll
        for (int i = 0; i < kVectorD; ++i) sum.element[i] += addend.element[i];
        *reinterpret_cast<OutputVector*>(d) = sum;
    }
}
