#pragma once
#if GEMM_PROMOTED
#include "wgmma/multiply_promoted.cuh"
#elif GEMM_A_IN_REGISTERS
#include "wgmma/multiply_from_registers.cuh"
#else
#include "wgmma/multiply_from_shared.cuh"
#endif
