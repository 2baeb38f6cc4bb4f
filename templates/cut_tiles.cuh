#pragma once
// Tiles left over from whole waves of kWave blocks would keep but a few SMs busy for the time of a whole tile. Each is cut in two
// along K: one block for the greater part, which goes to D, and one for the rest, which goes to the workspace; a second entry adds
// the rests to D. The SMs that have no greater part compute the rests, several one after the other.
struct CutTile {
    unsigned tile;  // in the order of tile_of_block
    unsigned left_over;  // index among the cut tiles
    int cut;  // first k of the rest
    bool is_cut, is_rest;
};

__device__ __forceinline__ CutTile tile_share(unsigned block, unsigned tiles, int k_tiles) {
    const unsigned cut_tiles = tiles % kWave;
    const unsigned whole = tiles - cut_tiles;
    CutTile share;
    share.is_cut = block >= whole;
    share.is_rest = block >= tiles;  // behind all greater parts, which take longer
    share.tile = share.is_rest ? block - cut_tiles : block;
    share.left_over = share.is_cut ? share.tile - whole : 0;
    // `rests` of equal length take an SM as long as one greater part does.
    const unsigned idle = kWave - cut_tiles;
    const unsigned rests = (cut_tiles + idle - 1) / idle;
    share.cut = static_cast<int>(static_cast<long long>(k_tiles) * rests / (rests + 1)) * kBlockK;
    return share;
}

// (cut tiles, kBlockM, kBlockN)
__device__ __forceinline__ float* rest_sums(const GemmArgs& args, unsigned left_over) {
    return reinterpret_cast<float*>(args.workspace) + static_cast<long long>(left_over) * (kBlockM * kBlockN);
}

__device__ __forceinline__ OutputTile rest_tile(const GemmArgs& args, unsigned left_over) {
    OutputTile output = {};
    output.d = rest_sums(args, left_over);
    output.ldd = kBlockN;
    output.m = kBlockM;
    output.n = kBlockN;
    output.alpha = args.alpha;
    return output;
}

// Second entry: D += rest, a vector of a row per thread and step.
extern "C" __global__ void __launch_bounds__(kReduceThreads) gemm_add_rests(const GemmArgs args) {
    constexpr unsigned kVectorsPerRow = kBlockN / kVectorD;
    const TileCoord tiles = {(args.m + kBlockM - 1u) / kBlockM, (args.n + kBlockN - 1u) / kBlockN};
    const unsigned cut_tiles = tiles.m * tiles.n % kWave;
    const unsigned whole = tiles.m * tiles.n - cut_tiles;
    for (unsigned v = blockIdx.x * kReduceThreads + threadIdx.x; v < cut_tiles * kBlockM * kVectorsPerRow;
         v += gridDim.x * kReduceThreads) {
        const TileCoord tile = tile_of_block(whole + v / (kBlockM * kVectorsPerRow), tiles);
        const int row = tile.m * kBlockM + v / kVectorsPerRow % kBlockM;
        const int column = tile.n * kBlockN + v % kVectorsPerRow * kVectorD;
#if GEMM_VECTOR_D > 1
        if (row >= args.m) continue;
#else
        if (row >= args.m || column >= args.n) continue;
#endif
        const float* rest = rest_sums(args, 0) + static_cast<long long>(v) * kVectorD;
        ElementD* d = args.d + row * args.ldd + column;
#if GEMM_VECTOR_D > 1
        if (column + kVectorD > args.n) {
            for (int i = 0; column + i < args.n; ++i) d[i] += rest[i];
            continue;
        }
#endif
        OutputVector sum = *reinterpret_cast<const OutputVector*>(d);
        const OutputVector addend = *reinterpret_cast<const OutputVector*>(rest);
#pragma unroll
        for (int i = 0; i < kVectorD; ++i) sum.element[i] += addend.element[i];
        *reinterpret_cast<OutputVector*>(d) = sum;
    }
}
