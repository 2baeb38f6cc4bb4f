// clang-format off
    // Mainloop for copies that shift vectors in registers. A k-tile is loaded before the mmas of the current one, and
    // stored after them. The code of such a copy is long, so it stands here once: the loop begins kStages - 1 k-tiles
    // early, and only copies until the first k-tile has landed. A k-tile beyond the last reads nothing and arrives as
    // zeros.
    int read_stage = kStages - 1;
    int write_stage = 0;

    unsigned rA[2][kFragmentA];  // fragments of this k-block and of the next
    unsigned rB[2][kFragmentB];

#pragma unroll 1
    for (int k_tile = 1 - kStages; k_tile < tile.k_tiles; ++k_tile) {
        copy_a.issue(sA + write_stage * kStageBytesA, 0, 1);
        copy_b.issue(sB + write_stage * kStageBytesB, 0, 1);
        if (k_tile >= 0) {
#pragma unroll
            for (int k_block = 0; k_block < kKBlocks - 1; ++k_block) {
                const int next = (k_block + 1) % 2;
                load_fragments_a(rA[next], sA + read_stage * kStageBytesA, lane_offset_a, k_block + 1);
                load_fragments_b(rB[next], sB + read_stage * kStageBytesB, lane_offset_b, k_block + 1);
                mma_warp_tile(rC, rA[k_block % 2], rB[k_block % 2]);
            }
        }
        copy_a.finish(sA + write_stage * kStageBytesA);
        copy_b.finish(sB + write_stage * kStageBytesB);
        GEMM_COMMIT_COPIES();
        GEMM_WAIT_FOR_OLDEST_COPY();
        __syncthreads();  // all see the next stage; this one may be filled again
        write_stage = write_stage + 1 == kStages ? 0 : write_stage + 1;
        if (k_tile < -1) continue;  // never true with two stages, where it saves up to 22 registers
        read_stage = read_stage + 1 == kStages ? 0 : read_stage + 1;
        load_fragments_a(rA[0], sA + read_stage * kStageBytesA, lane_offset_a, 0);
        load_fragments_b(rB[0], sB + read_stage * kStageBytesB, lane_offset_b, 0);
        if (k_tile >= 0) mma_warp_tile(rC, rA[1], rB[1]);  // the last k-block: their number is even
    }

