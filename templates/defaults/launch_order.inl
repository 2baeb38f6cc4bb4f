// clang-format off
#if GEMM_DEPENDENT_LAUNCH
    launch_dependent_grids();
#if !GEMM_EARLY
    wait_on_dependent_grids();
#endif
#endif
