// C is in the ring.
__device__ __forceinline__ bool reads_panels(const GemmArgs& args) { return c_factor(args) != 0.0f; }
__device__ __forceinline__ int panel_row_step(const GemmArgs& args) { return args.ldc != 0; }
__device__ __forceinline__ const TensorMap& map_of_panels(const GemmArgs& args) { return args.map_c; }
#if GEMM_REST_COLUMNS
__device__ __forceinline__ const TensorMap& map_of_rest_panels(const GemmArgs& args) { return args.map_c_rest; }
#endif
