#include "runtime/bench/cublaslt_abi.hpp"

#include "tests/catch.hpp"

// The declarations of cublaslt_abi.hpp against the toolkit's own, at compile time, where there is a toolkit.

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace {

using namespace jitgemm;

template <typename Ours, typename Theirs>
constexpr bool equal(Ours ours, Theirs theirs) {
    return static_cast<long long>(ours) == static_cast<long long>(theirs);
}

static_assert(sizeof(cublaslt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(alignof(cublaslt::Algorithm) == alignof(cublasLtMatmulAlgo_t));
static_assert(sizeof(cublaslt::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(cublaslt::HeuristicResult, algorithm) == offsetof(cublasLtMatmulHeuristicResult_t, algo));
static_assert(offsetof(cublaslt::HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(cublaslt::HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(cublaslt::HeuristicResult, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

static_assert(sizeof(cublaslt::Status) == sizeof(cublasStatus_t) && equal(cublaslt::kSuccess, CUBLAS_STATUS_SUCCESS));
static_assert(sizeof(cublaslt::CudaType) == sizeof(cudaDataType_t));
static_assert(sizeof(cublaslt::ComputeType) == sizeof(cublasComputeType_t));
static_assert(sizeof(cublaslt::MatmulAttribute) == sizeof(cublasLtMatmulDescAttributes_t));
static_assert(sizeof(cublaslt::PreferenceAttribute) == sizeof(cublasLtMatmulPreferenceAttributes_t));

static_assert(equal(cublaslt::CudaType::r_32f, CUDA_R_32F) && equal(cublaslt::CudaType::r_16f, CUDA_R_16F));
static_assert(equal(cublaslt::CudaType::r_8i, CUDA_R_8I) && equal(cublaslt::CudaType::r_32i, CUDA_R_32I));
static_assert(equal(cublaslt::CudaType::r_16bf, CUDA_R_16BF));
static_assert(equal(cublaslt::CudaType::r_8f_e4m3, CUDA_R_8F_E4M3));
static_assert(equal(cublaslt::CudaType::r_8f_e5m2, CUDA_R_8F_E5M2));

static_assert(equal(cublaslt::ComputeType::f16, CUBLAS_COMPUTE_16F));
static_assert(equal(cublaslt::ComputeType::f32, CUBLAS_COMPUTE_32F));
static_assert(equal(cublaslt::ComputeType::i32, CUBLAS_COMPUTE_32I));
static_assert(equal(cublaslt::ComputeType::f32_fast_tf32, CUBLAS_COMPUTE_32F_FAST_TF32));

static_assert(equal(cublaslt::Operation::none, CUBLAS_OP_N) && equal(cublaslt::Operation::transpose, CUBLAS_OP_T));
static_assert(equal(cublaslt::MatmulAttribute::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(equal(cublaslt::MatmulAttribute::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(equal(cublaslt::MatmulAttribute::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(equal(cublaslt::MatmulAttribute::bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(equal(cublaslt::MatmulAttribute::fast_accumulation, CUBLASLT_MATMUL_DESC_FAST_ACCUM));
static_assert(equal(cublaslt::MatmulAttribute::a_scale_pointer, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
static_assert(equal(cublaslt::MatmulAttribute::b_scale_pointer, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
static_assert(equal(cublaslt::MatmulAttribute::bias_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
static_assert(sizeof(cublaslt::EpilogueCode) == sizeof(cublasLtEpilogue_t));
static_assert(equal(cublaslt::EpilogueCode::none, CUBLASLT_EPILOGUE_DEFAULT));
static_assert(equal(cublaslt::EpilogueCode::relu, CUBLASLT_EPILOGUE_RELU));
static_assert(equal(cublaslt::EpilogueCode::bias, CUBLASLT_EPILOGUE_BIAS));
static_assert(equal(cublaslt::EpilogueCode::relu_bias, CUBLASLT_EPILOGUE_RELU_BIAS));
static_assert(equal(cublaslt::EpilogueCode::gelu, CUBLASLT_EPILOGUE_GELU));
static_assert(equal(cublaslt::EpilogueCode::gelu_bias, CUBLASLT_EPILOGUE_GELU_BIAS));

#if CUBLAS_VERSION >= 120900
static_assert(sizeof(cublaslt::ScaleMode) == sizeof(cublasLtMatmulMatrixScale_t));
static_assert(equal(cublaslt::ScaleMode::scalar, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F));
static_assert(equal(cublaslt::ScaleMode::vector, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F));
static_assert(equal(cublaslt::ScaleMode::vector_128, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F));
static_assert(equal(cublaslt::ScaleMode::block_128x128, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F));
#endif

static_assert(equal(cublaslt::LayoutAttribute::batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
static_assert(equal(cublaslt::LayoutAttribute::batch_stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));

using Preferred = cublaslt::PreferenceAttribute;
static_assert(equal(Preferred::max_workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(equal(Preferred::reduction_scheme_mask, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK));
static_assert(equal(Preferred::min_alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
static_assert(equal(Preferred::min_alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
static_assert(equal(Preferred::min_alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
static_assert(equal(Preferred::min_alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(equal(cublaslt::kReduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
static_assert(equal(cublaslt::kReduceAnyHow, CUBLASLT_REDUCTION_SCHEME_MASK));

/// Our word for a type of theirs as it is passed: opaque handles are pointers, enumerations are ints.
template <typename Theirs>
struct Passed {
    using Type =
        std::conditional_t<std::is_enum_v<Theirs>, int, std::conditional_t<std::is_pointer_v<Theirs>, void*, Theirs>>;
};

/// Two functions are called alike when their arguments and results are passed alike.
template <typename Ours, typename Theirs>
struct CalledAlike : std::false_type {};
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct CalledAlike<OurResult (*)(Ours...), TheirResult (*)(Theirs...)>
    : std::bool_constant<
          sizeof...(Ours) == sizeof...(Theirs) &&
          std::is_same_v<std::tuple<typename Passed<OurResult>::Type, typename Passed<Ours>::Type...>,
                         std::tuple<typename Passed<TheirResult>::Type, typename Passed<Theirs>::Type...>>> {};

static_assert(CalledAlike<cublaslt::Create, decltype(&cublasLtCreate)>::value);
static_assert(CalledAlike<cublaslt::Destroy, decltype(&cublasLtDestroy)>::value);
static_assert(CalledAlike<cublaslt::GetVersion, decltype(&cublasLtGetVersion)>::value);
static_assert(CalledAlike<cublaslt::GetStatusString, decltype(&cublasLtGetStatusString)>::value);
static_assert(CalledAlike<cublaslt::MatmulDescCreate, decltype(&cublasLtMatmulDescCreate)>::value);
static_assert(CalledAlike<cublaslt::MatmulDescDestroy, decltype(&cublasLtMatmulDescDestroy)>::value);
static_assert(CalledAlike<cublaslt::MatmulDescSetAttribute, decltype(&cublasLtMatmulDescSetAttribute)>::value);
static_assert(CalledAlike<cublaslt::MatrixLayoutCreate, decltype(&cublasLtMatrixLayoutCreate)>::value);
static_assert(CalledAlike<cublaslt::MatrixLayoutDestroy, decltype(&cublasLtMatrixLayoutDestroy)>::value);
static_assert(CalledAlike<cublaslt::MatrixLayoutSetAttribute, decltype(&cublasLtMatrixLayoutSetAttribute)>::value);
static_assert(CalledAlike<cublaslt::MatmulPreferenceCreate, decltype(&cublasLtMatmulPreferenceCreate)>::value);
static_assert(CalledAlike<cublaslt::MatmulPreferenceDestroy, decltype(&cublasLtMatmulPreferenceDestroy)>::value);
static_assert(
    CalledAlike<cublaslt::MatmulPreferenceSetAttribute, decltype(&cublasLtMatmulPreferenceSetAttribute)>::value);
static_assert(CalledAlike<cublaslt::MatmulAlgoGetHeuristic, decltype(&cublasLtMatmulAlgoGetHeuristic)>::value);
static_assert(CalledAlike<cublaslt::Matmul, decltype(&cublasLtMatmul)>::value);

}  // namespace

TEST_CASE("the declared interface of cuBLASLt is the toolkit's") { SUCCEED("compared at compile time"); }

#else

TEST_CASE("the declared interface of cuBLASLt is the toolkit's") { SKIP_TEST("there is no cublasLt.h here"); }

#endif
