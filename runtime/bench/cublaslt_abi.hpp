#pragma once

#include <cstddef>
#include <cstdint>

/// \file The part of cuBLASLt's binary interface that timing uses. The build therefore needs no cublasLt.h. Versions 12
/// and 13 have the same interface; tests/unit/runtime/bench/cublaslt_abi_test.cpp compares every line with the
/// toolkit's header if there is one.
namespace jitgemm::cublaslt {

using Status = int;  // cublasStatus_t
inline constexpr Status kSuccess = 0;

using Handle = void*;             // cublasLtHandle_t
using MatmulDescription = void*;  // cublasLtMatmulDesc_t
using MatrixLayout = void*;       // cublasLtMatrixLayout_t
using Preference = void*;         // cublasLtMatmulPreference_t
using CudaStreamHandle = void*;   // cudaStream_t

struct Algorithm {  // cublasLtMatmulAlgo_t
    std::uint64_t data[8];
};

struct HeuristicResult {  // cublasLtMatmulHeuristicResult_t
    Algorithm algorithm;
    std::size_t workspace_bytes;
    Status state;
    float waves;
    int reserved[4];
};

enum class CudaType : int {  // cudaDataType_t
    r_32f = 0,
    r_16f = 2,
    r_8i = 3,
    r_32i = 10,
    r_16bf = 14,
    r_8f_e4m3 = 28,
    r_8f_e5m2 = 29,
};

enum class ComputeType : int {  // cublasComputeType_t
    f16 = 64,
    f32 = 68,
    i32 = 72,
    f32_fast_tf32 = 77,
};

enum class Operation : int {  // cublasOperation_t
    none = 0,
    transpose = 1,
};

enum class MatmulAttribute : int {  // cublasLtMatmulDescAttributes_t
    transpose_a = 3,
    transpose_b = 4,
    epilogue = 7,
    bias_pointer = 8,
    a_scale_pointer = 17,
    b_scale_pointer = 18,
    fast_accumulation = 25,
    bias_type = 26,
    a_scale_mode = 31,
    b_scale_mode = 32,
};

enum class EpilogueCode : std::uint32_t {  // cublasLtEpilogue_t
    none = 1,
    relu = 2,
    bias = 4,
    relu_bias = 6,
    gelu = 32,  // the form with tanh
    gelu_bias = 36,
};

/// The elements that share an f32: all; a row of A or a column of B; 128 of K in one of these; a block of 128 by 128.
enum class ScaleMode : std::int32_t {  // cublasLtMatmulMatrixScale_t
    scalar = 0,
    vector = 3,
    vector_128 = 4,
    block_128x128 = 5,
};

enum class LayoutAttribute : int {  // cublasLtMatrixLayoutAttribute_t
    batch_count = 5,
    batch_stride = 6,
};

enum class PreferenceAttribute : int {  // cublasLtMatmulPreferenceAttributes_t
    max_workspace_bytes = 1,
    reduction_scheme_mask = 3,
    min_alignment_a = 5,
    min_alignment_b = 6,
    min_alignment_c = 7,
    min_alignment_d = 8,
};

inline constexpr std::uint32_t kReduceInComputeType = 2;  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
inline constexpr std::uint32_t kReduceAnyHow = 7;         // CUBLASLT_REDUCTION_SCHEME_MASK

using Create = Status (*)(Handle*);
using Destroy = Status (*)(Handle);
using GetVersion = std::size_t (*)();
using GetStatusString = const char* (*)(Status);
using MatmulDescCreate = Status (*)(MatmulDescription*, ComputeType, CudaType scale);
using MatmulDescDestroy = Status (*)(MatmulDescription);
using MatmulDescSetAttribute = Status (*)(MatmulDescription, MatmulAttribute, const void*, std::size_t);
using MatrixLayoutCreate = Status (*)(MatrixLayout*, CudaType, std::uint64_t rows, std::uint64_t columns,
                                      std::int64_t leading_dimension);
using MatrixLayoutDestroy = Status (*)(MatrixLayout);
using MatrixLayoutSetAttribute = Status (*)(MatrixLayout, LayoutAttribute, const void*, std::size_t);
using MatmulPreferenceCreate = Status (*)(Preference*);
using MatmulPreferenceDestroy = Status (*)(Preference);
using MatmulPreferenceSetAttribute = Status (*)(Preference, PreferenceAttribute, const void*, std::size_t);
using MatmulAlgoGetHeuristic = Status (*)(Handle, MatmulDescription, MatrixLayout a, MatrixLayout b, MatrixLayout c,
                                          MatrixLayout d, Preference, int requested, HeuristicResult*, int* returned);
using Matmul = Status (*)(Handle, MatmulDescription, const void* alpha, const void* a, MatrixLayout, const void* b,
                          MatrixLayout, const void* beta, const void* c, MatrixLayout, void* d, MatrixLayout,
                          const Algorithm*, void* workspace, std::size_t workspace_bytes, CudaStreamHandle);

}  // namespace jitgemm::cublaslt
