// clang-format off
#if GEMM_A_K_MAJOR
        const float* from_a = sA + read_stage * kStageA + place.m * kPitchA + place.k;
#else
        const float* from_a = sA + read_stage * kStageA + place.k * kPitchA + place.m * kPieceA;
#endif
#if GEMM_B_K_MAJOR
        const float* from_b = sB + read_stage * kStageB + place.n * kPitchB + place.k;
#else
        const float* from_b = sB + read_stage * kStageB + place.k * kPitchB + place.n * kPieceB;
#endif
