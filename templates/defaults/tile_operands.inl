#if GEMM_SLICE_OF_SUMS
#include "epilogue/tile_of_sums.cuh"
#elif GEMM_READ_C
#include "epilogue/tile_of_elements.cuh"
#else
#include "epilogue/tile_without_operands.cuh"
#endif
