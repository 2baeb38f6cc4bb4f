#pragma once

#if __cplusplus < 202002L
#error "jitgemm needs C++20: compile with -std=c++20, or link to the target jitgemm::jitgemm, which asks for it"
#else  // to the end of the file: one message in place of a hundred

/// \file The public interface of jitgemm. Includes no CUDA header; links neither libcuda nor libnvrtc.
///
///     jitgemm::Context context;                                  // current device, default cache
///     jitgemm::GemmSpec spec{.m = 8192, .n = 8192, .k = 4096};   // bf16, tn, f32 accumulator
///     jitgemm::GemmKernel kernel = context.kernel(spec);
///     kernel.launch({.a = a, .b = b, .d = d}, stream);           // device pointers, CUstream or cudaStream_t

#include "jitgemm/context.hpp"
#include "jitgemm/device_buffer.hpp"
#include "jitgemm/epilogue.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/gemm_kernel_set.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/prepared_operand.hpp"
#include "jitgemm/version.hpp"

#endif  // C++20
