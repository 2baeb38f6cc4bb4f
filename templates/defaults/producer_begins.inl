// clang-format off
#if GEMM_SETMAXNREG
        give_up_registers<kProducerRegisters>();
#endif
