// How A and B are copied.
#include "multistage/copy_async.cuh"
#if GEMM_ELEMENT_BYTES == 1
using Factor = Byte;
#elif GEMM_ELEMENT_BYTES == 4
using Factor = float;
#else
using Factor = Bits;
#endif
using CopyA = AsyncCopy<Factor, GEMM_A_K_MAJOR, kBlockM, kPitchA, kAlignA>;
using CopyB = AsyncCopy<Factor, GEMM_B_K_MAJOR, kBlockN, kPitchB, kAlignB>;
