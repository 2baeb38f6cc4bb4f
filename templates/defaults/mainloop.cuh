#pragma once
#if GEMM_PROMOTED
#include "wgmma/promoted_mainloop.cuh"
#else
#include "wgmma/wgmma_mainloop.cuh"
#endif
