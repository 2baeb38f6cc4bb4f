#pragma once
#if GEMM_A_IN_REGISTERS
#include "wgmma/release_from_registers.cuh"
#else
#include "wgmma/release_from_shared.cuh"
#endif
