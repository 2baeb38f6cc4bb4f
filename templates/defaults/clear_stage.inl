// clang-format off
#if GEMM_C_TMA
        if (walk.no_products) {
            mbarrier_wait(shared.empty_barrier(stage), ring.phase ^ 1);
            shared.clear_stage(stage);
        }
#endif
