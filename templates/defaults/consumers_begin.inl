// clang-format off
#if GEMM_SETMAXNREG
        take_registers<kConsumerRegisters>();
#endif
#if GEMM_EARLY
        wait_on_dependent_grids();
#endif
