// clang-format off
        Accumulator rC[kTilesM][kTilesN][kRegistersC];  // (kTilesM) wgmmas of 64 rows, (kTilesN) times eight columns
        wait_for_k_tile(shared, ring);
        multiply<true>(rC, a, b, ring);
        int read = ring.stage;  // what the wgmmas in flight read
        ring.advance();
        const TileOrigin origin = walk.origin();  // here its divisions cost nothing
#pragma unroll 1
        for (int k_tile = 1; k_tile < walk.k_tiles; ++k_tile) {
            wait_for_k_tile(shared, ring);
            multiply<false>(rC, a, b, ring);
#if GEMM_A_IN_REGISTERS
            release(shared, read, lane);  // none from before is in flight
#else
            wgmma_wait<1>();  // for those of the k-tile before
            release(shared, read, lane);
#endif
            read = ring.stage;
            ring.advance();
        }
