#pragma once
#if GEMM_C_TMA
#include "wgmma/copy_panels_of_c.cuh"
#endif
