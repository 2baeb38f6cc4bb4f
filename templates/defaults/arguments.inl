// clang-format off
    args.a = a;
    args.b = b;
    args.d = d;
    args.m = kM;
    args.n = kN;
    args.k = kK;
    args.lda = kLda;
    args.ldb = kLdb;
    args.ldd = kLdd;
    args.alpha = kAlpha;
    check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, 4 * 2 * 128 * 32 * 2), "allow shared memory");
