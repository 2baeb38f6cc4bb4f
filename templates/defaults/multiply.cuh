#pragma once
#if GEMM_A_IN_REGISTERS
#include "../multiply_from_registers.cuh"
#else
#include "../multiply_from_shared.cuh"
#endif
