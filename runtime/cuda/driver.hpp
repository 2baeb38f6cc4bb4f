#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

class DynamicLibrary;

/// Entry points of libcuda, found by dlopen. One instance per process.
///
/// cuda.h maps many of these names to versioned ones by macro (cuMemAlloc → cuMemAlloc_v2). The lists below go through
/// the same macros, so the member, its type and the symbol looked up all carry the version this build's cuda.h
/// declares, and `driver().cuMemAlloc(...)` means the right one.
struct DriverApi {
// clang-format off
#define JITGEMM_DRIVER_FUNCTIONS(X)                                                                                    \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)                                              \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem)                  \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxGetState)                             \
    X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxGetDevice) X(cuCtxSynchronize) \
    X(cuMemAlloc) X(cuMemFree) X(cuMemGetInfo) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuMemsetD8Async)        \
    X(cuMemcpyDtoDAsync) X(cuMemcpy2D)                                                                                 \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuFuncGetAttribute)           \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuOccupancyMaxActiveClusters)                                     \
    X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuTensorMapEncodeTiled)                                                    \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuStreamGetId)                  \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing) X(cuThreadExchangeStreamCaptureMode)          \
    X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)                            \
    X(cuUserObjectCreate) X(cuUserObjectRelease) X(cuGraphRetainUserObject)                                            \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime)
// clang-format on
/// Younger than the oldest driver supported: null where the driver lacks them.
#define JITGEMM_DRIVER_OPTIONAL_FUNCTIONS(X) X(cuFuncLoad) X(cuFuncGetParamInfo) X(cuStreamGetCaptureInfo)

#define JITGEMM_DECLARE(name) decltype(&::name) name = nullptr;
    JITGEMM_DRIVER_FUNCTIONS(JITGEMM_DECLARE)
    JITGEMM_DRIVER_OPTIONAL_FUNCTIONS(JITGEMM_DECLARE)
#undef JITGEMM_DECLARE

    int version = 0;  ///< cuDriverGetVersion as 10 · major + minor, 130 = 13.0
    std::string path;
    std::shared_ptr<const DynamicLibrary> libcuda;
};

/// The driver, loaded and initialised once. Throws CudaError saying what was looked for where, or what cuInit answered.
[[nodiscard]] const DriverApi& driver();
/// The same without the throw: null and the reason.
[[nodiscard]] const DriverApi* try_driver(std::string& reason);

/// The driver where cuInit's only complaint is that it sees no GPU: version and path alone are of use. Null otherwise.
[[nodiscard]] const DriverApi* driver_without_gpus();
/// Why a driver sees no GPU, with the value of the variable that hides them.
[[nodiscard]] std::string no_gpu_reason();

/// DriverApi::version; 0 without a driver.
[[nodiscard]] int driver_version();

/// GPUs the driver sees; 0, and why, where there is none.
[[nodiscard]] int gpu_count(std::string& reason);

/// Where driver() looks, in order; the first is a soname for the system's own search.
[[nodiscard]] std::vector<std::string> driver_search_list();
/// Loads and initialises the first candidate that is a driver; the toolkit's stub library is none. Throws as driver()
/// does.
[[nodiscard]] DriverApi load_driver(const std::vector<std::string>& candidates);

/// Throws CudaError naming result and call unless `result` is CUDA_SUCCESS.
void check(CUresult result, const char* call);
/// The CudaError check() throws, with `detail` (may be empty) after the driver's own words.
[[noreturn]] void throw_cuda_error(CUresult result, const char* call, const std::string& detail);
#define JITGEMM_CHECK(expression) ::jitgemm::check(expression, #expression)

}  // namespace jitgemm
