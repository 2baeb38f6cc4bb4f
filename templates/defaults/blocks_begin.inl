// clang-format off
    __syncthreads();
