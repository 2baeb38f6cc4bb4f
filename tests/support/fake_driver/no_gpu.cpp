#include "runtime/cuda/driver.hpp"

#include <cstdint>
#include <cstring>

/// \file A libcuda.so.1 that sees no GPU: what every machine's driver says where CUDA_VISIBLE_DEVICES hides them all.

namespace {

constexpr int kVersion = 13000;

/// The answer of one of the driver's functions. Results are written to `second` or to `first`.
CUresult answer(const char* function, std::uintptr_t first, void* second) {
    const auto is = [&](const char* name) { return std::strcmp(function, name) == 0; };
    if (is("cuDriverGetVersion")) *reinterpret_cast<int*>(first) = kVersion;
    if (is("cuGetErrorName")) *static_cast<const char**>(second) = "CUDA_ERROR_NO_DEVICE";
    if (is("cuGetErrorString")) *static_cast<const char**>(second) = "no CUDA-capable device is detected";
    const bool fine = is("cuDriverGetVersion") || is("cuGetErrorName") || is("cuGetErrorString");
    return fine ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

}  // namespace

// Under the names that drivers export. Each takes two arguments, whatever cuda.h declares.
#define JITGEMM_TEXT_OF(name) #name
#define JITGEMM_FAKE(name)                                                                              \
    extern "C" CUresult fake_##name(std::uintptr_t first, void* second) __asm__(JITGEMM_TEXT_OF(name)); \
    CUresult fake_##name(std::uintptr_t first, void* second) { return answer(JITGEMM_TEXT_OF(name), first, second); }
JITGEMM_DRIVER_FUNCTIONS(JITGEMM_FAKE)
