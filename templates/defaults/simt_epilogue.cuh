#pragma once
#if GEMM_EPILOGUE_SHARED
#include "simt_hierarchical/epilogue_shared.cuh"
#else
#include "simt_hierarchical/epilogue_registers.cuh"
#endif
