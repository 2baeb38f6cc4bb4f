#pragma once

// ---- groups

// Where the k of this block's group begin and end, by the offsets. Wrong offsets are moved, so that no memory outside
// is touched.
__device__ __forceinline__ int first_k_of_group(const GemmArgs& args) {
    const int group = static_cast<int>(blockIdx.z * gridDim.y + blockIdx.y);
    return group == 0 ? 0 : min(max(args.offsets[group - 1], 0), args.k);
}

__device__ __forceinline__ int end_k_of_group(const GemmArgs& args, int first_k) {
    return min(max(args.offsets[blockIdx.z * gridDim.y + blockIdx.y], first_k), args.k);
}
