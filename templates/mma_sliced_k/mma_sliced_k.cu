// Half-precision GEMM for a few rows or columns on mma.sync. The warps of a block share out K. TMA copies the operands.
//
// One operand is long and read once; all rows (columns) of the other one, the few, meet each of its rows.
//
//   for each block tile: kBlockM rows of the long operand by the few             a block takes one after the other
//       for each k-tile of kBlockK: a panel of kPanelK of each operand           gA, gB -> the ring of one warp
//           for each k-block of kMmaK                                            ring -> fragments -> rC
//       the sums of the block's warps                                            rC -> sP
//       add them, scale and store                                                sP -> gD
#include "sliced_k_params.cuh"
#include "ptx/tma.cuh"
#include "mma_atom.cuh"
#include "ptx/mbarrier.cuh"
#include "gemm_args.cuh"
#include "common/dependent_launch.cuh"
#include "mma_sliced_k/sliced_k_ring.cuh"
#include "mma_sliced_k/sliced_k_sums.cuh"

// ---- mainloop
// A panel of each operand in registers.
struct Fragments {
    unsigned rA[kPanelK / kMmaK][kTilesM][4];
    unsigned rB[kPanelK / (2 * kMmaK)][kTilesN][4];  // of two k-blocks
};

// `place_long` and `place_few` are the offsets of the lane's rows for ldmatrix in a panel.
__device__ __forceinline__ void load_fragments(Fragments& fragments, unsigned stage, unsigned place_long,
                                               unsigned place_few) {
#pragma unroll
    for (int k = 0; k < kPanelK / (2 * kMmaK); ++k)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
            ldmatrix_b(fragments.rB[k][j],
                       stage + LongPanel::kBytes + FewPanel::moved(place_few, j * 8, k * 2 * kMmaK));
#pragma unroll
    for (int k = 0; k < kPanelK / kMmaK; ++k)
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
            ldmatrix_a(fragments.rA[k][i], stage + LongPanel::moved(place_long, i * 16, k * kMmaK));
}

__device__ __forceinline__ void multiply(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const Fragments& fragments) {
#pragma unroll
    for (int k = 0; k < kPanelK / kMmaK; ++k)
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
#pragma unroll
            for (int j = 0; j < kTilesN; ++j) mma(rC[i][j], fragments.rA[k][i], fragments.rB[k / 2][j] + k % 2 * 2);
}

// ---- kernel
extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ GemmArgs args) {
    extern __shared__ __align__(1024) char shared_memory[];
    const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);  // the shuffle tells the compiler that lanes agree
    const int lane = threadIdx.x % 32;
    float* const sP = reinterpret_cast<float*>(shared_memory + kRingBytes);
    const WarpRing ring(static_cast<unsigned>(__cvta_generic_to_shared(shared_memory)), warp);
    if (lane == 0) ring.init_barriers();
    __syncwarp();

    const unsigned tiles = tiles_of(args);
    const int k_tiles = k_tiles_of(args);
    PanelWalk next{k_tiles == 0 ? tiles : blockIdx.x, 0};  // the panel to fetch next
#if GEMM_EARLY
    launch_dependent_grids();
#else
    GEMM_LAUNCH_ORDER();
#endif
    // Fills the ring. The long operand comes first: it is larger.
    PanelWalk next_few = next;
    for (int stage = 0; stage < kStages && next.tile < tiles; ++stage, next.advance(k_tiles))
        if (lane == 0) ring.copy_long(args, stage, next);
#if GEMM_EARLY
    wait_on_dependent_grids();  // the previous kernel may use all but the long operand, which is constant
#endif
    for (int stage = 0; stage < kStages && next_few.tile < tiles; ++stage, next_few.advance(k_tiles))
        if (lane == 0) ring.copy_few(args, stage, next_few);

    // ldmatrix x4 takes 16 rows by kMmaK of the long operand, 8 by 2 * kMmaK of the few. Lane l gives row l % 8 of
    // matrix l / 8, which has kMmaK / 2 of K.
    const unsigned place_long = LongPanel::place(lane / 8 % 2 * 8, lane / 16 * (kMmaK / 2), lane % 8);
    const unsigned place_few = FewPanel::place(0, lane / 8 * (kMmaK / 2), lane % 8);
    int stage = 0;
    unsigned phase = 0;
#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        Accumulator rC[kTilesM][kTilesN][kRegistersC] = {};  // (kTilesM) times 16 by (kTilesN) times 8
#pragma unroll 1
        for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
            mbarrier_wait(ring.full_barrier(stage), phase);
            Fragments fragments;
            load_fragments(fragments, ring.stage(stage), place_long, place_few);
            __syncwarp();  // all lanes have read the stage: it may be filled again
            if (next.tile < tiles) {
                if (lane == 0) {
                    ring.copy_long(args, stage, next);
                    ring.copy_few(args, stage, next);
                }
                next.advance(k_tiles);
            }
            multiply(rC, fragments);
            if (++stage == kStages) {
                stage = 0;
                phase ^= 1;
            }
        }
        __syncthreads();  // the previous tile's sums have been read
        lay_out_sums(rC, sP + warp * kSumsOfAWarp, lane);
        __syncthreads();
        add_up_and_store(args, sP, tile_of(args, tile));
    }
}
