#pragma once

#include "jitgemm/gemm_kernel.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace jitgemm::c_api {

/// Answers jg_kernel_query. Throws InvalidArgument for an unknown word, and if the buffer is too small.
void query(const GemmKernel& kernel, std::string_view what, void* buffer, std::size_t& size);

/// Copies an answer as jg_kernel_query does, and sets `size`. Throws InvalidArgument where the buffer is too small.
void write_answer(const std::string& answer, std::string_view what, void* buffer, std::size_t& size);

}  // namespace jitgemm::c_api
