#pragma once
#if GEMM_COPY_ASYNC
#include "simt_hierarchical/copies_async.cuh"
#else
#include "simt_hierarchical/copies_registers.cuh"
#endif
