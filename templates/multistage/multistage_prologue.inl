// clang-format off
                // Prologue: the first kStages - 1 k-tiles are in flight. A k-tile beyond the last one reads nothing and arrives as
                // zeros: so there is one commit group per k-tile throughout, and "all but the newest kStages - 2 groups" always means
                // "the k-tile needed next has landed". Unrolling would gain nothing but instructions to compile and to fetch.

#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
        copy_a.issue(sA + stage * kStageBytesA, 0, 1);
        copy_b.issue(sB + stage * kStageBytesB, 0, 1);
        copy_a.finish(sA + stage * kStageBytesA);
        copy_b.finish(sB + stage * kStageBytesB);
#if GEMM_COPY_ASYNC
        cp_async_commit();
#endif
    }

    int read_stage = 0;
    int write_stage = kStages - 1;
