// clang-format off
#if GEMM_A_K_MAJOR
using CopyA = TransposedCopy<kBlockM, kPitchA>;
#else
using CopyA = StraightCopy<kBlockM, kPitchA, kVectorA>;
#endif
#if GEMM_B_K_MAJOR
using CopyB = TransposedCopy<kBlockN, kPitchB>;
#else
using CopyB = StraightCopy<kBlockN, kPitchB, kVectorB>;
#endif
