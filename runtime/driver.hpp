#pragma once

#include <cuda.h>

#include <string>
#include <vector>

namespace jitgemm {

/// Entry points of libcuda, found by dlopen. One instance a process.
struct DriverApi {
#define JITGEMM_DRIVER_FUNCTIONS(X)                                                                                     \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)                                               \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem)                   \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease)                                                            \
    X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxGetDevice) X(cuCtxSynchronize)  \
    X(cuMemAlloc) X(cuMemFree) X(cuMemGetInfo) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuMemsetD8Async)         \
    X(cuMemcpyDtoDAsync)                                                                                                \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuFuncGetAttribute)            \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                                      \
    X(cuLaunchKernel) X(cuLaunchKernelEx)                                                                               \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamWaitEvent)                                    \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing)                                                \
    X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)                             \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime)
#define JITGEMM_DECLARE(name) decltype(&::name) name = nullptr;
    JITGEMM_DRIVER_FUNCTIONS(JITGEMM_DECLARE)
#undef JITGEMM_DECLARE

    int version = 0;            ///< cuDriverGetVersion as 10 · major + minor, 130 = 13.0
    std::string path;
};

/// The driver, loaded and initialised once. Throws CudaError saying what was looked for where, or what cuInit answered.
[[nodiscard]] const DriverApi& driver();
/// The same without the throw: null and the reason.
[[nodiscard]] const DriverApi* try_driver(std::string& reason);

/// Throws CudaError naming result and call unless `result` is CUDA_SUCCESS.
void check(CUresult result, const char* call);
#define JITGEMM_CHECK(expression) ::jitgemm::check(expression, #expression)

}  // namespace jitgemm
