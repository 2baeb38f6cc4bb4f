// clang-format off
    int read_stage = 0;
    int write_stage = kStages - 1;

    // Prologue: puts the first kStages - 1 k-tiles in flight. A k-tile beyond the last reads nothing and arrives as
    // zeros. So each k-tile has one commit group, and the k-tile needed next has landed when all but the newest
    // kStages - 2 groups have. Unrolling would only add instructions.

#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
        copy_a.issue(sA + stage * kStageBytesA, 0, 1);
        copy_b.issue(sB + stage * kStageBytesB, 0, 1);
        copy_a.finish(sA + stage * kStageBytesA);
        copy_b.finish(sB + stage * kStageBytesB);
        GEMM_COMMIT_COPIES();
    }
